import { type Static, Type } from '@sinclair/typebox'
import { Day, Login, Named, RepoPath, Resource, StringEnum, Uuid } from './common.js'
import { limits } from './limits.js'

const Minutes = Type.Integer({ minimum: 0, maximum: limits.minutes_per_day, examples: [42] })

/** Minutes by UTC hour, `"0"` to `"23"`. */
const HourMinutes = Type.Unsafe<Record<string, number>>({
  type: 'object',
  patternProperties: {
    '^(1?[0-9]|2[0-3])$': { type: 'integer', minimum: 0, maximum: limits.minutes_per_hour },
  },
  additionalProperties: false,
  description:
    'The minutes of each UTC hour (`"0"` to `"23"`). Their sum is at most `minutes`. The remaining minutes belong to no hour.',
  examples: [{ '9': 30, '10': 12 }],
})

export const ActivityEntry = Named('MinutesEntry', {
  repo: RepoPath,
  day: Day,
  minutes: Minutes,
  hours: Type.Optional(HourMinutes),
})
export type ActivityEntry = Static<typeof ActivityEntry>

/** The longest time-zone name that is looked up. */
export const TIMEZONE_LENGTH = 100

export const FlushBody = Named('FlushBody', {
  entries: Type.Array(ActivityEntry, { maxItems: limits.flush_entries }),
  timezone: Type.Optional(
    Type.String({
      maxLength: TIMEZONE_LENGTH,
      description:
        'An IANA time zone name, not a numeric offset. The minutes count on the days and in the hours of the caller’s time zone. This becomes it, unless the caller has chosen one, or this is a name for UTC and another one is known.',
      examples: ['Europe/Berlin'],
    }),
  ),
  flush_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.flush_id_length,
      description: `The client chooses an id for each flush and sends it again with every retry. The service remembers it for ${limits.flush_id_days} days.`,
      examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'],
    }),
  ),
})
export type FlushBody = Static<typeof FlushBody>

const FlushNote = Named('FlushNote', {
  index: Type.Integer({ minimum: 0, description: 'The entry’s index in the request.' }),
  status: StringEnum(['capped', 'ignored']),
  code: StringEnum(
    [
      'hour_full',
      'day_full',
      'repo_not_matched',
      'day_out_of_window',
      'recording_off',
      'in_future',
      'too_many_repos',
    ],
    {
      description: `\`day_out_of_window\` takes precedence. \`recording_off\` (see \`PUT /api/me/recording\`) comes next if recording is off for the whole entry, then \`repo_not_matched\`, then \`in_future\` and \`recording_off\` for a part. Hours that begin more than ${limits.future_minutes} minutes from now are in the future, and so are minutes without an hour on a day after today (UTC). \`too_many_repos\` is a repository beyond the ${limits.repos_per_day} that a local day can have in a workspace. \`hour_full\` comes before \`day_full\`.`,
    },
  ),
})
export type FlushNote = Static<typeof FlushNote>

export const FlushResult = Resource(
  'FlushResult',
  {
    accepted: Type.Integer({ description: 'Entries that count in full.' }),
    capped: Type.Integer({
      description:
        'Entries that were cut short in at least one workspace, or by the hours in the recording preferences.',
    }),
    ignored: Type.Integer({ description: 'Entries that don’t count in any workspace.' }),
    duplicate: Type.Boolean({
      description: 'True: the service has already counted this id and repeats its first response.',
    }),
    notes: Type.Array(FlushNote, { description: 'One for each entry that wasn’t accepted.' }),
  },
  {
    examples: [
      {
        accepted: 11,
        capped: 1,
        ignored: 0,
        duplicate: false,
        notes: [{ index: 3, status: 'capped', code: 'hour_full' }],
      },
    ],
  },
)
export type FlushResult = Static<typeof FlushResult>

export const MinutesQuery = Type.Object({
  day: Type.Optional(Type.Unsafe<string>({ ...Day, description: 'A UTC day. Default: today.' })),
  from: Type.Optional(
    Type.Unsafe<string>({ ...Day, description: 'The first UTC day of a range, instead of `day`.' }),
  ),
  to: Type.Optional(
    Type.Unsafe<string>({ ...Day, description: 'The last UTC day of a range, instead of `day`.' }),
  ),
})

const WorkspaceMinutes = Named('WorkspaceMinutes', {
  workspace_id: Uuid,
  name: Type.String({ examples: ['Acme'] }),
  minutes: Type.Integer({ examples: [42] }),
  repos: Type.Array(Named('RepoMinutes', { repo: RepoPath, minutes: Type.Integer({ examples: [42] }) }), {
    description: 'Repositories with minutes, most minutes first.',
  }),
})
export type WorkspaceMinutes = Static<typeof WorkspaceMinutes>

export const DayRange = Named('DayRange', {
  from: Day,
  to: Day,
  days: Type.Integer({ minimum: 1, maximum: limits.range_days, examples: [1] }),
})
export type DayRange = Static<typeof DayRange>

export const MinutesOfDay = Resource('MinutesOfDay', {
  day: Day,
  workspaces: Type.Array(WorkspaceMinutes, {
    description:
      'The caller’s workspaces, oldest first. For a range, only the workspaces with minutes on that day.',
  }),
})
export type MinutesOfDay = Static<typeof MinutesOfDay>

export const MinutesOfRange = Resource('MinutesOfRange', {
  range: DayRange,
  days: Type.Array(Named('DayMinutes', { day: Day, workspaces: Type.Array(WorkspaceMinutes) }), {
    description: 'Every day of the range.',
  }),
})
export type MinutesOfRange = Static<typeof MinutesOfRange>

export const CountsQuery = Type.Object({ workspace: Type.Optional(Uuid) })
export type CountsQuery = Static<typeof CountsQuery>

export const RemovedMinutesQuery = Type.Object({
  day: Type.Unsafe<string>({ ...Day, description: 'A local day, or the first of several.' }),
  to: Type.Optional(
    Type.Unsafe<string>({
      ...Day,
      description: `The last local day. At most ${limits.removed_minutes_days} days in all. Default: \`day\`.`,
    }),
  ),
  repo: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.editor_project_length,
      description: 'Only this repository or project name, also one that no workspace counts.',
      examples: ['acme/api-gateway'],
    }),
  ),
})

export const RemovedMinutes = Resource('RemovedMinutes', {
  removed_minutes: Type.Integer({
    minimum: 0,
    description: 'Minutes of the caller and of their agents, each once.',
    examples: [42],
  }),
})

export const CountsBody = Named('CountsBody', {
  workspace: Type.Optional(
    Type.Unsafe<string>({ ...Uuid, description: 'Required, unless the query names the workspace.' }),
  ),
  day: Type.Unsafe<string>({ ...Day, description: 'A day from 2000-01-01 to tomorrow (UTC).' }),
  members: Type.Array(
    Named('MemberCounts', {
      login: Type.String({ minLength: 1, maxLength: limits.login_length, examples: ['ada'] }),
      repos: Type.Array(
        Named('RepoCount', {
          repo: RepoPath,
          count: Type.Integer({ minimum: 0, maximum: limits.count_max, examples: [7] }),
        }),
        { maxItems: limits.counts_repos_per_member, 'x-unique-by': 'repo' },
      ),
    }),
    { maxItems: limits.counts_members, 'x-unique-by': 'login' },
  ),
})
export type CountsBody = Static<typeof CountsBody>

export const CountsResult = Resource(
  'CountsResult',
  {
    upserted: Type.Integer({
      description:
        'Counts that are new or have changed. At the privacy level `team`, all accepted counts, so that the response doesn’t tell what was counted before.',
    }),
    unchanged: Type.Integer({
      description: 'Counts that didn’t change, and zeros where there was no count.',
    }),
    skipped: Type.Array(
      Named('SkippedCount', {
        login: Login,
        repo: Type.Optional(Type.String({ examples: ['acme/api-gateway'] })),
        code: StringEnum(['member_not_found', 'repo_outside_patterns']),
      }),
      {
        description: 'Logins that aren’t members (one entry each), and repositories that match no pattern.',
      },
    ),
  },
  { examples: [{ upserted: 1, unchanged: 0, skipped: [{ login: 'eve', code: 'member_not_found' }] }] },
)
