import { type Static, Type } from '@sinclair/typebox'
import { Named, PrivacyLevel, privacy, Settings, SettingsPatch, Timestamp } from './common.js'
import { limits } from './limits.js'

const IdleWindow = Type.Integer({
  minimum: limits.idle_window_minutes_min,
  maximum: limits.idle_window_minutes_max,
  examples: [5],
})

export const WorkspaceSettings = Type.Object(
  {
    idle_window_minutes: IdleWindow,
    ...privacy,
    settings: Settings,
    version: Type.Integer({
      minimum: 1,
      description: 'Every change raises it by one.',
      examples: [3],
    }),
    updated_at: Timestamp,
  },
  { $id: 'WorkspaceSettings', additionalProperties: false },
)
export type WorkspaceSettings = Static<typeof WorkspaceSettings>

export const WorkspaceSettingsPatch = Named('WorkspaceSettingsPatch', {
  idle_window_minutes: Type.Optional(IdleWindow),
  activity_privacy: Type.Optional(PrivacyLevel),
  settings: Type.Optional(SettingsPatch),
})
export type WorkspaceSettingsPatch = Static<typeof WorkspaceSettingsPatch>
