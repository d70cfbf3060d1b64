import type { RepohostKind } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { singleRow, statement, text } from '../../../platform/database/statement.js'
import { repositoryHost } from '../tables.js'

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

export interface RecordedHost {
  kind: RepohostKind
  url: string
}

const ONLY = 1

const selectHosts = (db: Db): Promise<RecordedHost[]> =>
  db.select({ kind: repositoryHost.kind, url: repositoryHost.url }).from(repositoryHost)

/** The recorded host, or this one if none was recorded. */
export const recordHost = async (db: Db, host: RecordedHost): Promise<RecordedHost> => {
  await db
    .insert(repositoryHost)
    .values({ id: ONLY, ...host })
    .onConflictDoNothing()
  return singleRow(await selectHosts(db))
}

/** The recorded host. Undefined if there is none. */
export const readHost = async (db: Db): Promise<RecordedHost | undefined> => (await selectHosts(db))[0]

export const replaceHost = async (db: Db, host: RecordedHost): Promise<void> => {
  await db.update(repositoryHost).set(host)
}
