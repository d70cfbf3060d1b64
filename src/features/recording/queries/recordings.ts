/** People's recording preferences. Flushes read them in their own query (`flush-target.ts`). */
import type { Recording, RecordingHours } from '../../../../schemas/recording.js'
import { likesOf, parsePatterns } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, json, orNull, statement, texts, uuid } from '../../../platform/database/statement.js'

const READ_RECORDING = statement(
  'read recording preferences',
  { paused: bool, repos_off: texts, hours: orNull(json<RecordingHours>()) },
  `select paused, repos_off, hours from recordings where user_id = $1::uuid`,
)

const recordsAll: Recording = { paused: false, repos_off: [], hours: null }

export const readRecording = async (db: Db, userId: string): Promise<Recording> => {
  const [row] = await db.rows(READ_RECORDING, [userId])
  return row ?? recordsAll
}

const WRITE_RECORDING = statement(
  'update recording preferences',
  { id: uuid },
  `
  insert into recordings (user_id, paused, repos_off, repos_off_like, hours)
  select id, $2::boolean, $3::text[], $4::text[], $5::text::jsonb from users where id = $1::uuid
  on conflict (user_id) do update set paused = excluded.paused, repos_off = excluded.repos_off,
    repos_off_like = excluded.repos_off_like, hours = excluded.hours
  returning user_id as id`,
)

/** @returns whether the user is in the database */
export const writeRecording = async (
  db: Db,
  userId: string,
  { paused, repos_off, hours }: Recording,
): Promise<boolean> => {
  const likes = parsePatterns(repos_off).flatMap(likesOf)
  const hoursText = hours && JSON.stringify(hours)
  const rows = await db.rows(WRITE_RECORDING, [userId, paused, repos_off, likes, hoursText])
  return rows.length > 0
}
