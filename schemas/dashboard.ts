import { type Static, Type } from '@sinclair/typebox'
import { DayRange } from './activity.js'
import {
  AvatarUrl,
  Closed,
  Day,
  Login,
  Named,
  Nullable,
  RepoPath,
  Resource,
  Role,
  StringEnum,
  Timestamp,
  Uuid,
} from './common.js'
import { countExamples, countNames, perCount } from './counts.js'
import { limits } from './limits.js'

export const DashboardQuery = Type.Object({
  workspace: Uuid,
  from: Type.Optional(
    Type.Unsafe<string>({ ...Day, description: 'The first day. Default: 30 days that end with `to`.' }),
  ),
  to: Type.Optional(
    Type.Unsafe<string>({
      ...Day,
      description: 'The last day. Default: 30 days that begin with `from`, or the caller’s own today.',
    }),
  ),
  member: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.login_length,
      description:
        'Only this login’s activity. It can name someone who has left. A login that was never a member returns 404 `member_not_found`. If the privacy level was `team` on any day in the range, every login except the caller’s own returns 403 `member_detail_hidden`, whether it exists or not.',
    }),
  ),
  repo: Type.Optional(Type.Unsafe<string>({ ...RepoPath, description: 'Only activity in this repository.' })),
  format: Type.Optional(
    StringEnum(['json', 'csv'], { description: 'The format, instead of `Accept`, for links and browsers.' }),
  ),
  trends: Type.Optional(
    Type.Boolean({ default: false, description: 'Adds a `trend` to the rows of members and repositories.' }),
  ),
  comparison: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Set it for a range that a page loads automatically, to compare another range with it. The access log then lists the view with the kind `comparison`.',
    }),
  ),
})

const { member: _, comparison: __, ...ofAnybody } = DashboardQuery.properties
/** The caller's own dashboard. */
export const OwnDashboardQuery = Type.Object({
  ...ofAnybody,
  workspace: Type.Optional(
    Type.Unsafe<string>({
      ...Uuid,
      description: 'Only this workspace. Default: all of the caller’s own time.',
    }),
  ),
})

const counts = perCount((count) => Type.Integer({ examples: [countExamples[count]] }))
const sums = {
  active_minutes: Type.Integer({ examples: [312] }),
  ...counts,
}
/** A row's trend, which is included if the caller asks for it. */
const trend = Type.Optional(
  Type.Array(Type.Integer(), {
    maxItems: Math.ceil(limits.range_days / 7) + 1,
    description: `Only with \`trends=true\`. The active minutes of the row on each day of the range, oldest first. Ranges of more than ${limits.trend_days} days have one number per ISO week (Monday to Sunday) instead. The first and the last week count only their days in the range, so the numbers add up to \`active_minutes\`. If published weeks are shown, repositories have no trend, and those weeks are 0 for members.`,
    examples: [[95, 0, 217]],
  }),
)
/** Numbers that the privacy level `team` can hide. */
const shownSums = {
  active_minutes: Nullable(sums.active_minutes),
  ...perCount((count) => Nullable(counts[count])),
}
const Totals = Named('Totals', {
  ...shownSums,
  active_members: Nullable(
    Type.Integer({
      description: 'Members with more than 0 minutes. For published weeks, the largest number in any week.',
      examples: [1],
    }),
  ),
})

/** The status of published weeks. An ISO week has 7 days, and a range may begin and end within one. */
const Publication = Named('Publication', {
  min_group: Type.Integer({
    minimum: 1,
    description: 'Numbers of fewer people are hidden.',
    examples: [5],
  }),
  weeks: Type.Array(
    Named('PublishedWeek', {
      week: Type.Unsafe<string>({ ...Day, description: 'The Monday of the ISO week.' }),
      state: StringEnum(['published', 'hidden', 'scheduled', 'publishing'], {
        description:
          '`published`: the week has numbers. `hidden`: too few people were active, so it has no numbers. `scheduled`: it is published on `published_on`. `publishing`: the service is still publishing past weeks of the workspace, which takes minutes.',
      }),
      published_on: Type.Unsafe<string>({
        ...Day,
        description: 'The day on which the week is published, from 12:00 UTC on: the Thursday after it.',
      }),
      ...Totals.properties,
    }),
    { maxItems: Math.ceil(limits.range_days / 7) + 1, description: 'Oldest first.' },
  ),
})
export type Publication = Static<typeof Publication>

export const Dashboard = Resource('Dashboard', {
  workspace: Closed({ id: Uuid, name: Type.String({ examples: ['Acme'] }) }),
  range: DayRange,
  idle_window_minutes: Type.Integer({ examples: [5] }),
  totals: Totals,
  previous_totals: Type.Unsafe<Static<typeof Totals>>({
    ...Totals,
    description:
      'Totals for the same number of days just before the range, days to come left out, and widened to whole weeks if published weeks are shown. All 0 if no day of the range has begun.',
  }),
  daily: Type.Array(Named('DashboardDay', { day: Day, ...Totals.properties }), {
    description: 'Every day of the range, oldest first. Hidden numbers are null.',
  }),
  members: Type.Array(
    Named('DashboardMember', {
      login: Nullable(Login, {
        description: `Null: the last row, which sums up all members beyond the first ${limits.dashboard_rows - 1} and people who deleted their accounts.`,
      }),
      avatar_url: AvatarUrl,
      role: Nullable(Role, { description: 'Null: the person has left, but was active in the range.' }),
      active_minutes: sums.active_minutes,
      active_days: Type.Integer({
        description: 'Days with more than 0 minutes. For several members, the sum of each member’s days.',
        examples: [1],
      }),
      ...counts,
      last_active_day: Nullable(Day, { description: 'The last day in the range with more than 0 minutes.' }),
      trend,
    }),
    {
      maxItems: limits.dashboard_rows,
      description:
        'Most minutes first. All members, with or without activity, and people who have left but were active in the range. With `repo`, only people with activity in it. If published weeks are shown, their days list no one.',
    },
  ),
  repos: Type.Array(
    Named('DashboardRepo', {
      repo: Nullable(RepoPath, {
        description: `Null: the last row, which sums up all repositories beyond the first ${limits.dashboard_rows - 1}, and the difference between the published repositories and the total.`,
      }),
      ...shownSums,
      members: Nullable(
        Type.Integer({
          description:
            'Members with any activity in the repository. For published weeks, the largest number of members with minutes in the repository in any week.',
          examples: [1],
        }),
      ),
      trend,
    }),
    { maxItems: limits.dashboard_rows, description: 'Repositories with activity, most minutes first.' },
  ),
  heatmap: Nullable(
    Type.Array(
      Named('HeatmapCell', {
        weekday: Type.Integer({
          minimum: 1,
          maximum: 7,
          description: 'ISO: 1 is Monday.',
          examples: [6],
        }),
        hour: Type.Integer({ minimum: 0, maximum: 23, examples: [9] }),
        minutes: Nullable(Type.Integer({ examples: [48] })),
      }),
      {
        maxItems: 168,
        examples: [[{ weekday: 6, hour: 9, minutes: 48 }]],
        description:
          'All 168 cells, Monday 0:00 first, in the hours of the time zone in which each minute was recorded. Hidden minutes are null. Minutes without an hour, and hours past their retention period, aren’t included. A day counts only if enough people other than the caller (`ACTIVITY_MIN_GROUP`) had hours on it. With `repo`, those hours must be in that repository. The heatmap is null if hours exist but no day counts, if `member` names another person, or if no part of it is published. The caller’s own heatmap is always complete.',
      },
    ),
  ),
  publication: Nullable(Publication, {
    description:
      'The published weeks in the range, each with its totals. Null if the range has none. While a week is `publishing`, the totals are incomplete.',
  }),
  generated_at: Timestamp,
})
export type Dashboard = Static<typeof Dashboard>

const agent_minutes = Type.Integer({
  minimum: 0,
  description:
    'Minutes in which the caller’s agents worked and the caller didn’t. They don’t count as active minutes, and only the caller sees them.',
  examples: [35],
})
const { totals: _totals, daily: _daily, repos: _repos, ...asForTeam } = Dashboard.properties

/** The caller's own dashboard, with agent time. */
export const OwnDashboard = Resource('OwnDashboard', {
  ...asForTeam,
  workspace: Nullable(asForTeam.workspace, { description: 'Null: all of the caller’s own time.' }),
  idle_window_minutes: Nullable(asForTeam.idle_window_minutes, { description: 'Null without a workspace.' }),
  totals: Named('OwnTotals', { ...Totals.properties, agent_minutes }),
  daily: Type.Array(Named('OwnDashboardDay', { day: Day, ...Totals.properties, agent_minutes }), {
    description: 'Every day of the range, oldest first.',
  }),
  repos: Type.Array(Named('OwnDashboardRepo', { ..._repos.items.properties, agent_minutes }), {
    maxItems: limits.dashboard_rows,
    description: 'Repositories with activity or agent time, most active minutes first.',
  }),
})
export type OwnDashboard = Static<typeof OwnDashboard>

export const dayCsvColumns = ['day', 'active_minutes', ...countNames].join(',')
export const memberCsvColumns = ['day', 'login', 'active_minutes', ...countNames].join(',')

export const DashboardCsv = Type.String({
  description: `A header line, then one line per day and member with any activity, and one for all \`deleted user\`s. Lines end with a line feed. If the privacy level was \`team\` on any day in the range, the columns are \`${dayCsvColumns}\`, with one line per day. Hidden numbers are empty.`,
  examples: [`${memberCsvColumns}\n2026-11-21,ada,312,${Object.values(countExamples)}\n`],
})
