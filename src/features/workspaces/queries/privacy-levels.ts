/** The privacy levels of workspaces, and their history. */
import { eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { PrivacyLevel } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { statement, uuid } from '../../../platform/database/statement.js'
import type { WorkspacePrivacy } from '../../privacy/index.js'
import { privacyLevelsOfWorkspaces, workspaces } from '../tables.js'

const privacyColumns = {
  level: workspaces.activityPrivacy,
  teamUntil: sql<string | null>`case when ${workspaces.activityPrivacy} = 'named' and exists (
    select from ${privacyLevelsOfWorkspaces} as "past" where "past"."workspace_id" = ${workspaces}."id" and "past"."level" = 'team'
  ) then (${workspaces.activityPrivacySince} at time zone 'UTC')::date::text end`,
}

/** What its readers know about a workspace. Undefined for a deleted one. */
export const readWorkspaceSummary = async (
  db: Db,
  workspaceId: string,
): Promise<{ name: string; idle_window_minutes: number; privacy: WorkspacePrivacy } | undefined> => {
  const [row] = await db
    .select({
      name: workspaces.name,
      idle_window_minutes: workspaces.idleWindowMinutes,
      privacy: privacyColumns,
    })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  return row
}

/** Records the level of a new or locked workspace. */
export const insertPrivacyLevel = async (
  tx: Db,
  workspaceId: string,
  level: PrivacyLevel,
  since: string,
): Promise<void> => {
  await tx.insert(privacyLevelsOfWorkspaces).values({ workspaceId, id: uuidv7(), since, level })
}

const RAISE = statement(
  'raise workspace privacy levels',
  { id: uuid },
  `
  update workspaces set activity_privacy = 'team', activity_privacy_since = statement_timestamp(),
    settings_version = settings_version + 1, settings_updated_at = now()
  where activity_privacy = 'named'
    and id in (select id from workspaces where activity_privacy = 'named' and deleted_at is null order by id limit $1::int)
  returning id`,
)

const RECORD_RAISE = statement(
  'record raised privacy levels',
  {},
  `
  insert into privacy_levels (workspace_id, id, since, level)
  select id, gen_random_uuid(), activity_privacy_since, activity_privacy from workspaces where id = any($1::uuid[])`,
)

/** Raises the level of at most `limit` workspaces. @returns their ids */
export const raisePrivacy = async (tx: Db, limit: number): Promise<string[]> => {
  const raised = (await tx.rows(RAISE, [limit])).map(({ id }) => id)
  await tx.rows(RECORD_RAISE, [raised])
  return raised
}
