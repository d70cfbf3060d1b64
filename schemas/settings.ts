import { type Static, Type } from '@sinclair/typebox'
import {
  ConditionalWriteHeaders,
  ConditionalWriteQuery,
  GivenReason,
  Login,
  Named,
  Owner,
  Reason,
  Repo,
  RepohostToken,
  RepoParams,
  Resource,
  Settings,
  SettingsInput,
  Timestamp,
  Uuid,
  Warnings,
  WorkspaceChoice,
} from './common.js'
import { limits } from './limits.js'

export const SettingsQuery = Type.Object({ workspace: WorkspaceChoice })
export const PushQuery = Type.Object({ workspace: WorkspaceChoice, ...ConditionalWriteQuery })

export const SettingsSize = Type.Integer({
  description: 'UTF-8 bytes of the JSON text of `settings`.',
  examples: [42],
})

const about = {
  owner: Owner,
  repo: Repo,
  workspace_id: Uuid,
  version: Type.Integer({ minimum: 1, examples: [3] }),
  size_bytes: SettingsSize,
  updated_at: Timestamp,
  updated_by: Login,
}

export const Snapshot = Resource('Snapshot', { ...about, settings: Settings })
export type Snapshot = Static<typeof Snapshot>

export const PushBody = Named('PushBody', { settings: SettingsInput })
export type PushBody = Static<typeof PushBody>

export const PushHeaders = Type.Object({
  'x-repohost-token': RepohostToken,
  ...ConditionalWriteHeaders.properties,
})

export const PushResult = Resource('PushResult', {
  ...about,
  changed: Type.Boolean({
    description: 'False: the content was the same, so nothing changed.',
    examples: [true],
  }),
  workspace_created: Type.Boolean({
    description: 'Whether this push created the personal workspace.',
    examples: [false],
  }),
  warnings: Warnings,
})
export type PushResult = Static<typeof PushResult>

export const SnapshotVersionList = Named('SnapshotVersionList', {
  versions: Type.Array(
    Named('SnapshotVersion', {
      version: about.version,
      size_bytes: about.size_bytes,
      created_at: Timestamp,
      created_by: Login,
      reason: GivenReason,
    }),
    {
      description: `The last ${limits.settings_versions_kept} versions, newest first, including the current one.`,
    },
  ),
})
export type SnapshotVersionList = Static<typeof SnapshotVersionList>

export const Version = Type.Integer({ minimum: 1, examples: [2] })
export const VersionParams = Type.Object({ ...RepoParams.properties, version: Version })
export const RestoreBody = Named('RestoreBody', { version: Version, reason: Reason })
export type RestoreBody = Static<typeof RestoreBody>
