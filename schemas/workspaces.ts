import { type Static, Type } from '@sinclair/typebox'
import {
  Login,
  Named,
  Nullable,
  PrivacyLevel,
  privacy,
  Resource,
  Role,
  ref,
  StringEnum,
  Timestamp,
  Uuid,
} from './common.js'
import { limits } from './limits.js'

/** Trimmed after validation. Blank names are rejected. */
export const WorkspaceName = Type.String({
  minLength: 1,
  maxLength: limits.workspace_name_length,
  pattern: '\\S',
  examples: ['Acme'],
})

export const RepoPatterns = (maxItems: number, options: object = {}) =>
  Type.Array(
    Type.String({
      maxLength: limits.pattern_length,
      'x-max-stars': limits.pattern_stars,
      format: 'repo-pattern',
      description: `\`owner/*\`, \`owner/repo\`, or \`owner/\` followed by a repository name with at most ${limits.pattern_stars} \`*\`. At GitLab, where the owner is a path of groups, \`owner/**\` also matches the repositories of all subgroups.`,
      examples: ['acme/*'],
    }),
    { maxItems, 'x-unique-without-case': true, ...options },
  )

export const PatternList = RepoPatterns(limits.patterns_per_workspace, {
  title: 'PatternList',
  examples: [['acme/*']],
})

export const Workspace = Resource('Workspace', {
  id: Uuid,
  name: Type.String({ examples: ['Acme'] }),
  personal: Type.Boolean({ examples: [false] }),
  role: Role,
  idle_window_minutes: Type.Integer({ examples: [5] }),
  ...privacy,
  patterns: Type.Array(Type.String({ examples: ['acme/*'] })),
  member_count: Type.Integer({ examples: [12] }),
  organization: Nullable(Type.String(), {
    description: 'The repository-host organization that the membership follows. Null: none.',
    examples: ['acme'],
  }),
  joined_by: StringEnum(['created', 'invite', 'organization'], {
    description:
      'How you became a member. `organization`: because you belong to the organization that the workspace follows. In that case, your activity up to the day you joined doesn’t count in the workspace.',
    examples: ['created'],
  }),
  created_at: Timestamp,
})
export type Workspace = Static<typeof Workspace>

export const MyWorkspaces = Named('MyWorkspaces', {
  id: Uuid,
  login: Login,
  workspaces: Type.Array(ref(Workspace)),
})
export type MyWorkspaces = Static<typeof MyWorkspaces>

const WorkspaceReference = Named('WorkspaceReference', {
  id: Uuid,
  name: Type.String({ examples: ['Acme'] }),
})

export const WorkspaceNames = Named('WorkspaceNames', { workspaces: Type.Array(WorkspaceReference) })

export const CreateWorkspaceBody = Named('CreateWorkspaceBody', {
  name: WorkspaceName,
  patterns: Type.Optional(PatternList),
  activity_privacy: Type.Optional(PrivacyLevel),
})
export type CreateWorkspaceBody = Static<typeof CreateWorkspaceBody>

export const RenameBody = Named('RenameBody', { name: WorkspaceName })
export type RenameBody = Static<typeof RenameBody>

export const PatternsBody = Named('PatternsBody', { patterns: PatternList })

export const Patterns = Named('Patterns', { patterns: Type.Array(Type.String({ examples: ['acme/*'] })) })
