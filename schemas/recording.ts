import { type Static, Type } from '@sinclair/typebox'
import { Closed, Nullable, Resource } from './common.js'
import { limits } from './limits.js'
import { RepoPatterns } from './workspaces.js'

const RecordingHours = Closed(
  {
    from: Type.Integer({ minimum: 0, maximum: 23, description: 'The first local hour.', examples: [8] }),
    to: Type.Integer({
      minimum: 0,
      maximum: 24,
      description:
        'The local hour at which recording ends. It must differ from `from`. An earlier hour is on the next day.',
      examples: [19],
    }),
    weekdays: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      minItems: 1,
      uniqueItems: true,
      description:
        'ISO weekdays: 1 is Monday. They are the days on which the hours begin, even if the hours end after midnight.',
      examples: [[1, 2, 3, 4, 5]],
    }),
  },
  {
    title: 'RecordingHours',
    description:
      "The hours that are recorded, in the person's time zone. Null: all hours. A UTC hour belongs entirely to the local hour in which it starts. Minutes without an hour aren’t affected.",
  },
)
export type RecordingHours = Static<typeof RecordingHours>

/** A person's recording preferences. */
export const Recording = Resource('Recording', {
  paused: Type.Boolean({ description: 'True: no minutes are recorded.', examples: [false] }),
  repos_off: RepoPatterns(limits.recording_repos_off, {
    description: 'Repositories, or patterns like those of a workspace, in which no minutes are recorded.',
    examples: [['acme/secret-*']],
  }),
  hours: Nullable(RecordingHours),
})
export type Recording = Static<typeof Recording>
