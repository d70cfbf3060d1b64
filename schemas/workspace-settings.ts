import { type Static, Type } from '@sinclair/typebox'
import {
  GivenReason,
  LockedKeys,
  Login,
  MergedKeys,
  Named,
  Nullable,
  PrivacyLevel,
  privacy,
  Reason,
  Resource,
  Settings,
  SettingsPatch,
  settingsKey,
  Timestamp,
  Warnings,
  WorkspaceParams,
} from './common.js'
import { limits } from './limits.js'
import { SettingsSize, Version } from './settings.js'

export const IdleWindow = Type.Integer({
  minimum: limits.idle_window_minutes_min,
  maximum: limits.idle_window_minutes_max,
  examples: [5],
})

const about = {
  version: Type.Integer({
    minimum: 1,
    description: 'Every change raises it by one.',
    examples: [3],
  }),
  updated_at: Timestamp,
}

export const WorkspaceSettings = Resource('WorkspaceSettings', {
  idle_window_minutes: IdleWindow,
  settings: Settings,
  locked: LockedKeys,
  merged: MergedKeys,
  ...privacy,
  ...about,
  warnings: Warnings,
})
export type WorkspaceSettings = Static<typeof WorkspaceSettings>

export const LockedKeysInput = Type.Array(Type.String(settingsKey), {
  uniqueItems: true,
  description:
    'Replaces the list of locked keys. Each must be a key of the settings after the change. A change that removes a key from the settings also removes its lock.',
  examples: [['ext.theme']],
})

export const MergedKeysInput = Type.Array(Type.String(settingsKey), {
  uniqueItems: true,
  description:
    'Replaces the list of merged keys. Each must be a key of the settings after the change, and neither locked nor a language block. A change that removes a key from the settings also ends its merge.',
  examples: [[]],
})

export const WorkspaceSettingsPatch = Named('WorkspaceSettingsPatch', {
  idle_window_minutes: Type.Optional(IdleWindow),
  activity_privacy: Type.Optional(PrivacyLevel),
  settings: Type.Optional(SettingsPatch),
  locked: Type.Optional(LockedKeysInput),
  merged: Type.Optional(MergedKeysInput),
  reason: Reason,
})
export type WorkspaceSettingsPatch = Static<typeof WorkspaceSettingsPatch>

const Author = Nullable({
  ...Login,
  description: 'Null: the change was made before the service recorded who changes these settings.',
})

export const WorkspaceSettingsVersion = Resource(
  'WorkspaceSettingsVersion',
  {
    idle_window_minutes: IdleWindow,
    settings: Settings,
    locked: LockedKeys,
    merged: MergedKeys,
    version: about.version,
    size_bytes: SettingsSize,
    updated_at: Timestamp,
    updated_by: Author,
  },
  {
    description:
      'A version has no privacy level, so restoring one never changes who sees a person’s numbers.',
  },
)

/** Longer values are left out of lists. */
export const LISTED_VALUE_BYTES = 16_384

const SettingAtVersion = Named('SettingAtVersion', {
  is_set: Type.Boolean({ description: 'Whether the settings have the key.', examples: [true] }),
  value: Type.Optional(
    Type.Unknown({
      description: `Left out if the key isn’t set, or if the value’s JSON text has more than ${LISTED_VALUE_BYTES} bytes.`,
      examples: ['dark'],
    }),
  ),
  locked: Type.Boolean({ examples: [false] }),
  merged: Type.Boolean({ examples: [false] }),
})

export const WorkspaceSettingsVersionListQuery = Type.Object({
  key: Type.Optional(
    Type.String({
      maxLength: limits.settings_key_length,
      description: 'Lists the history of this key alone, with its values.',
      examples: ['ext.theme'],
    }),
  ),
})

export const WorkspaceSettingsVersionList = Named('WorkspaceSettingsVersionList', {
  versions: Type.Array(
    Named('WorkspaceSettingsVersionHead', {
      version: about.version,
      size_bytes: SettingsSize,
      created_at: Timestamp,
      created_by: Author,
      reason: GivenReason,
      /** Only with `key`. */
      setting: Type.Optional(SettingAtVersion),
    }),
    {
      description: `The last ${limits.settings_versions_kept} versions, newest first, including the current one. With \`key\`, only those that changed the key, and the oldest.`,
    },
  ),
})
export type WorkspaceSettingsVersionList = Static<typeof WorkspaceSettingsVersionList>

export const WorkspaceVersionParams = Type.Object({ ...WorkspaceParams.properties, version: Version })
