/** A workspace's own settings: the settings object, its locks and merges, the idle window and the privacy level, with one version for all. */
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
const storedColumns = { ...foundColumns, settings: text }

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

/** SQL: all columns but the settings. */
const COLUMNS = `idle_window_minutes as "idleWindowMinutes", activity_privacy as "activityPrivacy",
    activity_privacy_since as "activityPrivacySince", settings_version as version, settings_updated_at as "updatedAt",
    locked, merged`

/** The large text leaves the table only when the caller's `If-None-Match` ($2) doesn't name the current version. */
const READ_SETTINGS = statement(
  'read workspace settings',
  foundColumns,
  `
  select ${COLUMNS},
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

const READ_LOCKED = statement(
  'read locked keys',
  { locked: text },
  'select locked from workspaces where id = $1::uuid',
)

/** The locked keys as JSON text. */
export const readLocked = async (tx: Db, workspaceId: string): Promise<string> =>
  singleRow(await tx.rows(READ_LOCKED, [workspaceId])).locked

const READ_SETTINGS_TO_CHANGE = statement(
  'read workspace settings to change',
  storedColumns,
  `select ${COLUMNS}, settings from workspaces where id = $1::uuid`,
)

/** Reads the settings of a locked workspace, so that the next write builds on this read. */
export const readSettingsToChange = async (tx: Db, workspaceId: string): Promise<StoredWorkspaceSettings> =>
  fromRow(singleRow(await tx.rows(READ_SETTINGS_TO_CHANGE, [workspaceId])))

interface SettingsChange {
  idleWindowMinutes: number
  settings: string
  locked: string
  merged: string
  /** Undefined: the level and its start stay as they are. */
  activityPrivacy?: PrivacyLevel | undefined
}

/**
 * $1: the workspace; $2 to $5: idle window, settings, locked and merged keys; $6: the level, or null. Its start is the
 * statement's time, not the transaction's, so that the last day of the old level isn't missed.
 */
const UPDATE_SETTINGS = statement(
  'update workspace settings',
  storedColumns,
  `
  update workspaces set idle_window_minutes = $2::int, settings = $3::text, locked = $4::text, merged = $5::text,
    settings_version = settings_version + 1, settings_updated_at = now(),
    activity_privacy = coalesce($6::text, activity_privacy),
    activity_privacy_since = case when $6::text is null then activity_privacy_since else statement_timestamp() end
  where id = $1::uuid
  returning ${COLUMNS}, settings`,
)

/** Writes the next version. */
export const updateWorkspaceSettings = async (
  tx: Db,
  workspaceId: string,
  { idleWindowMinutes, settings, locked, merged, activityPrivacy }: SettingsChange,
): Promise<StoredWorkspaceSettings> => {
  const parameters = [workspaceId, idleWindowMinutes, settings, locked, merged, activityPrivacy ?? null]
  return fromRow(singleRow(await tx.rows(UPDATE_SETTINGS, parameters)))
}

const INSERT_LEVEL = statement(
  'record changed privacy level',
  {},
  `
  insert into privacy_levels (workspace_id, id, since, level)
  select id, gen_random_uuid(), activity_privacy_since, activity_privacy from workspaces where id = $1::uuid`,
)

/** Adds the level that was just written to the history of levels. */
export const recordPrivacyLevel = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(INSERT_LEVEL, [workspaceId])
}
