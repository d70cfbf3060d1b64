import { type Static, Type } from '@sinclair/typebox'
import { Closed, Login, Nullable, Role, ref, StringEnum, Timestamp, Uuid } from './common.js'
import { limits } from './limits.js'

/** Trimmed after validation; blank names are refused. */
export const WorkspaceName = Type.String({
  minLength: 1,
  maxLength: limits.workspace_name_length,
  pattern: '\\S',
  examples: ['Acme'],
})

export const PatternList = Type.Array(
  Type.String({
    maxLength: limits.pattern_length,
    format: 'repo-pattern',
    description: '`owner/*`, `owner/repo`, or `owner/` and a repository name with `*` in it.',
    examples: ['acme/*'],
  }),
  { maxItems: limits.patterns_per_workspace, 'x-unique-without-case': true },
)

export const Workspace = Type.Object(
  {
    id: Uuid,
    name: Type.String({ examples: ['Acme'] }),
    personal: Type.Boolean(),
    role: Role,
    idle_window_minutes: Type.Integer({ examples: [5] }),
    patterns: Type.Array(Type.String({ examples: ['acme/*'] })),
    member_count: Type.Integer({ examples: [12] }),
    created_at: Timestamp,
  },
  { $id: 'Workspace', additionalProperties: false },
)
export type Workspace = Static<typeof Workspace>

export const MyWorkspaces = Closed({ id: Uuid, login: Login, workspaces: Type.Array(ref(Workspace)) })
export type MyWorkspaces = Static<typeof MyWorkspaces>

export const Invite = Type.Object(
  {
    id: Uuid,
    code: Type.String({ examples: ['7KQ4-M2XW-9PDA-RT6H'] }),
    role: Role,
    max_uses: Nullable(Type.Integer()),
    used_count: Type.Integer({ examples: [0] }),
    expires_at: Timestamp,
    status: StringEnum(['active', 'revoked', 'expired', 'exhausted']),
    created_by: Login,
    created_at: Timestamp,
  },
  { $id: 'Invite', additionalProperties: false },
)
export type Invite = Static<typeof Invite>

export const CreateWorkspaceBody = Closed({ name: WorkspaceName, patterns: Type.Optional(PatternList) })
export type CreateWorkspaceBody = Static<typeof CreateWorkspaceBody>

export const CreatedWorkspace = Closed({ workspace: ref(Workspace), invite: ref(Invite) })

export const JoinBody = Closed({
  code: Type.String({
    minLength: 1,
    maxLength: limits.invite_code_length,
    examples: ['7KQ4-M2XW-9PDA-RT6H'],
  }),
})
export type JoinBody = Static<typeof JoinBody>

export const JoinResult = Closed({ workspace: ref(Workspace), already_member: Type.Boolean() })
