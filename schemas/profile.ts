import { type Static, Type } from '@sinclair/typebox'
import { Login, StringEnum, Uuid } from './common.js'

export const Profile = Type.Object(
  {
    id: Uuid,
    login: Login,
    avatar_url: Type.String(),
    plan: StringEnum(['free', 'pro'], {
      description: 'The effective plan: `pro` for everybody while billing is dormant.',
    }),
    status: StringEnum(['none', 'trialing', 'active', 'past_due', 'canceled'], {
      description: "The stored subscription's status.",
    }),
  },
  { $id: 'Profile', additionalProperties: false },
)
export type Profile = Static<typeof Profile>
