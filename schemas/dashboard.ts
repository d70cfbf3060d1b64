import { type Static, type TInteger, Type } from '@sinclair/typebox'
import { DayRange } from './activity.js'
import {
  AvatarUrl,
  Closed,
  Day,
  Login,
  Named,
  Nullable,
  RepoPath,
  Role,
  StringEnum,
  Timestamp,
  Uuid,
} from './common.js'
import { limits } from './limits.js'

export const DashboardQuery = Type.Object({
  workspace: Uuid,
  from: Type.Optional(
    Type.Unsafe<string>({ ...Day, description: 'The first UTC day; default: 30 days with `to`.' }),
  ),
  to: Type.Optional(
    Type.Unsafe<string>({ ...Day, description: 'The last UTC day; default: 30 days with `from`, or today.' }),
  ),
  member: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.login_length,
      description:
        'Only what this login did, former members included. A login that never had a part in the workspace is 404 `member_not_found`. Where the range has days of the privacy level `team`, every login but the caller’s own is 403 `member_detail_hidden`, whether it exists or not.',
    }),
  ),
  repo: Type.Optional(
    Type.Unsafe<string>({ ...RepoPath, description: 'Only what was done in this repository.' }),
  ),
  format: Type.Optional(
    StringEnum(['json', 'csv'], { description: 'Instead of `Accept`, for links and browsers.' }),
  ),
  trends: Type.Optional(
    Type.Boolean({ default: false, description: 'With a `trend` in the rows of members and repositories.' }),
  ),
})

const { member: _, ...ofAnybody } = DashboardQuery.properties
/** The dashboard of the caller. */
export const OwnDashboardQuery = Type.Object(ofAnybody)

const sums = {
  active_minutes: Type.Integer({ examples: [312] }),
  commits: Type.Integer({ examples: [7] }),
  closed_issues: Type.Integer({ examples: [2] }),
}
/** In the rows of a dashboard, where it is asked for. */
const trend = Type.Optional(
  Type.Array(Type.Integer(), {
    maxItems: Math.ceil(limits.range_days / 7) + 1,
    description: `Only with \`trends=true\`: the row's active minutes on each day of the range, oldest first; in ranges of more than ${limits.trend_days} days in each ISO week (Monday to Sunday, UTC) that has days in the range, of which the first and the last count only those days. So the numbers add up to \`active_minutes\`. Where published weeks are shown, repositories have none, and those weeks are 0 for members.`,
    examples: [[95, 0, 217]],
  }),
)
/** Numbers that the privacy level `team` may withhold. */
const OrWithheld = (schema: TInteger) => Type.Unsafe<number | null>(Nullable(schema))
const shownSums = {
  active_minutes: OrWithheld(sums.active_minutes),
  commits: OrWithheld(sums.commits),
  closed_issues: OrWithheld(sums.closed_issues),
}
const Totals = Named('Totals', {
  ...shownSums,
  active_members: OrWithheld(
    Type.Integer({
      description: 'With more than 0 minutes; where published weeks are added up, the largest of them.',
      examples: [1],
    }),
  ),
})

export const Dashboard = Type.Object(
  {
    workspace: Closed({ id: Uuid, name: Type.String({ examples: ['Acme'] }) }),
    range: DayRange,
    idle_window_minutes: Type.Integer({ examples: [5] }),
    totals: Totals,
    previous_totals: Type.Unsafe<Static<typeof Totals>>({
      ...Totals,
      description:
        'Of as many days just before the range, widened to whole weeks where they are shown as published.',
    }),
    daily: Type.Array(Named('DashboardDay', { day: Day, ...Totals.properties }), {
      description: 'Every day of the range, oldest first; numbers that are withheld are null.',
    }),
    members: Type.Array(
      Named('DashboardMember', {
        login: Type.Unsafe<string | null>({
          ...Nullable(Login),
          description: `Null: all members beyond the first ${limits.dashboard_rows - 1} and people whose accounts were deleted, in the last row.`,
        }),
        avatar_url: AvatarUrl,
        role: Type.Unsafe<Static<typeof Role> | null>({
          ...Nullable(Role),
          description: 'Null: has left, but was active in the range.',
        }),
        active_minutes: sums.active_minutes,
        active_days: Type.Integer({
          description: 'Days with more than 0 minutes; of several members, those of each added up.',
          examples: [1],
        }),
        commits: sums.commits,
        closed_issues: sums.closed_issues,
        last_active_day: Type.Unsafe<string | null>({
          ...Nullable(Day),
          description: 'The last day of the range with more than 0 minutes.',
        }),
        trend,
      }),
      {
        maxItems: limits.dashboard_rows,
        description:
          'Most minutes first. Everybody who is in the workspace, also without activity, and who has left but was active in the range; with `repo` only those with activity in it. Of the days that are shown as published weeks nobody is listed.',
      },
    ),
    repos: Type.Array(
      Named('DashboardRepo', {
        repo: Type.Unsafe<string | null>({
          ...Nullable(RepoPath),
          description: `Null: all repositories beyond the first ${limits.dashboard_rows - 1}, and what the published repositories lack of the total, in the last row.`,
        }),
        ...shownSums,
        members: OrWithheld(
          Type.Integer({
            description:
              'With any activity in the repository; where published weeks are added up, with minutes in it, in the week with most of them.',
            examples: [1],
          }),
        ),
        trend,
      }),
      { maxItems: limits.dashboard_rows, description: 'Those with activity, most minutes first.' },
    ),
    heatmap: Type.Unsafe<{ weekday: number; hour: number; minutes: number | null }[] | null>(
      Nullable(
        Type.Array(
          Named('HeatmapCell', {
            weekday: Type.Integer({
              minimum: 1,
              maximum: 7,
              description: 'ISO: 1 is Monday.',
              examples: [6],
            }),
            hour: Type.Integer({ minimum: 0, maximum: 23, examples: [9] }),
            minutes: OrWithheld(Type.Integer({ examples: [48] })),
          }),
          {
            maxItems: 168,
            examples: [[{ weekday: 6, hour: 9, minutes: 48 }]],
            description:
              "All 168 cells, Monday 0:00 first, in each member's own local hours; minutes that are withheld are null. Minutes without an hour, and hours older than the service keeps them, are in none. A day counts only if at least 2 people other than the caller had hours on it, with `repo` in that repository; within the day, time zones that show different hours are judged separately. With `repo`, a repository is also left out where the hours of the other repositories would otherwise be those of one person. Null if hours exist and no day counts, with `member` for anyone but the caller, and where nothing of it is published. The caller’s own heatmap is always complete.",
          },
        ),
      ),
    ),
    generated_at: Timestamp,
  },
  { $id: 'Dashboard', additionalProperties: false },
)
export type Dashboard = Static<typeof Dashboard>

export const DashboardCsv = Type.String({
  description:
    'A header line, then one line per day and member with anything, and one for all `deleted user`s; lines end with a line feed. Where the range has days of the privacy level `team`: `day,active_minutes,commits,closed_issues`, one line per day, what is withheld empty.',
  examples: ['day,login,active_minutes,commits,closed_issues\n2026-11-21,ada,312,7,2\n'],
})
