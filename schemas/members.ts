import { type Static, Type } from '@sinclair/typebox'
import {
  AvatarUrl,
  Day,
  Login,
  Named,
  NextCursor,
  Nullable,
  Resource,
  Role,
  ref,
  Timestamp,
} from './common.js'
import { limits } from './limits.js'

export const Member = Resource('Member', {
  login: Login,
  avatar_url: AvatarUrl,
  role: Role,
  joined_at: Timestamp,
  last_active_day: Nullable({
    ...Day,
    description:
      'The last day with active minutes in this workspace, on the member’s own calendar. Null if there is none. At the privacy level `team`, null for everyone.',
  }),
})
export type Member = Static<typeof Member>

export const MemberPage = Named('MemberPage', { members: Type.Array(ref(Member)), next_cursor: NextCursor })

const NamedLogin = Type.String({
  minLength: 1,
  maxLength: limits.login_length,
  description: 'Case doesn’t matter.',
  examples: ['bob'],
})
export const MemberQuery = Type.Object({ login: NamedLogin })

export const ChangeRoleBody = Named('ChangeRoleBody', { login: NamedLogin, role: Role })
export type ChangeRoleBody = Static<typeof ChangeRoleBody>
