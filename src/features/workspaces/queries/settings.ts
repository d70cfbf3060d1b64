/** A workspace's own settings: the idle window, the privacy level and the settings object, with one version for all. */
import { eq, sql } from 'drizzle-orm'
import type { PrivacyLevel } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { etagSql, isWanted } from '../../../platform/database/etag.js'
import { integer, moment, orNull, statement, text, textOf } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/timestamps.js'
import { workspaces } from '../tables.js'

export interface StoredWorkspaceSettings {
  idleWindowMinutes: number
  activityPrivacy: PrivacyLevel
  activityPrivacySince: string
  /** JSON text, as stored. */
  settings: string
  version: number
  updatedAt: string
}

/** `settings` is null when the caller has this version already. */
export type FoundWorkspaceSettings = Omit<StoredWorkspaceSettings, 'settings'> & { settings: string | null }

const withTimes = <Row extends { updatedAt: string; activityPrivacySince: string }>(row: Row): Row => ({
  ...withUpdatedAt(row),
  activityPrivacySince: toTimestamp(row.activityPrivacySince),
})

/** The large text leaves the table only when the caller's `If-None-Match` ($2) does not name the current version. */
const READ_SETTINGS = statement(
  'read the settings of a workspace',
  {
    idleWindowMinutes: integer,
    activityPrivacy: textOf<PrivacyLevel>(),
    activityPrivacySince: moment,
    version: integer,
    updatedAt: moment,
    settings: orNull(text),
  },
  `
  select idle_window_minutes as "idleWindowMinutes", activity_privacy as "activityPrivacy",
    activity_privacy_since as "activityPrivacySince", settings_version as version, settings_updated_at as "updatedAt",
    case when ${isWanted(etagSql('id', 'settings_version'), '$2::text')} then settings end as settings
  from workspaces where id = $1::uuid and deleted_at is null`,
)

export const readWorkspaceSettings = async (
  db: Db,
  workspaceId: string,
  ifNoneMatch: string | undefined,
): Promise<FoundWorkspaceSettings | undefined> => {
  const [row] = await db.rows(READ_SETTINGS, [workspaceId, ifNoneMatch?.trim() ?? ''])
  return row && withTimes(row)
}

const columns = {
  idleWindowMinutes: workspaces.idleWindowMinutes,
  activityPrivacy: workspaces.activityPrivacy,
  activityPrivacySince: workspaces.activityPrivacySince,
  settings: workspaces.settings,
  version: workspaces.settingsVersion,
  updatedAt: workspaces.settingsUpdatedAt,
}

/** Of a locked workspace, so that what is written next builds on what was read. */
export const readSettingsToChange = async (tx: Db, workspaceId: string): Promise<StoredWorkspaceSettings> => {
  const rows = await tx.select(columns).from(workspaces).where(eq(workspaces.id, workspaceId))
  return withTimes(theRow(rows))
}

interface SettingsChange {
  idleWindowMinutes: number
  settings: string
  /** Undefined: it stays as it is, and so does the moment from which it holds. */
  activityPrivacy?: PrivacyLevel | undefined
}

/** Makes the next version. */
export const updateWorkspaceSettings = async (
  tx: Db,
  workspaceId: string,
  { idleWindowMinutes, settings, activityPrivacy }: SettingsChange,
): Promise<StoredWorkspaceSettings> => {
  const rows = await tx
    .update(workspaces)
    .set({
      idleWindowMinutes,
      settings,
      settingsVersion: sql`${workspaces.settingsVersion} + 1`,
      settingsUpdatedAt: sql`now()`,
      // Of this moment and not of the transaction's begin, so that no day on which the old level was in force is missed.
      ...(activityPrivacy && { activityPrivacy, activityPrivacySince: sql`statement_timestamp()` }),
    })
    .where(eq(workspaces.id, workspaceId))
    .returning(columns)
  return withTimes(theRow(rows))
}
