import type { Db } from '../../../platform/database/client.js'
import { statement, text } from '../../../platform/database/statement.js'

/**
 * Each instance records its key every minute, so older ones belong to instances that have stopped. Those from the
 * future were recorded before the clock was set back.
 */
export const LIST_SIGNING_KEYS = statement(
  'list signing keys',
  { key_id: text },
  `select key_id from signing_keys where used_at between now() - interval '5 minutes' and now()`,
)

const RECORD_SIGNING_KEY = statement(
  'record signing key',
  {},
  'insert into signing_keys (key_id) values ($1) on conflict (key_id) do update set used_at = excluded.used_at',
)

export const listSigningKeys = async (db: Db): Promise<string[]> =>
  (await db.rows(LIST_SIGNING_KEYS, [])).map(({ key_id }) => key_id)

export const recordSigningKey = async (db: Db, keyId: string): Promise<void> => {
  await db.rows(RECORD_SIGNING_KEY, [keyId])
}
