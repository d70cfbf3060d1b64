/**
 * Deletes accounts: the small steps that delete an account's remaining rows or assign
 * them to `DELETED_USER`.
 *
 * The tables' rules (`people`) cover columns that only need a delete or an update. Four kinds of rows need more: audit
 * entries and skipped commits name people in text, views merge with others of the deleted user, and activity is added to the deleted user's with
 * its rollups. These have their own statements below.
 */

import { countNames, perCount } from '../../../../schemas/counts.js'
import type { Db } from '../../../platform/database/client.js'
import { limitedDelete, limitedUpdate } from '../../../platform/database/limited-delete.js'
import {
  date,
  integer,
  orNull,
  type Statement,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { DELETED_USER, type Erasure, endErasure } from '../../accounts/index.js'
import { clearSkippedCommits } from '../../counts/index.js'
import { reassignViews } from '../../dashboard/index.js'
import {
  countParameters,
  countsOf,
  eachCount,
  hasActivity,
  lockMinutes,
  markDays,
  registerPeople,
} from '../../minutes/index.js'
import { deletePrevious } from '../../previous/index.js'
import type { WorkspaceDay } from '../../rollups/index.js'
import { peopleColumns } from '../../tables.js'
import { anonymizeAuditEntries } from '../../workspaces/index.js'

/** The tables' rules as SQL. $1: the user; $2: how many rows. */
const STEPS: Statement<unknown>[] = peopleColumns().flatMap(
  ({ erasure, table, tableName, column }): Statement<unknown>[] => {
    const ofUser = `${column} = $1::uuid`
    if (erasure === 'delete') return [limitedDelete(`erase ${tableName}.${column}`, table, ofUser, '$2')]
    if (erasure === 'anonymize') {
      const anonymize = `${column} = '${DELETED_USER}'`
      return [limitedUpdate(`anonymize ${tableName}.${column}`, table, anonymize, ofUser, '$2')]
    }
    return []
  },
)

const FIND_WORKSPACE = statement(
  'find workspace with own activity',
  { workspaceId: uuid },
  `select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid limit 1`,
)

/** $1: the workspace; $2: the user. */
const FIND_FIRST_MONTH = statement(
  'find first month with activity',
  { month: orNull(date) },
  `
  select date_trunc('month', min(day))::date as month from daily_activity
  where workspace_id = $1::uuid and user_id = $2::uuid`,
)

/** SQL: the rows of $2 in the workspace $1 in the month $3. */
const IN_MONTH = `workspace_id = $1::uuid and user_id = $2::uuid
    and day >= $3::date and day < $3::date + interval '1 month'`

/** $4: how many rows precede the step's last one. */
const FIND_END = statement(
  'find erasure step end',
  { day: date, repoKey: text },
  `
  select day, repo_key as "repoKey" from daily_activity where ${IN_MONTH}
  order by day, repo_key offset $4::int limit 1`,
)

/** SQL: up to the row $4, $5, or to the end of the month if they are null. */
const UP_TO_END = `<= (coalesce($4::date, 'infinity'), coalesce($5::text, ''))`

/**
 * $4, $5: the last row, or nulls. Reopening an issue lowers the deleted user's count, unless an upload had decided the
 * person's count.
 */
const CLAIM_ISSUES = statement(
  'claim reported issues',
  {},
  `
  update reported_issues i set user_id = case when a.closed_issues_uploaded = false then '${DELETED_USER}'::uuid end
  from daily_activity a
  where i.workspace_id = $1::uuid and i.user_id = $2::uuid
    and a.workspace_id = $1::uuid and a.user_id = $2::uuid and a.day = i.day
    and a.repo_key = coalesce(i.counted_in, i.repo_key)
    and a.day >= $3::date and a.day < $3::date + interval '1 month' and (a.day, a.repo_key) ${UP_TO_END}`,
)

const CLEAR_CLOSER = statement(
  'clear issue closers',
  {},
  'update reported_issues set user_id = null where workspace_id = $1::uuid and user_id = $2::uuid',
)

/** $4, $5: the last row, or nulls. */
const CLAIM_ACTIVITY = statement(
  'claim own activity',
  { day: date, repoKey: text, minutes: integer, ...perCount(() => integer) },
  `
  delete from daily_activity
  where ${IN_MONTH} and (day, repo_key) ${UP_TO_END}
  returning day, repo_key as "repoKey", minutes, ${countsOf()}`,
)

/** $1: the workspace; per row: $2 day, $3 repository, $4 minutes, $5 on: counts. */
const REASSIGN_ACTIVITY = statement(
  'reassign activity to deleted user',
  {},
  `
  insert into daily_activity as a (workspace_id, user_id, day, repo_key, minutes, ${countsOf()})
  select $1::uuid, '${DELETED_USER}'::uuid, r.day, r.repo_key, r.minutes, ${countsOf('r')}
  from unnest($2::date[], $3::text[], $4::int[], ${countParameters(5, 'int[]')}) as r (day, repo_key, minutes, ${countsOf()})
  where ${hasActivity('r')}
  on conflict (workspace_id, user_id, day, repo_key) do update set minutes = a.minutes + excluded.minutes,
    ${eachCount((count) => `${count} = a.${count} + excluded.${count}`)}`,
)

const DELETE_PERSON = statement(
  'delete person with activity',
  {},
  'delete from activity_people where workspace_id = $1::uuid and user_id = $2::uuid',
)

/**
 * Assigns activity of one month in one workspace to the deleted user. @returns the days that changed; undefined without activity
 */
const reassignActivity = async (
  tx: Db,
  userId: string,
  rows: number,
): Promise<WorkspaceDay[] | undefined> => {
  const [person] = await tx.rows(FIND_WORKSPACE, [userId])
  if (!person) return undefined
  const { workspaceId } = person
  // Waits for a running flush.
  await lockMinutes(tx, [userId], { waits: true })
  const [first] = await tx.rows(FIND_FIRST_MONTH, [workspaceId, userId])
  if (!first?.month) {
    if (await deletePrevious(tx, workspaceId, userId, rows)) return []
    await tx.rows(CLEAR_CLOSER, [workspaceId, userId])
    await tx.rows(DELETE_PERSON, [workspaceId, userId])
    return []
  }
  const here = [workspaceId, userId, first.month]
  const [end] = await tx.rows(FIND_END, [...here, rows - 1])
  const last = [end?.day ?? null, end?.repoKey ?? null]
  // Issues come first, as in deliveries, which would otherwise wait for each other.
  await tx.rows(CLAIM_ISSUES, [...here, ...last])
  const taken = await tx.rows(CLAIM_ACTIVITY, [...here, ...last])
  await registerPeople(tx, workspaceId, [DELETED_USER])
  await tx.rows(REASSIGN_ACTIVITY, [
    workspaceId,
    taken.map(({ day }) => day),
    taken.map(({ repoKey }) => repoKey),
    taken.map(({ minutes }) => minutes),
    ...countNames.map((count) => taken.map((row) => row[count])),
  ])
  const days = [...new Set(taken.map(({ day }) => day))]
  await markDays(tx, workspaceId, days)
  return days.map((day) => ({ workspaceId, day }))
}

/**
 * One step of erasing an account, of at most `rows` rows. The caller must hold the rollup lock.
 * @returns the days whose rollups have to be made again; undefined if there was nothing to do
 */
export const eraseBatch = async (
  tx: Db,
  { userId, loginKey }: Erasure,
  rows: number,
): Promise<WorkspaceDay[] | undefined> => {
  if ((await anonymizeAuditEntries(tx, userId, loginKey, rows)) > 0) return []
  if ((await clearSkippedCommits(tx, loginKey, rows)) > 0) return []
  for (const step of STEPS) if ((await tx.rows(step, [userId, rows])).length > 0) return []
  if (await reassignViews(tx, userId)) return []
  const changed = await reassignActivity(tx, userId, rows)
  if (changed) return changed
  await endErasure(tx, userId)
  return undefined
}
