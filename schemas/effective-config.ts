import { type Static, Type } from '@sinclair/typebox'
import {
  LockedKeys,
  MergedKeys,
  RepoPath,
  Resource,
  Settings,
  StringEnum,
  Uuid,
  Warnings,
  WorkspaceChoice,
} from './common.js'

export const EffectiveConfigQuery = Type.Object({ repo: RepoPath, workspace: WorkspaceChoice })

const Source = StringEnum(['workspace', 'project', 'locked', 'merged'])
export type Source = Static<typeof Source>

export const EffectiveConfig = Resource('EffectiveConfig', {
  repo: RepoPath,
  workspace_id: Uuid,
  matched_pattern: Type.String({ examples: ['acme/*'] }),
  idle_window_minutes: Type.Integer({ examples: [5] }),
  settings: Settings,
  sources: Type.Unsafe<Record<string, Source>>({
    type: 'object',
    additionalProperties: Source,
    description:
      'Where the value of each key in `settings` comes from. `locked`: from the workspace, and no override changes it. `merged`: combined from the workspace’s and the override’s list or object.',
    examples: [{ 'ext.theme': 'workspace', 'ext.fontSize': 'project' }],
  }),
  locked: { ...LockedKeys, description: "The workspace's locked keys. All of them are in `settings`." },
  merged: { ...MergedKeys, description: "The workspace's merged keys that are in `settings`." },
  also_matched: Type.Array(Uuid, { description: "The caller's other matching workspaces, best first." }),
  warnings: Warnings,
})
export type EffectiveConfig = Static<typeof EffectiveConfig>
