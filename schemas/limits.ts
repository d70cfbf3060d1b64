/**
 * Every documented limit. Schemas take their bounds from here, `GET /api/limits` serves them, and the page's forms use them.
 */
export const limits = {
  /** UTF-8 bytes of `JSON.stringify(settings)`. */
  settings_bytes: 262_144,
  settings_key_length: 200,
  settings_versions_kept: 20,
  /** Why a change was made, in the author's words. */
  reason_length: 200,
  /** A workspace's overrides and current snapshots together, in UTF-8 bytes of their settings. */
  workspace_bytes: 16_777_216,
  /** Each is charged at least this much, so 16,384 repositories with settings or an override fill a workspace. */
  workspace_bytes_per_settings: 1_024,
  /** Earlier versions of a workspace's overrides. */
  workspace_history_bytes: 67_108_864,
  /** Each is charged at least this much. */
  workspace_history_bytes_per_version: 512,
  json_depth: 32,
  /** Properties and items in a body. A full upload of counts has 301,503. Settings have at most 174,800. */
  json_values: 320_000,
  /** Properties in all objects of a body of at most `body_bytes`. Settings have at most 37,450. */
  json_members: 37_500,
  body_bytes: 1_048_576,
  counts_body_bytes: 25_165_824,
  /** Fits a workspace's configuration that's full of overrides with the longest names. */
  configuration_body_bytes: 25_165_824,
  /** Properties and items in such a body. */
  configuration_json_values: 320_000,
  workspace_name_length: 100,
  /** Workspaces that a person has created and that still exist, the personal one included. */
  workspaces_created: 20,
  /** Workspaces that a person is in, the created ones included. */
  workspaces_joined: 100,
  /** Members whom an organization's host removes from a workspace per hour. Further removals wait for an admin. */
  removals: 20,
  /** Workspaces that a person joins through an organization. These don't count as joined. */
  workspaces_by_organization: 100,
  /** How many such workspaces one person can have created. */
  workspaces_by_organization_of_one: 20,
  /** After this many days without a sign-in, a membership that follows an organization counts as not confirmed. */
  membership_unconfirmed_days: 60,
  patterns_per_workspace: 50,
  /** Patterns of the workspaces that a person is in without an organization, together. */
  patterns_per_person: 1_000,
  pattern_length: 200,
  pattern_stars: 4,
  idle_window_minutes_min: 1,
  idle_window_minutes_max: 15,
  idle_window_minutes_default: 5,
  invite_code_length: 64,
  invite_uses: 1_000,
  invite_hours_max: 2_160,
  invite_hours_default: 168,
  /** How many days after today (UTC) a dashboard's range may end. */
  range_days_ahead: 366,
  page_size_max: 500,
  page_size_default: 500,
  /** An owner, and at GitLab each group in an owner's path. */
  owner_length: 100,
  /** The group path that owns a repository at GitLab. */
  owner_path_length: 255,
  owner_groups: 20,
  repo_length: 100,
  login_length: 100,
  repohost_token_length: 255,
  flush_entries: 200,
  flush_id_length: 64,
  flush_id_days: 32,
  flush_days_back: 30,
  heartbeats: 500,
  heartbeats_body_bytes: 8_388_608,
  /** How long the service keeps the minutes that heartbeats have marked, and unassigned project names. */
  heartbeat_days: 32,
  /**
   * Gaps of up to this length always count, and gaps above the maximum below never do, whatever a workspace's idle
   * window.
   */
  heartbeat_idle_minutes_min: 5,
  heartbeat_idle_minutes_max: 10,
  editor_project_length: 200,
  /** A person's unassigned project names. */
  editor_projects_waiting: 200,
  /** A person's project names that have a repository or are ignored. */
  editor_projects_chosen: 1_000,
  /** Repositories remembered because a person has pushed them or sent their full address. */
  person_repos: 1_000,
  /** How long it remembers them after their last use. */
  person_repo_days: 400,
  /** Size of an imported file as uploaded, and unpacked. The second is the largest signed 32-bit integer. */
  import_body_bytes: 104_857_600,
  import_unpacked_bytes: 2_147_483_647,
  /** Projects in an imported file, projects on one of its days, and the sum of every project's days. */
  import_projects: 2_000,
  import_projects_per_day: 50,
  import_project_days: 50_000,
  /** Repositories and project names on a UTC day of a person that no workspace counts. Minutes of others are left out. */
  personal_repos_per_day: 50,
  /** Rows of a person's own time, one for each local day and repository or project name. */
  own_rows: 100_000,
  /** Repositories with minutes that a person has in a workspace on a local day. */
  repos_per_day: 100,
  /** Local days whose minutes a person removes at once. */
  removed_minutes_days: 31,
  /** How many minutes ahead of the service’s clock flushes and heartbeats count. */
  future_minutes: 10,
  /** How many rows (one per repository, day and workspace) a flush or a request with heartbeats may change. */
  flush_rows: 5_000,
  /** Minutes times the workspaces where they may count, per request with heartbeats or assignment of a name. */
  heartbeat_minutes: 250_000,
  /**
   * The cost of the comparisons that find a flush's workspaces. Each repository costs its characters times those of each
   * pattern of its owner (at most 100, none for a pattern without `*`), with 10 added to both.
   */
  flush_comparisons: 130_000_000,
  /** Repositories and patterns that a person excludes from recording. */
  recording_repos_off: 200,
  minutes_per_day: 1_440,
  minutes_per_hour: 60,
  counts_members: 500,
  counts_repos_per_member: 200,
  /** Like `flush_comparisons`, but for one upload of counts. */
  counts_comparisons: 1_000_000_000,
  count_max: 10_000,
  /** Commits in one webhook delivery. */
  webhook_commits: 10_000,
  webhook_body_bytes: 25_165_824,
  /** Properties and items in a delivery, whose commits can list many files. */
  webhook_json_values: 1_000_000,
  /** The nesting depth of a delivery, most of which isn't read. */
  webhook_json_depth: 1_000,
  /** Older commits don't count. How long the service keeps deliveries and the hashes of commits. */
  webhook_days: 400,
  /** How long a webhook secret works after it was replaced. */
  webhook_secret_hours: 24,
  /** How many replaced secrets of a webhook work at once. Each costs one HMAC per body. */
  webhook_former_secrets: 3,
  /** How many deliveries of a webhook the service lists. */
  webhook_deliveries_listed: 50,
  range_days: 366,
  /** Trends have one number per day in ranges of up to this length, and one per week in longer ranges. */
  trend_days: 31,
  /** How many members, and repositories, a dashboard lists. The last row sums up all others. */
  dashboard_rows: 1_000,
  /** How many projects WakaTime summaries list per day, and in total. */
  summary_projects_per_day: 100,
  summary_projects: 5_000,
  session_days: 30,
  /** Access keys per person, and per workspace, that have neither expired nor been revoked. */
  keys_per_owner: 20,
  key_name_length: 100,
  key_days_default: 365,
  key_days_max: 730,
  /** How long the service recognizes a key that has expired or was revoked. */
  ended_key_days: 400,
  audit_days: 400,
  /** How long the service keeps who viewed whose numbers. */
  view_days: 400,
  /** How long people can read notices about changes that affect them. */
  notice_days: 28,
  /** Of each kind. */
  notices: 50,
  /** How many keys, and repositories, a notice names. */
  notice_names: 20,
  assistant_key_length: 500,
  /** One caller's simultaneous model lookups. */
  assistant_lookups_per_caller: 4,
  funnel_slug_length: 64,
  /** How many sources the funnel lists, and how many events that aren't steps. */
  funnel_names: 100,
  /** One caller's simultaneous requests. Further requests wait. */
  requests_at_once_per_caller: 4,
  /** Simultaneous anonymous requests from one address. Further requests wait. */
  requests_at_once_per_address: 64,
  /**
   * Seconds per minute that the service works on one caller's requests, counting simultaneous ones separately. Callers
   * above this share a few request slots.
   */
  busy_seconds_per_caller: 30,
  /** Requests per minute. */
  rate_per_caller: 600,
  /** Requests per minute and address for the dashboard, the reference, the guides and their files. */
  rate_pages_per_address: 6_000,
  rate_verify_per_address: 30,
  rate_join_per_caller: 10,
  rate_refused_tokens_per_caller: 30,
  /** Unknown, expired and revoked access keys that an address may send. */
  rate_refused_keys_per_address: 600,
  /** Exports of all of a caller's data, per hour. */
  exports_per_hour: 10,
  rate_wrong_signatures_per_address: 600,
  /** Signed deliveries per minute: per workspace, and for all of a person's webhooks. */
  rate_deliveries_per_workspace: 600,
  rate_deliveries_per_person: 1_200,
  /** Rows that deliveries store per day: one for each delivery, new commit and issue. */
  delivered_rows_per_workspace: 25_000,
  delivered_rows_per_person: 50_000,
} as const

type LimitName = keyof typeof limits

/** The limits that the operator can change with `LIMITS`. */
export const rateLimits = {
  rate_per_caller: 'Requests per caller and minute.',
  rate_pages_per_address: 'Requests per address and minute for the dashboard, the reference and their files.',
  rate_verify_per_address: 'Sign-ins per address and minute.',
  rate_join_per_caller: 'Joins and invite lookups per caller and minute.',
  rate_refused_tokens_per_caller: 'Tokens that the repository host may reject, per caller and minute.',
  rate_refused_keys_per_address: 'Invalid access keys per address and minute.',
  rate_wrong_signatures_per_address: 'Wrongly signed webhook calls per address and minute.',
  exports_per_hour: 'Account exports per caller and hour.',
  rate_deliveries_per_workspace: 'Webhook deliveries per workspace and minute.',
  rate_deliveries_per_person: 'Webhook deliveries per minute to all of a person’s webhooks.',
  delivered_rows_per_workspace: 'Deliveries, commits and issues that a workspace’s webhook reports per day.',
  delivered_rows_per_person: 'The same for all of a person’s webhooks.',
  workspaces_created: 'Existing workspaces that a person has created.',
  workspaces_joined: 'Workspaces that a person is in, not counting those joined through an organization.',
  patterns_per_person: 'Patterns of those workspaces together.',
  removals: 'Members removed from a workspace per hour because they left its organization.',
} as const satisfies Partial<Record<LimitName, string>>
export type RateLimitName = keyof typeof rateLimits
/** The values in effect. */
export type AdjustedLimits = Record<RateLimitName, number>

/**
 * How many workspaces a person may create, and be in, and how many patterns the latter may have. People who have more
 * keep them. Joining through an organization isn't limited.
 */
export type WorkspaceQuota = Pick<
  AdjustedLimits,
  'workspaces_created' | 'workspaces_joined' | 'patterns_per_person'
>
