import { type Static, Type } from '@sinclair/typebox'
import {
  Login,
  Named,
  NextCursor,
  Nullable,
  PrivacyLevel,
  Resource,
  Role,
  ref,
  StringEnum,
  Timestamp,
  Uuid,
  WorkspaceParams,
} from './common.js'
import { limits } from './limits.js'
import { Workspace } from './workspaces.js'

export const Invite = Resource('Invite', {
  id: Uuid,
  code: Type.String({ examples: ['7KQ4M-2XW9P-DART6-HBC3E'] }),
  role: Role,
  max_uses: Nullable(Type.Integer({ examples: [null] })),
  used_count: Type.Integer({ examples: [0] }),
  expires_at: Timestamp,
  status: StringEnum(['active', 'revoked', 'expired', 'exhausted']),
  created_by: Login,
  created_at: Timestamp,
})
export type Invite = Static<typeof Invite>

export const InviteParams = Type.Object({ ...WorkspaceParams.properties, invite: Uuid })

export const CreateInviteBody = Named('CreateInviteBody', {
  role: Type.Optional({
    ...Role,
    default: 'member',
    description: 'The role that people get when they join.',
  }),
  expires_in_hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.invite_hours_max,
      default: limits.invite_hours_default,
    }),
  ),
  max_uses: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: limits.invite_uses,
        default: null,
        description: 'How many people can still join with it. Null: no limit.',
      }),
    ),
  ),
})
export type CreateInviteBody = Static<typeof CreateInviteBody>

/** The response to a new workspace, which includes a first invite. */
export const CreatedWorkspace = Named('CreatedWorkspace', { workspace: ref(Workspace), invite: ref(Invite) })

export const InvitePage = Named('InvitePage', { invites: Type.Array(ref(Invite)), next_cursor: NextCursor })

const InviteCode = Type.String({
  minLength: 1,
  maxLength: limits.invite_code_length,
  examples: ['7KQ4M-2XW9P-DART6-HBC3E'],
})

export const InviteCodeParams = Type.Object({ code: InviteCode })

/** The workspace that the caller is about to join. */
export const InviteLookup = Named('InviteLookup', {
  workspace: Named('WorkspaceToJoin', {
    name: Workspace.properties.name,
    member_count: Workspace.properties.member_count,
    patterns: Workspace.properties.patterns,
    activity_privacy: PrivacyLevel,
  }),
  role: Invite.properties.role,
  status: Invite.properties.status,
  expires_at: Invite.properties.expires_at,
})
export type InviteLookup = Static<typeof InviteLookup>

/** What anyone with an invite's code may know without signing in. */
export const InviteGreeting = Named('InviteGreeting', {
  workspace_name: Workspace.properties.name,
  invited_by: Login,
})
export type InviteGreeting = Static<typeof InviteGreeting>

export const JoinBody = Named('JoinBody', { code: InviteCode })
export type JoinBody = Static<typeof JoinBody>

export const JoinResult = Named('JoinResult', {
  workspace: ref(Workspace),
  already_member: Type.Boolean({ examples: [false] }),
})
