import { type Static, Type } from '@sinclair/typebox'
import { SubscriptionStatus } from './billing.js'
import { AvatarUrl, Login, StringEnum, Uuid } from './common.js'

export const Profile = Type.Object(
  {
    id: Uuid,
    login: Login,
    avatar_url: AvatarUrl,
    plan: StringEnum(['free', 'pro'], {
      description: 'The effective plan. It is `pro` for everyone while billing is dormant.',
    }),
    status: SubscriptionStatus,
  },
  { $id: 'Profile', additionalProperties: false },
)
export type Profile = Static<typeof Profile>
