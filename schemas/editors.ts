import { type Static, Type } from '@sinclair/typebox'
import { Closed, Named, Nullable, RepoPath, Resource, StringEnum, Timestamp } from './common.js'
import { limits } from './limits.js'

/** `current`, or the caller's own login. */
export const EditorParams = Type.Object({
  user: Type.String({
    minLength: 1,
    maxLength: limits.login_length,
    description: "`current`, or the caller's login.",
    examples: ['current'],
  }),
})

const heartbeat = { time: 1_763_717_400.123, entity: 'src/app.ts', type: 'file', project: 'acme/api-gateway' }

/** Used only in the OpenAPI document. `features/editors/parsing` reads the bodies. */
export const Heartbeat = Resource(
  'Heartbeat',
  {
    time: Type.Optional(
      Type.Union([Type.Number(), Type.String()], {
        description:
          'Seconds since 1970, with a fraction: a number, or a string with a decimal number. From 100,000,000,000 on, milliseconds.',
        examples: [heartbeat.time, '1763717400.123'],
      }),
    ),
    project: Type.Optional(
      Type.String({
        description:
          'A repository (`owner/repo`, or the address of its remote), or another name, such as a folder’s.',
        examples: [heartbeat.project],
      }),
    ),
    alternate_project: Type.Optional(
      Type.String({
        description: 'Used if `project` doesn’t name a repository.',
        examples: ['api-gateway'],
      }),
    ),
    category: Type.Optional(
      Type.String({
        description: '`ai coding` is agent time. Every other category is the caller’s own time.',
        examples: ['coding'],
      }),
    ),
  },
  {
    additionalProperties: true,
    description: 'All other properties are ignored and not stored.',
    examples: [heartbeat],
  },
)

export const HeartbeatsAnswer = Resource(
  'HeartbeatsAnswer',
  {
    responses: Type.Array(Type.Array(Type.Unknown()), {
      description:
        'One `[{"data": null}, 201]` for each heartbeat, in order, and `[{"error": "must be an object"}, 400]` for each element that isn’t an object.',
    }),
  },
  { examples: [{ responses: [[{ data: null }, 201]] }] },
)

export const HeartbeatAnswer = Named('HeartbeatAnswer', {
  data: Closed({ id: Type.String({ examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] }) }),
})

export const EditorUser = Named('EditorUser', {
  data: Closed({
    id: Type.String({ format: 'uuid', examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] }),
    username: Type.String({ examples: ['ada'] }),
    display_name: Type.String({ examples: ['ada'] }),
    photo: Type.String({ examples: ['https://avatars.example.com/ada'] }),
    timezone: Type.String({ description: 'Default: UTC.', examples: ['Europe/Berlin'] }),
  }),
})

const ProjectName = Type.String({
  minLength: 1,
  maxLength: limits.editor_project_length,
  examples: ['api-gateway'],
})

export const EditorProject = Resource('EditorProject', {
  name: ProjectName,
  state: StringEnum(['waiting', 'automatic', 'assigned', 'ignored'], {
    description:
      '`waiting`: the name has no repository yet. `automatic`: exactly one repository that the caller has pushed, or has sent by its full address, has this name, or it’s an address with an SSH alias that the caller has assigned. `assigned` and `ignored`: the caller chose this.',
    examples: ['assigned'],
  }),
  repo: Nullable(RepoPath, { description: 'Null: the name is waiting or ignored.' }),
  last_at: Nullable(Timestamp),
  minutes: Type.Integer({
    minimum: 0,
    description: `The minutes stored for the name in the last ${limits.heartbeat_days} days. They include gaps of up to ${limits.heartbeat_idle_minutes_min} minutes.`,
    examples: [42],
  }),
})
export type EditorProject = Static<typeof EditorProject>

export const EditorProjectList = Named('EditorProjectList', {
  projects: Type.Array(Type.Unsafe<EditorProject>({ $ref: 'EditorProject#' })),
  dropped: Type.Integer({
    minimum: 0,
    description: `How many waiting names have made room for others. 0 again if no name had to for ${limits.heartbeat_days} days.`,
    examples: [0],
  }),
})
export type EditorProjectList = Static<typeof EditorProjectList>

export const EditorProjectBody = Named('EditorProjectBody', {
  name: Type.Unsafe<string>({
    ...ProjectName,
    description: 'A name, the address of a remote, or `owner/repo` of a repository that counts nowhere.',
  }),
  repo: Nullable(RepoPath, { description: 'Null: ignore the name.' }),
})

const CountedMinutes = Named('CountedMinutes', {
  workspace_id: Type.String({ format: 'uuid', examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] }),
  name: Type.String({ examples: ['Acme'] }),
  minutes: Type.Integer({ minimum: 1, examples: [42] }),
})

export const EditorProjectResult = Named('EditorProjectResult', {
  ok: Type.Literal(true),
  counted: Type.Array(CountedMinutes, {
    description:
      'The stored minutes that this assignment counted, by workspace. Workspaces without any aren’t listed, and minutes of agents aren’t included.',
  }),
})
export type EditorProjectResult = Static<typeof EditorProjectResult>

export const importFailures = ['own_time_full'] as const

export const Import = Resource('Import', {
  id: Nullable(Type.String({ format: 'uuid', examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] })),
  state: StringEnum(['none', 'running', 'done', 'cancelled', 'failed'], {
    description: `\`none\`: there was no import in the last ${limits.heartbeat_days} days. \`failed\`: it ended early, and what it has counted stays.`,
    examples: ['running'],
  }),
  reason: Nullable(StringEnum(importFailures), {
    description: `Why an import failed, otherwise null. \`own_time_full\`: the caller's own time would have more than ${limits.own_rows} rows, one per day and repository or project name.`,
    examples: [null],
  }),
  heartbeats: Type.Integer({ minimum: 0, description: 'Heartbeats in the file.', examples: [48_210] }),
  skipped: Closed(
    {
      time: Type.Integer({
        minimum: 0,
        description: 'They have no time that can be read, or one from before 2000.',
        examples: [2],
      }),
      future: Type.Integer({
        minimum: 0,
        description: `They are more than ${limits.future_minutes} minutes ahead of the service's clock.`,
        examples: [0],
      }),
      project: Type.Integer({ minimum: 0, description: 'They name no project.', examples: [310] }),
      recording_off: Type.Integer({
        minimum: 0,
        description:
          'The caller has switched off recording for them, or ignores the project name. Known when their day is counted.',
        examples: [0],
      }),
    },
    { description: 'Heartbeats in the file that don’t count.' },
  ),
  days: Type.Integer({ minimum: 0, description: 'UTC days in the file.', examples: [412] }),
  days_done: Type.Integer({ minimum: 0, description: 'Days counted so far.', examples: [180] }),
  minutes: Type.Integer({
    minimum: 0,
    description: 'Minutes added across all workspaces.',
    examples: [31_904],
  }),
  own_minutes: Type.Integer({
    minimum: 0,
    description:
      'Minutes added that no workspace counts, such as those of days before the caller joined one. Only the caller sees them, in their own time.',
    examples: [88_120],
  }),
  created_at: Nullable(Timestamp),
  updated_at: Nullable(Timestamp),
})
export type Import = Static<typeof Import>
export type ImportFailure = (typeof importFailures)[number]
