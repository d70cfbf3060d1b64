/** A workspace's own settings: the settings object, its locks and merges, the idle window and the privacy level, with one version for all. */
import { eq, sql } from 'drizzle-orm'
import type { PrivacyLevel } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import {
  integer,
  moment,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  textOf,
} from '../../../platform/database/statement.js'
import { etagDiffers, etagSql } from '../../../platform/http/etag.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/clock.js'
import { workspaces } from '../../workspaces/index.js'
import { keptMerges } from '../settings-merge.js'

const foundColumns = {
  idleWindowMinutes: integer,
  activityPrivacy: textOf<PrivacyLevel>(),
  activityPrivacySince: moment,
  version: integer,
  updatedAt: moment,
  /** The locked keys as JSON text. */
  locked: text,
  /** The merged keys as JSON text. */
  merged: text,
  /** JSON text, as stored. Null if the caller already has this version. */
  settings: orNull(text),
}

export type FoundWorkspaceSettings = RowOf<typeof foundColumns>
export type StoredWorkspaceSettings = FoundWorkspaceSettings & { settings: string }

const fromRow = <Row extends FoundWorkspaceSettings>(row: Row): Row => ({
  ...withUpdatedAt(row),
  activityPrivacySince: toTimestamp(row.activityPrivacySince),
  merged: mergedIn(row),
})

const mergedIn = ({ settings, locked, merged }: FoundWorkspaceSettings): string =>
  merged === '[]' || settings === null
    ? merged
    : JSON.stringify(keptMerges(JSON.parse(merged), JSON.parse(settings), JSON.parse(locked)))

/** The large text leaves the table only when the caller's `If-None-Match` ($2) doesn't name the current version. */
const READ_SETTINGS = statement(
  'read workspace settings',
  foundColumns,
  `
  select idle_window_minutes as "idleWindowMinutes", activity_privacy as "activityPrivacy",
    activity_privacy_since as "activityPrivacySince", settings_version as version, settings_updated_at as "updatedAt",
    locked, merged,
    case when ${etagDiffers(etagSql('id', 'settings_version'), '$2::text')} then settings end as settings
  from workspaces where id = $1::uuid and deleted_at is null`,
)

export const readWorkspaceSettings = async (
  db: Db,
  workspaceId: string,
  ifNoneMatch: string | undefined,
): Promise<FoundWorkspaceSettings | undefined> => {
  const [row] = await db.rows(READ_SETTINGS, [workspaceId, ifNoneMatch?.trim() ?? ''])
  return row && fromRow(row)
}

/** The locked keys as JSON text. */
export const readLocked = async (tx: Db, workspaceId: string): Promise<string> => {
  const rows = await tx
    .select({ locked: workspaces.locked })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  return singleRow(rows).locked
}

const columns = {
  idleWindowMinutes: workspaces.idleWindowMinutes,
  activityPrivacy: workspaces.activityPrivacy,
  activityPrivacySince: workspaces.activityPrivacySince,
  settings: workspaces.settings,
  locked: workspaces.locked,
  merged: workspaces.merged,
  version: workspaces.settingsVersion,
  updatedAt: workspaces.settingsUpdatedAt,
}

/** Reads the settings of a locked workspace, so that the next write builds on this read. */
export const readSettingsToChange = async (tx: Db, workspaceId: string): Promise<StoredWorkspaceSettings> => {
  const rows = await tx.select(columns).from(workspaces).where(eq(workspaces.id, workspaceId))
  return fromRow(singleRow(rows))
}

interface SettingsChange {
  idleWindowMinutes: number
  settings: string
  locked: string
  merged: string
  /** Undefined: the level and its start stay as they are. */
  activityPrivacy?: PrivacyLevel | undefined
}

/** Writes the next version. */
export const updateWorkspaceSettings = async (
  tx: Db,
  workspaceId: string,
  { idleWindowMinutes, settings, locked, merged, activityPrivacy }: SettingsChange,
): Promise<StoredWorkspaceSettings> => {
  const rows = await tx
    .update(workspaces)
    .set({
      idleWindowMinutes,
      settings,
      locked,
      merged,
      settingsVersion: sql`${workspaces.settingsVersion} + 1`,
      settingsUpdatedAt: sql`now()`,
      // The statement's time, not the transaction's, so that the last day of the old level isn't missed.
      ...(activityPrivacy && { activityPrivacy, activityPrivacySince: sql`statement_timestamp()` }),
    })
    .where(eq(workspaces.id, workspaceId))
    .returning(columns)
  return fromRow(singleRow(rows))
}
