import type { Static } from '@sinclair/typebox'
import { SubscriptionStatus } from './billing.js'
import { AvatarUrl, Login, Named, Nullable, Resource, StringEnum, Timestamp, Uuid } from './common.js'

export const Profile = Resource('Profile', {
  id: Uuid,
  login: Login,
  avatar_url: AvatarUrl,
  plan: StringEnum(['free', 'pro'], {
    description: 'The effective plan. It is `pro` for everyone while billing is dormant.',
  }),
  status: SubscriptionStatus,
  heartbeats: Nullable(
    Named('Heartbeats', {
      last_at: {
        ...Timestamp,
        description: 'The time of the newest accepted heartbeat, as the editor gave it.',
      },
    }),
    { description: 'Null: no editor has sent a heartbeat.' },
  ),
})
export type Profile = Static<typeof Profile>
