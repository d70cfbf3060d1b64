import { type Static, Type } from '@sinclair/typebox'
import { TIMEZONE_LENGTH } from './activity.js'
import { SubscriptionStatus } from './billing.js'
import { AvatarUrl, Login, Named, Nullable, Resource, StringEnum, Timestamp, Uuid } from './common.js'

const timezoneOfPerson = {
  timezone: Nullable(Type.String({ examples: ['Europe/Berlin'] }), {
    description:
      'The chosen time zone, or else the last one that a client named (`timezone` of a flush, `Timezone` of heartbeats). A name for UTC, such as `Etc/UTC`, doesn’t replace another name. Null: none is known, and UTC applies.',
  }),
  timezone_chosen: Type.Boolean({
    description: 'True: the person chose it, and it holds, whatever clients send.',
    examples: [false],
  }),
}

export const TimezoneOfPerson = Resource('TimezoneOfPerson', timezoneOfPerson)

export const TimezoneChoice = Named('TimezoneChoice', {
  timezone: Nullable(Type.String({ maxLength: TIMEZONE_LENGTH, examples: ['Europe/Berlin'] }), {
    description:
      'An IANA time zone name, not a numeric offset. Null: clients name it from now on, and until then it stays.',
  }),
})

export const Profile = Resource('Profile', {
  id: Uuid,
  login: Login,
  avatar_url: AvatarUrl,
  plan: StringEnum(['free', 'pro'], {
    description: 'The effective plan. It is `pro` for everyone while billing is dormant.',
  }),
  status: SubscriptionStatus,
  ...timezoneOfPerson,
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
