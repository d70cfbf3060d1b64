import type { Static } from '@sinclair/typebox'
import { StringEnum } from './common.js'

export const ActivityPrivacy = StringEnum(['named', 'team'], {
  description:
    'Who sees what a person did: `named`: admins see sums of a range; `team`: nobody but the person.',
  examples: ['named'],
})
export type ActivityPrivacy = Static<typeof ActivityPrivacy>
