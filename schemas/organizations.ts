import { type Static, Type } from '@sinclair/typebox'
import {
  Login,
  Named,
  NextCursor,
  Nullable,
  Owner,
  RepohostToken,
  Resource,
  StringEnum,
  Timestamp,
} from './common.js'
import { limits } from './limits.js'

/**
 * The people whom a linked organization makes members, and what happens to those who leave it. The first is the
 * default.
 */
export const organizationJoins = ['nobody', 'member'] as const
export const organizationLeaves = ['keep', 'remove'] as const

const choices = {
  join: StringEnum(organizationJoins, {
    description: '`member`: people in the organization become workspace members when they sign in.',
    examples: ['member'],
  }),
  leave: StringEnum(organizationLeaves, {
    description: '`remove`: people who leave the organization are removed from the workspace.',
    examples: ['remove'],
  }),
}

const name = Type.Unsafe<string>({
  ...Owner,
  description: 'The organization’s name at the repository host, or at GitLab the group’s path.',
})

/** Why a link currently doesn't admit anyone. */
export const pauseReasons = ['maker_left', 'maker_not_owner', 'not_confirmed'] as const

/** The caller's own token. */
export const OrganizationHeaders = Type.Object({ 'x-repohost-token': RepohostToken })

export const OrganizationBody = Named('OrganizationBody', {
  organization: name,
  join: Type.Optional({ ...choices.join, default: 'nobody' }),
  leave: Type.Optional({ ...choices.leave, default: 'keep' }),
})
export type OrganizationBody = Static<typeof OrganizationBody>

export const Organization = Resource('Organization', {
  organization: Type.String({ examples: ['acme'] }),
  organization_id: Type.Integer({
    description: "The host's id, which never changes hands.",
    examples: [9919],
  }),
  ...choices,
  linked_by: { ...Login, description: 'The person who made the link, or last renewed it.' },
  linked_at: Timestamp,
  confirmed_at: {
    ...Timestamp,
    description: 'When the host last confirmed that person as an owner of the organization.',
  },
  state: StringEnum(['active', 'paused'], {
    description:
      '`paused`: the link makes no one a member until an admin renews it. It still removes people.',
    examples: ['active'],
  }),
  paused_because: Nullable(StringEnum(pauseReasons), {
    description: `\`maker_left\`: the person who made the link is no longer an admin of the workspace. \`maker_not_owner\`: the host says that this person no longer owns the organization. \`not_confirmed\`: the host hasn’t confirmed their ownership for ${limits.membership_unconfirmed_days} days. Null: active.`,
    examples: [null],
  }),
})
export type Organization = Static<typeof Organization>

export const OrganizationMember = Named('OrganizationMember', {
  login: Login,
  left_at: Nullable(Timestamp, {
    description:
      'When the host first said that the member has left, while the removal waits for an admin. Null: it doesn’t.',
    examples: [null],
  }),
  unconfirmed_since: Nullable(Timestamp, {
    description:
      'The last sign-in at which the host confirmed a member who joined through the link, if that was more than 60 days ago.',
    examples: ['2026-09-01T09:30:00.000Z'],
  }),
})
export type OrganizationMember = Static<typeof OrganizationMember>

export const OrganizationMemberPage = Named('OrganizationMemberPage', {
  members: Type.Array(OrganizationMember),
  next_cursor: NextCursor,
})
