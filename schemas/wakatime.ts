/** A person's time in WakaTime's formats. */
import { type Static, Type } from '@sinclair/typebox'
import { TIMEZONE_LENGTH } from './activity.js'
import { Closed, Day, Named, Resource, ref, Timestamp } from './common.js'
import { limits } from './limits.js'

/** How many characters of these parameters are read. */
const RANGE_LENGTH = 40
const NAME_LENGTH = 400

const text = Type.String({ examples: ['3 hrs 12 mins'] })
const digital = Type.String({ examples: ['3:12'] })
const decimal = Type.String({ description: 'Hours.', examples: ['3.20'] })
const seconds = Type.Integer({ minimum: 0, examples: [11_520] })
const days = Type.Integer({ minimum: 0, examples: [7] })
const timezone = Type.String({ examples: ['Europe/Berlin'] })
/** Whole seconds, because some WakaTime tools can't read fractions. */
const moment = Type.String({ format: 'date-time', examples: ['2026-11-20T23:00:00Z'] })

const duration = {
  text,
  digital,
  hours: Type.Integer({ examples: [3] }),
  minutes: Type.Integer({ examples: [12] }),
  total_seconds: Type.Integer({ examples: [11_520] }),
}

const Entry = Resource('WakaTimeEntry', {
  name: Type.String({ examples: ['acme/api-gateway'] }),
  ...duration,
  decimal,
  seconds: Type.Integer({ description: 'Always 0, because the service counts minutes.', examples: [0] }),
  percent: Type.Number({ examples: [100] }),
})

const entries = Type.Array(ref(Entry))

const empty = Type.Array(Type.Unknown(), {
  maxItems: 0,
  description: 'Always empty: the service doesn’t store this.',
  examples: [[]],
})
const nothingElse = {
  languages: empty,
  editors: empty,
  machines: empty,
  operating_systems: empty,
  dependencies: empty,
}

export const StatusBar = Named('StatusBar', {
  cached_at: Timestamp,
  data: Closed({
    grand_total: Named('GrandTotal', duration),
    categories: Type.Array(
      Named('EditorCategory', { name: Type.String({ examples: ['Coding'] }), ...duration }),
    ),
    projects: entries,
    ...nothingElse,
    range: Named('EditorRange', {
      date: Type.String({ format: 'date', examples: ['2026-11-21'] }),
      start: Timestamp,
      end: Timestamp,
      text: Type.String({ examples: ['Today'] }),
      timezone,
    }),
  }),
})
export type StatusBar = Static<typeof StatusBar>

const dayText = {
  description: 'A day, or `today` or `yesterday`. Only the day of a timestamp is read.',
  maxLength: RANGE_LENGTH,
  examples: ['today'],
}
const timezoneParameter = {
  timezone: Type.Optional(
    Type.String({
      maxLength: TIMEZONE_LENGTH,
      description: 'Default: the `Timezone` header, or the caller’s time zone.',
    }),
  ),
}

/** Values that aren't time zones are ignored, because the tools always send this header. */
export const TimezoneHeaders = Type.Object({
  timezone: Type.Optional(Type.String({ description: 'An IANA time zone. It decides which day is today.' })),
})

const projectParameter = {
  project: Type.Optional(Type.String({ maxLength: NAME_LENGTH, description: 'Count only this repository.' })),
}

export const StatusBarQuery = Type.Object(timezoneParameter)
export const AllTimeQuery = Type.Object({ ...projectParameter, ...timezoneParameter })
export const SummariesQuery = Type.Object({
  start: Type.Optional(Type.String(dayText)),
  end: Type.Optional(Type.String(dayText)),
  range: Type.Optional(
    Type.String({
      maxLength: RANGE_LENGTH,
      description:
        '`Today`, `Yesterday`, `Last 7 Days`, `Last 7 Days from Yesterday`, `Last 14 Days`, `Last 30 Days`, `Last 6 Months`, `Last Year`, `This Week`, `Last Week`, `This Month` or `Last Month`, in any case. Ignored with `start`. Default: today.',
    }),
  ),
  ...projectParameter,
  ...timezoneParameter,
})

export const StatsRange = Type.String({ maxLength: RANGE_LENGTH, examples: ['last_7_days'] })
export const StatsQuery = Type.Object({ ...projectParameter, ...timezoneParameter })
export const ProjectsQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: NAME_LENGTH, description: 'Part of the name.' })),
})
export const DurationsQuery = Type.Object({
  date: Type.String(dayText),
  project: Type.Optional(Type.String({ maxLength: NAME_LENGTH, description: 'A repository.' })),
  ...timezoneParameter,
})

export const Summaries = Named('Summaries', {
  data: Type.Array(
    Named('Summary', {
      grand_total: Named('SummaryTotal', { ...duration, decimal }),
      categories: entries,
      projects: entries,
      ...nothingElse,
      range: Named('SummaryRange', { date: Day, start: moment, end: moment, text: Day, timezone }),
    }),
  ),
  start: moment,
  end: moment,
  cumulative_total: Named('CumulativeTotal', { text, digital, decimal, seconds }),
  daily_average: Named('DailyAverage', {
    text,
    text_including_other_language: text,
    seconds,
    seconds_including_other_language: seconds,
    days_including_holidays: days,
    days_minus_holidays: days,
    holidays: Type.Integer({ minimum: 0, description: 'Days without minutes.', examples: [2] }),
  }),
})
export type Summaries = Static<typeof Summaries>

const truth = Type.Boolean({ examples: [true] })
const hidden = Type.Boolean({ examples: [false] })
const percent = Type.Integer({ examples: [100] })

export const Stats = Named('Stats', {
  data: Closed({
    user_id: Type.String({ format: 'uuid', examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] }),
    username: Type.String({ examples: ['ada'] }),
    range: Type.String({ examples: ['last_7_days'] }),
    human_readable_range: Type.String({ examples: ['last 7 days'] }),
    start: moment,
    end: moment,
    timezone,
    status: Type.String({ examples: ['ok'] }),
    is_up_to_date: truth,
    percent_calculated: percent,
    is_coding_activity_visible: hidden,
    is_other_usage_visible: hidden,
    total_seconds: seconds,
    total_seconds_including_other_language: seconds,
    human_readable_total: text,
    human_readable_total_including_other_language: text,
    daily_average: seconds,
    daily_average_including_other_language: seconds,
    human_readable_daily_average: text,
    human_readable_daily_average_including_other_language: text,
    days_including_holidays: days,
    days_minus_holidays: days,
    holidays: days,
    best_day: Type.Unsafe<{ date: string; text: string; total_seconds: number } | null>({
      type: ['object', 'null'],
      title: 'BestDay',
      properties: { date: Day, text, total_seconds: seconds },
      required: ['date', 'text', 'total_seconds'],
      additionalProperties: false,
      description: 'Null if there are no minutes.',
    }),
    categories: entries,
    projects: entries,
    ...nothingElse,
  }),
})
export type Stats = Static<typeof Stats>

export const AllTime = Named('AllTime', {
  data: Closed({
    text,
    digital,
    decimal,
    total_seconds: seconds,
    daily_average: seconds,
    is_up_to_date: truth,
    percent_calculated: percent,
    range: Named('AllTimeRange', {
      start: moment,
      start_date: Day,
      start_text: Day,
      end: moment,
      end_date: Day,
      end_text: Day,
      timezone,
    }),
  }),
})
export type AllTime = Static<typeof AllTime>

const name = Type.String({ examples: ['acme/api-gateway'] })
const none = Type.Null({ examples: [null] })
const page = Type.Integer({ examples: [1] })

export const Projects = Named('Projects', {
  data: Type.Array(
    Named('WakaTimeProject', {
      id: name,
      name,
      urlencoded_name: Type.String({ examples: ['acme%2Fapi-gateway'] }),
      created_at: moment,
      first_heartbeat_at: moment,
      last_heartbeat_at: moment,
      human_readable_last_heartbeat_at: Day,
      color: none,
      badge: none,
      repository: none,
    }),
    { description: `The latest first. At most ${limits.dashboard_rows}.` },
  ),
  total: page,
  total_pages: page,
  page,
  prev_page: none,
  next_page: none,
})
export type Projects = Static<typeof Projects>

export const Durations = Named('Durations', {
  data: Type.Array(
    Named('Duration', {
      project: name,
      time: Type.Number({ description: 'Seconds since 1970.', examples: [1_763_715_600] }),
      duration: Type.Integer({ description: 'Seconds.', examples: [1_380] }),
      color: none,
    }),
  ),
  branches: empty,
  start: moment,
  end: moment,
  timezone,
})
export type Durations = Static<typeof Durations>
