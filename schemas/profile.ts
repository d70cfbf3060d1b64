import { type Static, Type } from '@sinclair/typebox'
import { SubscriptionStatus } from './billing.js'
import { AvatarUrl, Closed, Login, Resource, StringEnum, Timestamp, Uuid } from './common.js'

export const Profile = Resource('Profile', {
  id: Uuid,
  login: Login,
  avatar_url: AvatarUrl,
  plan: StringEnum(['free', 'pro'], {
    description: 'The effective plan. It is `pro` for everyone while billing is dormant.',
  }),
  status: SubscriptionStatus,
  heartbeats: Type.Unsafe<{ last_at: string } | null>({
    ...Closed(
      {
        last_at: {
          ...Timestamp,
          description: 'The time of the newest accepted heartbeat, as the editor gave it.',
        },
      },
      { title: 'Heartbeats' },
    ),
    type: ['object', 'null'],
    description: 'Null: no editor has sent a heartbeat.',
  }),
})
export type Profile = Static<typeof Profile>
