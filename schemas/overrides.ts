import { type Static, Type } from '@sinclair/typebox'
import {
  Author,
  Named,
  NextCursor,
  Owner,
  Reason,
  Repo,
  RepoParams,
  Resource,
  ref,
  Settings,
  SettingsInput,
  Timestamp,
  Warnings,
  WorkspaceParams,
} from './common.js'
import { Version } from './settings.js'

export const Override = Resource('Override', {
  owner: Owner,
  repo: Repo,
  settings: Settings,
  version: Type.Integer({
    minimum: 1,
    description: 'Every change raises it by one. A new override starts at 1.',
    examples: [3],
  }),
  updated_at: Timestamp,
  updated_by: Author,
  warnings: Warnings,
})
export type Override = Static<typeof Override>

export const OverridePage = Named('OverridePage', {
  overrides: Type.Array(ref(Override)),
  next_cursor: NextCursor,
})

export const OverrideParams = Type.Object({ ...WorkspaceParams.properties, ...RepoParams.properties })

export const OverrideVersionParams = Type.Object({ ...OverrideParams.properties, version: Version })

export const OverrideBody = Named('OverrideBody', { settings: SettingsInput, reason: Reason })
export type OverrideBody = Static<typeof OverrideBody>
