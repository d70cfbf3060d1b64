import { Type } from '@sinclair/typebox'

/** Every documented limit. Schemas take their bounds from here, and `GET /api/limits` serves them. */
export const limits = {
  /** UTF-8 bytes of `JSON.stringify(settings)`. */
  settings_bytes: 262_144,
  settings_key_length: 200,
  settings_versions_kept: 20,
  /** Overrides and current snapshots of a workspace together, in UTF-8 bytes of their settings. */
  workspace_bytes: 67_108_864,
  json_depth: 32,
  /** Members and items in a body. A full upload of counts has 301,503, and no settings have more than 174,800. */
  json_values: 320_000,
  body_bytes: 1_048_576,
  counts_body_bytes: 25_165_824,
  workspace_name_length: 100,
  workspaces_per_user: 200,
  patterns_per_workspace: 50,
  pattern_length: 200,
  pattern_stars: 4,
  idle_window_minutes_min: 1,
  idle_window_minutes_max: 15,
  idle_window_minutes_default: 5,
  invite_code_length: 64,
  invite_uses: 1_000,
  invite_hours_max: 2_160,
  invite_hours_default: 168,
  page_size_max: 500,
  page_size_default: 100,
  owner_length: 100,
  repo_length: 100,
  login_length: 100,
  repohost_token_length: 255,
  flush_entries: 200,
  flush_id_length: 64,
  flush_id_days: 32,
  flush_days_back: 30,
  /** How many rows (a day of a repository in a workspace) one flush may change. */
  flush_rows: 5_000,
  /**
   * How much one flush may compare to find its workspaces. Each repository counts with its characters times those of each
   * pattern of its owner (at most 100, none for a pattern without `*`), with 10 added to both.
   */
  flush_comparisons: 130_000_000,
  /** Repositories and patterns in which a person lets nothing be recorded. */
  recording_repos_off: 200,
  minutes_per_day: 1_440,
  minutes_per_hour: 60,
  counts_members: 500,
  counts_repos_per_member: 200,
  /** As `flush_comparisons`, for one upload. */
  counts_comparisons: 1_000_000_000,
  count_max: 10_000,
  range_days: 366,
  /** Trends have a number for each day of ranges up to this, and for each week of longer ones. */
  trend_days: 31,
  /** How many members, and repositories, a dashboard lists. The last row sums up all others. */
  dashboard_rows: 1_000,
  session_days: 30,
  audit_days: 400,
  /** How long the service keeps who viewed whose numbers. */
  view_days: 400,
  assistant_key_length: 500,
  /** Model look-ups of one caller at the same time. */
  assistant_lookups_per_caller: 4,
  funnel_slug_length: 64,
  /** How many sources, and events that are not steps, the funnel lists. */
  funnel_names: 100,
  /** Requests of one caller at the same time. Further requests wait. */
  requests_at_once_per_caller: 4,
  /** The same for anonymous requests of one address. */
  requests_at_once_per_address: 64,
  /** Requests that a connection may have in progress. One more is refused, and the connection closes. */
  requests_at_once_per_connection: 16,
  /** The answer to the last of them closes the connection. */
  requests_per_connection: 10_000,
  /**
   * Seconds in a minute that the service works on one caller's requests, those at the same time added up. Beyond that, such
   * callers have few requests at the same time between them.
   */
  busy_seconds_per_caller: 30,
  /** Requests per minute. */
  rate_per_caller: 600,
  /** Requests per minute and address for the dashboard, the reference, the guides and their files. */
  rate_pages_per_address: 6_000,
  rate_verify_per_address: 30,
  rate_join_per_caller: 10,
  rate_refused_tokens_per_caller: 30,
  /** Files with everything about a caller, per hour. */
  exports_per_hour: 10,
  rate_wrong_signatures_per_address: 600,
} as const

type LimitName = keyof typeof limits
const names = Object.keys(limits) as LimitName[]

export const Limits = Type.Object(
  {
    ...(Object.fromEntries(names.map((name) => [name, Type.Integer({ examples: [limits[name]] })])) as Record<
      LimitName,
      ReturnType<typeof Type.Integer>
    >),
    extension_prefix: Type.String({
      description: 'Settings keys start with this prefix and a dot.',
      examples: ['ext'],
    }),
  },
  { $id: 'Limits', additionalProperties: false },
)
