import { type Static, Type } from '@sinclair/typebox'
import { Named, Nullable, PrivacyLevel, Resource } from './common.js'

const PrivacyRecord = Named('PrivacyRecord', {
  name: Type.String({ examples: ['minutes'] }),
  what: Type.String({ examples: ['Active minutes of a day in a repository.'] }),
  fields: Type.Array(Type.String({ examples: ['minutes'] })),
  why: Type.String({ examples: ['To add them up for the team.'] }),
  kept_days: Nullable(Type.Integer({ description: 'Null: `kept` says how long.', examples: [400] })),
  kept: Type.String({ examples: ['As long as the workspace.'] }),
})
export type PrivacyRecord = Static<typeof PrivacyRecord>

const PrivacyView = Named('PrivacyView', {
  what: Type.String({ examples: ['A person’s hours.'] }),
  named: Type.String({
    description: 'The people who see it in workspaces with the level `named`.',
    examples: ['The person.'],
  }),
  team: Type.String({
    description: 'The people who see it in workspaces with the level `team`.',
    examples: ['The person.'],
  }),
})
export type PrivacyView = Static<typeof PrivacyView>

/** The data recorded about people, and who sees it. */
export const Privacy = Resource('Privacy', {
  activity_privacy_floor: Type.Unsafe<PrivacyLevel>({
    ...PrivacyLevel,
    description: 'The least strict level that a workspace can have on this installation.',
  }),
  activity_min_group: Type.Integer({
    description: 'The minimum number of people behind every number that is shown at the level `team`.',
    examples: [5],
  }),
  activity_detail_days: Type.Integer({
    description: 'How many days the service keeps the hours of activity.',
    examples: [400],
  }),
  records: Type.Array(PrivacyRecord, { description: 'Everything that the service stores about people.' }),
  not_recorded: Type.Array(Type.String({ examples: ['What is typed.'] })),
  shown: Type.Array(PrivacyView, {
    description:
      'The people who see each kind of data. The operator of the service and its database can read everything stored.',
  }),
})
export type Privacy = Static<typeof Privacy>
