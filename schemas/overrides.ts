import { type Static, Type } from '@sinclair/typebox'
import {
  Login,
  Named,
  NextCursor,
  Owner,
  Repo,
  RepoParams,
  ref,
  Settings,
  SettingsInput,
  Timestamp,
  WorkspaceParams,
} from './common.js'

export const Override = Type.Object(
  { owner: Owner, repo: Repo, settings: Settings, updated_at: Timestamp, updated_by: Login },
  { $id: 'Override', additionalProperties: false },
)
export type Override = Static<typeof Override>

export const OverridePage = Named('OverridePage', {
  overrides: Type.Array(ref(Override)),
  next_cursor: NextCursor,
})

export const OverrideParams = Type.Object({ ...WorkspaceParams.properties, ...RepoParams.properties })

export const OverrideBody = Named('OverrideBody', { settings: SettingsInput })
export type OverrideBody = Static<typeof OverrideBody>
