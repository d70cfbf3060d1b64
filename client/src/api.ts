/** Written from openapi/openapi.json by `npm run openapi`: what the service takes, answers and refuses. */

export type AccountExport = {
  exported_at: string
  profile: {
    id: string
    login: string
    avatar_url: string
    /** The effective plan: `pro` for everybody while billing is dormant. */
    plan: 'free' | 'pro'
    /** The stored subscription's status. */
    status: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled'
    /** The numeric id at the repository host. */
    repohost_id: number
    timezone: string | null
    created_at: string
  }
  recording: Recording
  billing: {
    customers: ExportedCustomers[]
    subscriptions: ExportedSubscriptions[]
  }
  personal_workspace: {
    id: string
    name: string
    created_at: string
    idle_window_minutes: number
    patterns: string[]
    settings: Settings
    settings_version: number
    settings_updated_at: string
  } | null
  /** The settings of repositories in the personal workspace, with the last 20 versions. */
  personal_settings: ExportedPersonalSettings[]
  personal_overrides: ExportedPersonalOverrides[]
  memberships: ExportedMemberships[]
  /** When the caller was last put out of a workspace, or was made a member instead of an admin. */
  removals: ExportedRemovals[]
  /** Those that the caller made, without their codes. */
  invites: ExportedInvites[]
  /** Versions that the caller pushed, also in workspaces of others, to which the settings belong. */
  settings_written: ExportedSettingsWritten[]
  overrides_written: ExportedOverridesWritten[]
  activity: ExportedActivity[]
  flushes: ExportedFlushes[]
  /** What the caller did, and what was done to the caller. Entries from before people's ids were kept are found by the present login. */
  audit: ExportedAudit[]
  funnel: ExportedFunnel[]
  funnel_days: ExportedFunnelDays[]
  /** Who looked at the caller; see `GET /api/me/views`. */
  views: View[]
  /** When the caller looked at the numbers of a team. */
  views_of_others: ExportedViewsOfOthers[]
  /** When the caller ended all sessions. */
  signed_out: ExportedSignedOut[]
}

export type AuditEntry = {
  id: string
  at: string
  /** Their login at that moment. */
  actor: string
  /** `noun.verb` */
  action: string
  /** A login, a repository, or the id of an invite. */
  target: string | null
  /** What belongs to the action, for example the role before and after. */
  details: Record<string, unknown>
}

/** A notification in the provider's own shape; what is not listed is ignored. */
export type BillingEvent = {
  id: string
  type: string
  /** Seconds since the epoch: what orders the events of a subscription. */
  created?: number
  data?: {
    object?: Record<string, never> & Record<string, unknown>
  }
}

export type BillingUrl = {
  /** A page of the billing provider to send the browser to; short-lived. */
  url: string
}

export type CountsResult = {
  /** Counts that are new or have changed. */
  upserted: number
  /** Counts that were the same before, and zeros where there was nothing. */
  unchanged: number
  /** Logins that are no members (one entry each), and repositories that match no pattern. */
  skipped: SkippedCount[]
}

export type Dashboard = {
  workspace: {
    id: string
    name: string
  }
  range: DayRange
  idle_window_minutes: number
  totals: Totals
  /** Of as many days just before the range, widened to whole weeks where they are shown as published. */
  previous_totals: Totals
  /** Every day of the range, oldest first; numbers that are withheld are null. */
  daily: DashboardDay[]
  /** Most minutes first. Everybody who is in the workspace, also without activity, and who has left but was active in the range; with `repo` only those with activity in it. Of the days that are shown as published weeks nobody is listed. */
  members: DashboardMember[]
  /** Those with activity, most minutes first. */
  repos: DashboardRepo[]
  /** All 168 cells, Monday 0:00 first, in each member's own local hours; minutes that are withheld are null. Minutes without an hour, and hours older than the service keeps them, are in none. A day counts only if at least 2 people other than the caller had hours on it, with `repo` in that repository; within the day, time zones that show different hours are judged separately. With `repo`, a repository is also left out where the hours of the other repositories would otherwise be those of one person. Null if hours exist and no day counts, with `member` for anyone but the caller, and where nothing of it is published. The caller’s own heatmap is always complete. */
  heatmap: HeatmapCell[] | null
  generated_at: string
}

export type EffectiveConfig = {
  repo: string
  workspace_id: string
  matched_pattern: string
  idle_window_minutes: number
  settings: Settings
  /** For each key of `settings`, where its value comes from. */
  sources: Record<string, 'workspace' | 'project'>
  /** The caller's other matching workspaces, best first. */
  also_matched: string[]
}

export type FlushResult = {
  /** Entries that count in full. */
  accepted: number
  /** Entries that were cut in at least one workspace, or by the hours that the caller lets be recorded. */
  capped: number
  /** Entries that count nowhere. */
  ignored: number
  /** True: this is the answer of the first flush with this id. */
  duplicate: boolean
  /** One for each entry that was not accepted. */
  notes: FlushNote[]
}

export type Funnel = {
  range: {
    from: string | null
    to: string | null
  }
  /** Different users. */
  users: number
  steps: FunnelStep[]
  /** The 100 with the most users. */
  by_source: SourceCount[]
  /** The 100 with the most users that are no step. */
  other_events: EventCount[]
}

export type Invite = {
  id: string
  code: string
  role: 'admin' | 'member'
  max_uses: number | null
  used_count: number
  expires_at: string
  status: 'active' | 'revoked' | 'expired' | 'exhausted'
  created_by: string
  created_at: string
}

export type Limits = {
  settings_bytes: number
  settings_key_length: number
  settings_versions_kept: number
  workspace_bytes: number
  json_depth: number
  json_values: number
  body_bytes: number
  counts_body_bytes: number
  workspace_name_length: number
  workspaces_per_user: number
  patterns_per_workspace: number
  pattern_length: number
  pattern_stars: number
  idle_window_minutes_min: number
  idle_window_minutes_max: number
  idle_window_minutes_default: number
  invite_code_length: number
  invite_uses: number
  invite_hours_max: number
  invite_hours_default: number
  page_size_max: number
  page_size_default: number
  owner_length: number
  repo_length: number
  login_length: number
  repohost_token_length: number
  flush_entries: number
  flush_id_length: number
  flush_id_days: number
  flush_days_back: number
  flush_rows: number
  flush_comparisons: number
  recording_repos_off: number
  minutes_per_day: number
  minutes_per_hour: number
  counts_members: number
  counts_repos_per_member: number
  counts_comparisons: number
  count_max: number
  range_days: number
  trend_days: number
  dashboard_rows: number
  session_days: number
  audit_days: number
  view_days: number
  assistant_key_length: number
  assistant_lookups_per_caller: number
  funnel_slug_length: number
  funnel_names: number
  requests_at_once_per_caller: number
  requests_at_once_per_address: number
  requests_at_once_per_connection: number
  requests_per_connection: number
  busy_seconds_per_caller: number
  rate_per_caller: number
  rate_pages_per_address: number
  rate_verify_per_address: number
  rate_join_per_caller: number
  rate_refused_tokens_per_caller: number
  exports_per_hour: number
  rate_wrong_signatures_per_address: number
  /** Keys of settings start with this and a dot. */
  extension_prefix: string
}

export type Member = {
  login: string
  avatar_url: string
  role: 'admin' | 'member'
  joined_at: string
  /** The last UTC day with active minutes in this workspace; null when there is none, and for everybody at the privacy level `team`. */
  last_active_day: string | null
}

export type MinutesOfDay = {
  day: string
  /** All workspaces of the caller, oldest first; in the answer for a range only those with minutes on the day. */
  workspaces: WorkspaceMinutes[]
}

export type MinutesOfRange = {
  range: DayRange
  /** Every day of the range. */
  days: DayMinutes[]
}

export type Model = {
  id: string
  /** For people; the id where the provider has no name. */
  name: string
  /** Null where the provider does not say. */
  created_at: string | null
}

export type Ok = {
  ok: true
}

export type Override = {
  owner: string
  repo: string
  settings: Settings
  updated_at: string
  updated_by: string
}

export type Privacy = {
  /** The loosest level that a workspace can have here. */
  activity_privacy_floor: 'named' | 'team'
  /** How many people stand behind every number that the level `team` shows. */
  activity_min_group: number
  /** How many days the hours of activity are kept. */
  activity_detail_days: number
  /** Everything that is kept of people. */
  records: PrivacyRecord[]
  not_recorded: string[]
  /** Who sees what. Whoever runs the service and its database can read everything that is kept. */
  shown: PrivacyView[]
}

export type Profile = {
  id: string
  login: string
  avatar_url: string
  /** The effective plan: `pro` for everybody while billing is dormant. */
  plan: 'free' | 'pro'
  /** The stored subscription's status. */
  status: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled'
}

export type PushResult = {
  owner: string
  repo: string
  workspace_id: string
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  updated_at: string
  updated_by: string
  /** False when the content was the same: nothing moved. */
  changed: boolean
  /** Whether this push made the personal workspace. */
  workspace_created: boolean
}

export type Recording = {
  /** True: nothing is recorded. */
  paused: boolean
  /** Repositories, or patterns as those of a workspace, in which nothing is recorded. */
  repos_off: string[]
  hours: RecordingHours
}

export type Snapshot = {
  owner: string
  repo: string
  workspace_id: string
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  updated_at: string
  updated_by: string
  settings: Settings
}

export type VerifyResult = {
  /** The session token (JWT), valid for 30 days. */
  token: string
  login: string
  avatar_url: string
}

/** All looks of a viewer on a day in a workspace that showed the caller by name. */
export type View = {
  /** Who looked; `deleted user` for somebody who has deleted the account. */
  viewer: string
  workspace: {
    id: string
    name: string
  }
  /** The UTC day of the look. */
  day: string
  /** What was looked at: of several looks of a day from the first to the last day. */
  range: {
    from: string
    to: string
  }
  /** `csv`: also as a file to keep. */
  kind: 'dashboard' | 'csv'
}

export type Workspace = {
  id: string
  name: string
  personal: boolean
  role: 'admin' | 'member'
  idle_window_minutes: number
  /** `named`: admins see what each member did. `team`: nobody but the person does, and of the team only weeks that were published, with enough people behind every number. */
  activity_privacy: 'named' | 'team'
  /** Since when this level is in force. */
  activity_privacy_since: string
  patterns: string[]
  member_count: number
  created_at: string
}

export type WorkspaceSettings = {
  idle_window_minutes: number
  /** `named`: admins see what each member did. `team`: nobody but the person does, and of the team only weeks that were published, with enough people behind every number. */
  activity_privacy: 'named' | 'team'
  /** Since when this level is in force. */
  activity_privacy_since: string
  settings: Settings
  /** Raised by every change, without gaps. */
  version: number
  updated_at: string
}

export type Health = {
  ok: true
  version: string
}

export type VerifyBody = {
  /** A personal access token or an OAuth token of the repository host. It is used once and not stored. */
  repohost_token: string
  /** Also set the cookie `svc_token` (over https its twin `__Host-svc_token` too), as the browser login does; only for pages of a known dashboard or of the service itself. */
  cookie?: boolean
}

export type LogoutBody = {
  /** Also end all other sessions of the caller. */
  everywhere?: boolean
}

export type DeleteAccountBody = {
  /** The caller's own login. */
  confirm: string
}

export type Project = {
  owner: string
  repo: string
  workspace_id: string
  workspace_name: string
  role: 'admin' | 'member'
  /** Whether settings were pushed. */
  synced: boolean
  has_override: boolean
  version: number | null
  updated_at: string | null
}

export type ProjectPage = {
  projects: Project[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

export type ViewPage = {
  views: View[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

/** Keys start with `ext.`, the prefix of the extension, and have at most 200 characters. The JSON text has at most 262144 bytes of UTF-8. */
export type SettingsInput = Record<string, unknown>

export type PushBody = {
  settings: SettingsInput
}

/** Nothing: absent or `{}`. */
export type NoBody = Record<string, never>

export type SnapshotVersion = {
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  created_at: string
  created_by: string
}

export type SnapshotVersionList = {
  /** The last 20, newest first, the current one included. */
  versions: SnapshotVersion[]
}

export type RestoreBody = {
  version: number
}

export type JoinBody = {
  code: string
}

export type JoinResult = {
  workspace: Workspace
  already_member: boolean
}

export type MyWorkspaces = {
  id: string
  login: string
  workspaces: Workspace[]
}

export type PatternList = string[]

export type CreateWorkspaceBody = {
  name: string
  patterns?: PatternList
}

export type CreatedWorkspace = {
  workspace: Workspace
  invite: Invite
}

export type RenameBody = {
  name: string
}

export type MemberPage = {
  members: Member[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

export type ChangeRoleBody = {
  /** Compared without case. */
  login: string
  role: 'admin' | 'member'
}

export type WorkspaceToJoin = {
  name: string
  member_count: number
  patterns: string[]
  /** `named`: admins see what each member did. `team`: nobody but the person does, and of the team only weeks that were published, with enough people behind every number. */
  activity_privacy: 'named' | 'team'
}

export type InviteLookup = {
  workspace: WorkspaceToJoin
  role: 'admin' | 'member'
  status: 'active' | 'revoked' | 'expired' | 'exhausted'
  expires_at: string
}

export type InvitePage = {
  invites: Invite[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

export type CreateInviteBody = {
  /** What who joins with it becomes. */
  role?: 'admin' | 'member'
  expires_in_hours?: number
  /** How many may join with it; null: no limit. */
  max_uses?: number | null
}

export type Patterns = {
  patterns: string[]
}

export type PatternsBody = {
  patterns: PatternList
}

/** A JSON Merge Patch (RFC 7396) on the first level of keys: `null` removes a key, any other value replaces it where it stands, new keys go last. The merged JSON text has at most 262144 bytes of UTF-8. */
export type SettingsPatch = Record<string, unknown>

export type WorkspaceSettingsPatch = {
  idle_window_minutes?: number
  /** `named`: admins see what each member did. `team`: nobody but the person does, and of the team only weeks that were published, with enough people behind every number. */
  activity_privacy?: 'named' | 'team'
  settings?: SettingsPatch
}

export type OverridePage = {
  overrides: Override[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

export type OverrideBody = {
  settings: SettingsInput
}

export type AuditPage = {
  entries: AuditEntry[]
  /** Pass it as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

export type MinutesEntry = {
  repo: string
  day: string
  minutes: number
  /** From UTC hour (`"0"` to `"23"`) to the minutes in it; their sum is at most `minutes`. What is left belongs to no hour. */
  hours?: Record<string, number>
}

export type FlushBody = {
  entries: MinutesEntry[]
  /** An IANA time zone name; remembered for the heatmap. No numeric offsets. */
  timezone?: string
  /** Chosen by the client for one flush and sent again with every retry of it. Remembered for 32 days. */
  flush_id?: string
}

export type RepoCount = {
  repo: string
  count: number
}

export type MemberCounts = {
  login: string
  repos: RepoCount[]
}

export type CountsBody = {
  workspace: string
  /** A UTC day from 2000-01-01 to tomorrow. */
  day: string
  members: MemberCounts[]
}

export type CheckoutBody = {
  /** How often to pay; by default the month, or what the installation offers. */
  interval?: 'month' | 'year'
}

export type Received = {
  received: true
}

export type ModelList = {
  models: Model[]
}

export type EventBody = {
  event: string
  /** Where it happened; `service` is what the service itself records. */
  source: string
}

export type ExportedCustomers = {
  id: string
  created_at: string
}

export type ExportedSubscriptions = {
  id: string
  customer_id: string
  /** The stored subscription's status. */
  status: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled'
  updated_at: string
}

export type Settings = Record<string, unknown>

export type ExportedPersonalSettings = {
  owner: string
  repo: string
  version: number
  settings: Settings
  created_at: string
}

export type ExportedPersonalOverrides = {
  owner: string
  repo: string
  settings: Settings
  updated_at: string
}

export type ExportedMemberships = {
  workspace: {
    id: string
    name: string
    personal: boolean
  }
  role: 'admin' | 'member'
  joined_at: string
}

export type ExportedRemovals = {
  workspace_id: string
  removed_at: string
}

export type ExportedInvites = {
  id: string
  workspace_id: string
  role: 'admin' | 'member'
  max_uses: number | null
  used_count: number
  created_at: string
  expires_at: string
  revoked_at: string | null
}

export type ExportedSettingsWritten = {
  workspace_id: string
  owner: string
  repo: string
  version: number
  created_at: string
}

export type ExportedOverridesWritten = {
  workspace_id: string
  owner: string
  repo: string
  updated_at: string
}

export type ExportedActivity = {
  workspace_id: string
  day: string
  repo: string
  minutes: number
  commits: number
  closed_issues: number
  /** The minutes of the 24 UTC hours, where they are known. */
  hours: number[] | null
}

export type ExportedFlushes = {
  flush_id: string
  answer: Record<string, unknown>
  created_at: string
}

export type ExportedAudit = {
  id: string
  at: string
  workspace_id: string
  /** Null: somebody else. */
  actor: string | null
  action: string
  /** Null: somebody else, or nothing. */
  target: string | null
  details: Record<string, unknown>
}

export type ExportedFunnel = {
  event: string
  source: string
  first_at: string
  events: number
}

export type ExportedFunnelDays = {
  event: string
  source: string
  first_at: string
  events: number
  day: string
}

export type ExportedViewsOfOthers = {
  workspace_id: string
  day: string
  from: string
  to: string
  exported: boolean
}

export type ExportedSignedOut = {
  revoked_at: string
  expires_at: string
}

export type SkippedCount = {
  login: string
  repo?: string
  code: 'member_not_found' | 'repo_outside_patterns'
}

export type DayRange = {
  from: string
  to: string
  days: number
}

export type Totals = {
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** With more than 0 minutes; where published weeks are added up, the largest of them. */
  active_members: number | null
}

export type DashboardDay = {
  day: string
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** With more than 0 minutes; where published weeks are added up, the largest of them. */
  active_members: number | null
}

export type DashboardMember = {
  /** Null: all members beyond the first 999 and people whose accounts were deleted, in the last row. */
  login: string | null
  avatar_url: string
  /** Null: has left, but was active in the range. */
  role: 'admin' | 'member' | null
  active_minutes: number
  /** Days with more than 0 minutes; of several members, those of each added up. */
  active_days: number
  commits: number
  closed_issues: number
  /** The last day of the range with more than 0 minutes. */
  last_active_day: string | null
  /** Only with `trends=true`: the row's active minutes on each day of the range, oldest first; in ranges of more than 31 days in each ISO week (Monday to Sunday, UTC) that has days in the range, of which the first and the last count only those days. So the numbers add up to `active_minutes`. Where published weeks are shown, repositories have none, and those weeks are 0 for members. */
  trend?: number[]
}

export type DashboardRepo = {
  /** Null: all repositories beyond the first 999, and what the published repositories lack of the total, in the last row. */
  repo: string | null
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** With any activity in the repository; where published weeks are added up, with minutes in it, in the week with most of them. */
  members: number | null
  /** Only with `trends=true`: the row's active minutes on each day of the range, oldest first; in ranges of more than 31 days in each ISO week (Monday to Sunday, UTC) that has days in the range, of which the first and the last count only those days. So the numbers add up to `active_minutes`. Where published weeks are shown, repositories have none, and those weeks are 0 for members. */
  trend?: number[]
}

export type HeatmapCell = {
  /** ISO: 1 is Monday. */
  weekday: number
  hour: number
  minutes: number | null
}

export type FlushNote = {
  /** Of the entry in the request. */
  index: number
  status: 'capped' | 'ignored'
  /** `hour_full` also where the day was full as well; `recording_off` (see `PUT /api/me/recording`) also where something was full or the repository matches nothing; `day_out_of_window` before all others. */
  code: 'hour_full' | 'day_full' | 'repo_not_matched' | 'day_out_of_window' | 'recording_off'
}

export type FunnelStep = {
  event: string
  /** Different users. */
  users: number
  /** Events, repeated ones counted. */
  events: number
  /** From 0 to 1: the users who have both, by those who have the other one; null without any. */
  conversion_from_previous: number | null
  /** From 0 to 1: the users who have both, by those who have the other one; null without any. */
  conversion_from_start: number | null
  /** Between the first event of each, over the users who have both; a step before the start counts as 0. */
  median_seconds_from_start: number | null
}

export type SourceCount = {
  source: string
  /** Different users. */
  users: number
  /** Events, repeated ones counted. */
  events: number
}

export type EventCount = {
  event: string
  /** Different users. */
  users: number
  /** Events, repeated ones counted. */
  events: number
}

export type RepoMinutes = {
  repo: string
  minutes: number
}

export type WorkspaceMinutes = {
  workspace_id: string
  name: string
  minutes: number
  /** Those with minutes, most minutes first. */
  repos: RepoMinutes[]
}

export type DayMinutes = {
  day: string
  workspaces: WorkspaceMinutes[]
}

export type PrivacyRecord = {
  name: string
  what: string
  fields: string[]
  why: string
  /** Null: not a number of days; `kept` says how long. */
  kept_days: number | null
  kept: string
}

export type PrivacyView = {
  what: string
  /** Who sees it in a workspace of the level `named`. */
  named: string
  /** Who sees it in a workspace of the level `team`. */
  team: string
}

/** The hours that are recorded, in the person's time zone; null: all. A UTC hour counts whole, by the local hour in which it starts, as in the heatmap. Minutes without an hour are not touched. */
export type RecordingHours = {
  /** The first local hour. */
  from: number
  /** The local hour at which recording ends, another one than `from`. An earlier one is on the next day. */
  to: number
  /** ISO: 1 is Monday. The day on which the hours begin, also where they go on after midnight. */
  weekdays: number[]
} | null

/** The request does not fit the schema. Mend what `errors` names. */
export type ProblemValidationFailed = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#validation_failed'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'validation_failed'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** What does not fit, and where. */
  errors: {
    /** A JSON pointer with the part first: `/body/entries/3/minutes`. */
    path: string
    message: string
  }[]
}

/** The body is not JSON that this service accepts. Send one JSON object. */
export type ProblemInvalidJson = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_json'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'invalid_json'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Send an IANA time zone name, for example Europe/Berlin. */
export type ProblemInvalidTimezone = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_timezone'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'invalid_timezone'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** `from` must not be after `to`, and a range has at most 366 days. */
export type ProblemInvalidRange = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_range'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'invalid_range'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Send a token of the repository host in the header X-Repohost-Token. */
export type ProblemRepohostTokenRequired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repohost_token_required'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'repohost_token_required'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This login was not started here, has expired or was already used. Start it again. */
export type ProblemOauthStateInvalid = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#oauth_state_invalid'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'oauth_state_invalid'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** The signature of the notification is missing, wrong or too old. Sign its raw bytes and the time of sending. */
export type ProblemSignatureInvalid = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#signature_invalid'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'signature_invalid'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** The model provider refuses this key. Check it in its console. */
export type ProblemAssistantKeyRejected = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#assistant_key_rejected'
  status: 400
  /** What HTTP calls the status. */
  title: 'Bad Request'
  /** The stable part: decide on this. */
  code: 'assistant_key_rejected'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Send `Authorization: Bearer <token>`; POST /api/auth/verify gives you one. */
export type ProblemUnauthenticated = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unauthenticated'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'unauthenticated'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This session token is not valid. Sign in again. */
export type ProblemTokenInvalid = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_invalid'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'token_invalid'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This session has expired. Sign in again. */
export type ProblemTokenExpired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_expired'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'token_expired'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This session was signed out. Sign in again. */
export type ProblemTokenRevoked = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_revoked'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'token_revoked'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** The repository host refuses this token. Create a new one there. */
export type ProblemRepohostTokenInvalid = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repohost_token_invalid'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'repohost_token_invalid'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Send an admin key in X-Service-Admin-Key or as query `key`. */
export type ProblemAdminKeyInvalid = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#admin_key_invalid'
  status: 401
  /** What HTTP calls the status. */
  title: 'Unauthorized'
  /** The stable part: decide on this. */
  code: 'admin_key_invalid'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This needs a Pro subscription; POST /api/billing/checkout starts one. */
export type ProblemProRequired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#pro_required'
  status: 402
  /** What HTTP calls the status. */
  title: 'Payment Required'
  /** The stable part: decide on this. */
  code: 'pro_required'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** No workspace of yours matches this repository. Ask an admin for an invite. */
export type ProblemNotAMember = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#not_a_member'
  status: 403
  /** What HTTP calls the status. */
  title: 'Forbidden'
  /** The stable part: decide on this. */
  code: 'not_a_member'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Only an admin of the workspace may do this. Ask one of them. */
export type ProblemAdminRequired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#admin_required'
  status: 403
  /** What HTTP calls the status. */
  title: 'Forbidden'
  /** The stable part: decide on this. */
  code: 'admin_required'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** The token of the repository host is not yours, or gives no access to this repository. Use one that does. */
export type ProblemRepoAccessDenied = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_access_denied'
  status: 403
  /** What HTTP calls the status. */
  title: 'Forbidden'
  /** The stable part: decide on this. */
  code: 'repo_access_denied'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** What a single member did is shown to nobody but them here: the workspace has, or had in this range, the privacy level `team`. Ask without `member`. */
export type ProblemMemberDetailHidden = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#member_detail_hidden'
  status: 403
  /** What HTTP calls the status. */
  title: 'Forbidden'
  /** The stable part: decide on this. */
  code: 'member_detail_hidden'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** A cookie-authenticated change must come from a known dashboard origin. From elsewhere send a Bearer token. */
export type ProblemCsrfRejected = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#csrf_rejected'
  status: 403
  /** What HTTP calls the status. */
  title: 'Forbidden'
  /** The stable part: decide on this. */
  code: 'csrf_rejected'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Nothing was ever pushed for this repository. Push its settings first. */
export type ProblemNeverSynced = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#never_synced'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'never_synced'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** There is no such workspace, or you are not a member of it. Check the id, or ask an admin for an invite. */
export type ProblemWorkspaceNotFound = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_not_found'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'workspace_not_found'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Nobody with this login is a member of the workspace. Check the login. */
export type ProblemMemberNotFound = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#member_not_found'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'member_not_found'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** There is no such invite. Check that it was copied whole. */
export type ProblemInviteNotFound = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_not_found'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'invite_not_found'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This repository has no override in this workspace. There is nothing to remove. */
export type ProblemOverrideNotFound = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#override_not_found'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'override_not_found'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This version does not exist or is no longer kept. List the versions to see which are. */
export type ProblemVersionNotFound = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#version_not_found'
  status: 404
  /** What HTTP calls the status. */
  title: 'Not Found'
  /** The stable part: decide on this. */
  code: 'version_not_found'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** No workspace of yours matches this repository. Create or extend one with the suggested pattern. */
export type ProblemWorkspaceRequired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_required'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'workspace_required'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** A pattern that matches the repository and all others of its owner. */
  suggested_pattern: string
}

/** A workspace keeps at least one admin. Make somebody else admin first. */
export type ProblemLastAdmin = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#last_admin'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'last_admin'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** Those that would have no admin. */
  workspaces: {
    id: string
    name: string
  }[]
}

/** A personal workspace takes no invites, joins or leaves. Create another one for a team. */
export type ProblemPersonalWorkspace = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#personal_workspace'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'personal_workspace'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Your subscription is still running. End it first; POST /api/billing/portal leads there. */
export type ProblemSubscriptionActive = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#subscription_active'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'subscription_active'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** You have no billing account yet; POST /api/billing/checkout creates one. */
export type ProblemNoSubscription = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#no_subscription'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'no_subscription'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This flush_id was already used with other content. Use a new one. */
export type ProblemFlushIdReused = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#flush_id_reused'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'flush_id_reused'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** A user is in at most 200 workspaces. Leave or delete one first. */
export type ProblemWorkspaceLimit = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_limit'
  status: 409
  /** What HTTP calls the status. */
  title: 'Conflict'
  /** The stable part: decide on this. */
  code: 'workspace_limit'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This invite has expired. Ask for a new one. */
export type ProblemInviteExpired = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_expired'
  status: 410
  /** What HTTP calls the status. */
  title: 'Gone'
  /** The stable part: decide on this. */
  code: 'invite_expired'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This invite has no uses left. Ask for a new one. */
export type ProblemInviteExhausted = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_exhausted'
  status: 410
  /** What HTTP calls the status. */
  title: 'Gone'
  /** The stable part: decide on this. */
  code: 'invite_exhausted'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This invite was revoked. Ask for a new one. */
export type ProblemInviteRevoked = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_revoked'
  status: 410
  /** What HTTP calls the status. */
  title: 'Gone'
  /** The stable part: decide on this. */
  code: 'invite_revoked'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Somebody changed it meanwhile. Pull, merge and push again. */
export type ProblemVersionConflict = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#version_conflict'
  status: 412
  /** What HTTP calls the status. */
  title: 'Precondition Failed'
  /** The stable part: decide on this. */
  code: 'version_conflict'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** The version that is there; null when nothing is. */
  current_version: number | null
}

/** The body is larger than this route takes. Send less at once. */
export type ProblemPayloadTooLarge = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#payload_too_large'
  status: 413
  /** What HTTP calls the status. */
  title: 'Payload Too Large'
  /** The stable part: decide on this. */
  code: 'payload_too_large'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** The settings are larger than the limit. Shorten or remove some. */
export type ProblemSettingsTooLarge = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#settings_too_large'
  status: 413
  /** What HTTP calls the status. */
  title: 'Payload Too Large'
  /** The stable part: decide on this. */
  code: 'settings_too_large'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** How many bytes there may be. */
  limit_bytes: number
  /** How many bytes there would be. */
  actual_bytes: number
}

/** The overrides and current settings of this workspace take up all of its room. Remove some first. */
export type ProblemWorkspaceFull = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_full'
  status: 413
  /** What HTTP calls the status. */
  title: 'Payload Too Large'
  /** The stable part: decide on this. */
  code: 'workspace_full'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** How many bytes there may be. */
  limit_bytes: number
}

/** Send the body as application/json. */
export type ProblemUnsupportedMediaType = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unsupported_media_type'
  status: 415
  /** What HTTP calls the status. */
  title: 'Unsupported Media Type'
  /** The stable part: decide on this. */
  code: 'unsupported_media_type'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** This repository matches no pattern of the workspace. Add a pattern that matches it first. */
export type ProblemRepoOutsidePatterns = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_outside_patterns'
  status: 422
  /** What HTTP calls the status. */
  title: 'Unprocessable Entity'
  /** The stable part: decide on this. */
  code: 'repo_outside_patterns'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Too many requests. Wait for the seconds in Retry-After. */
export type ProblemRateLimited = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#rate_limited'
  status: 429
  /** What HTTP calls the status. */
  title: 'Too Many Requests'
  /** The stable part: decide on this. */
  code: 'rate_limited'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Something failed on our side. Try again later; the request id helps us find it. */
export type ProblemInternalError = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#internal_error'
  status: 500
  /** What HTTP calls the status. */
  title: 'Internal Server Error'
  /** The stable part: decide on this. */
  code: 'internal_error'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Another service that this needs has failed. Try again later. */
export type ProblemUpstreamFailed = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#upstream_failed'
  status: 502
  /** What HTTP calls the status. */
  title: 'Bad Gateway'
  /** The stable part: decide on this. */
  code: 'upstream_failed'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** Which other service it was. */
  upstream: 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'
}

/** The service cannot answer right now. Try again after the seconds in Retry-After. */
export type ProblemUnavailable = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unavailable'
  status: 503
  /** What HTTP calls the status. */
  title: 'Service Unavailable'
  /** The stable part: decide on this. */
  code: 'unavailable'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Sign-in through the browser is not configured here; use POST /api/auth/verify. */
export type ProblemOauthNotConfigured = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#oauth_not_configured'
  status: 503
  /** What HTTP calls the status. */
  title: 'Service Unavailable'
  /** The stable part: decide on this. */
  code: 'oauth_not_configured'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Billing is not configured on this installation. Only its operator can change that. */
export type ProblemBillingNotConfigured = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#billing_not_configured'
  status: 503
  /** What HTTP calls the status. */
  title: 'Service Unavailable'
  /** The stable part: decide on this. */
  code: 'billing_not_configured'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
}

/** Another service that this needs did not answer in time. Try again later. */
export type ProblemUpstreamTimeout = {
  /** Where the code is explained: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#upstream_timeout'
  status: 504
  /** What HTTP calls the status. */
  title: 'Gateway Timeout'
  /** The stable part: decide on this. */
  code: 'upstream_timeout'
  /** What to do next, for people. */
  detail: string
  /** The `X-Request-Id` of the answer. */
  request_id: string
  /** Which other service it was. */
  upstream: 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'
}

/** For each operation what it takes, what it answers and how it can fail. */
export interface Operations {
  /** Whether the process is alive */
  'GET /api/health': {
    request: unknown
    answer: Health
    problem: ProblemValidationFailed | ProblemInternalError
  }
  /** Whether requests can be served */
  'GET /api/ready': {
    request: unknown
    answer: Ok
    problem: ProblemValidationFailed | ProblemInternalError | ProblemUnavailable
  }
  /** Exchange a repository-host token for a session token */
  'POST /api/auth/verify': {
    request: {
      body: VerifyBody
    }
    answer: VerifyResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenInvalid | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemUpstreamTimeout
  }
  /** Sign out */
  'POST /api/auth/logout': {
    request: {
      body?: LogoutBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The caller's profile */
  'GET /api/me': {
    request: unknown
    answer: Profile
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** End the caller's account */
  'DELETE /api/me': {
    request: {
      body: DeleteAccountBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemLastAdmin | ProblemSubscriptionActive | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Repositories visible through the caller's workspace patterns */
  'GET /api/projects': {
    request: {
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: ProjectPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** What the caller lets be recorded */
  'GET /api/me/recording': {
    request: unknown
    answer: Recording
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Choose what is recorded */
  'PUT /api/me/recording': {
    request: {
      body: Recording
    }
    answer: Recording
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Everything that the service knows of the caller, as a file */
  'GET /api/me/export': {
    request: unknown
    answer: AccountExport
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Who looked at the caller's numbers by name */
  'GET /api/me/views': {
    request: {
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: ViewPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Pull the settings of a repository */
  'GET /api/settings/{owner}/{repo}': {
    request: {
      path: {
        owner: string
        repo: string
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: Snapshot
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Push the settings of a repository */
  'PUT /api/settings/{owner}/{repo}': {
    request: {
      path: {
        owner: string
        repo: string
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
        /** As the header `If-Match`: Change only this `ETag` (or one of several, or `*` for any); otherwise 412. */
        if_match?: string | undefined
        /** As the header `If-None-Match`: `*`: change only if nothing is there; otherwise 412. */
        if_none_match?: string | undefined
      }
      headers: {
        /** The caller's own token of the repository host: checked there, never stored. */
        'X-Repohost-Token': string
        /** Change only this `ETag` (or one of several, or `*` for any); otherwise 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if nothing is there; otherwise 412. */
        'If-None-Match'?: string | undefined
      }
      body: PushBody
    }
    answer: PushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenRequired | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRepohostTokenInvalid | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemRepoAccessDenied | ProblemWorkspaceNotFound | ProblemWorkspaceRequired | ProblemWorkspaceLimit | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemUpstreamTimeout
  }
  /** Remove the settings of a repository */
  'DELETE /api/settings/{owner}/{repo}': {
    request: {
      path: {
        owner: string
        repo: string
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The last versions of the settings */
  'GET /api/settings/{owner}/{repo}/versions': {
    request: {
      path: {
        owner: string
        repo: string
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: SnapshotVersionList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** One of the last versions, whole */
  'GET /api/settings/{owner}/{repo}/versions/{version}': {
    request: {
      path: {
        owner: string
        repo: string
        version: number
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: Snapshot
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Make an old version the newest */
  'POST /api/settings/{owner}/{repo}/restore': {
    request: {
      path: {
        owner: string
        repo: string
      }
      query?: {
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
      body: RestoreBody
    }
    answer: PushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemPayloadTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Join a workspace with an invite code */
  'POST /api/team/workspaces/join': {
    request: {
      body: JoinBody
    }
    answer: JoinResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemInviteNotFound | ProblemWorkspaceLimit | ProblemInviteExpired | ProblemInviteExhausted | ProblemInviteRevoked | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The caller's workspaces */
  'GET /api/team/me': {
    request: unknown
    answer: MyWorkspaces
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create a workspace and a first invite */
  'POST /api/team/workspaces/create': {
    request: {
      body: CreateWorkspaceBody
    }
    answer: CreatedWorkspace
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemWorkspaceLimit | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Rename a workspace */
  'PATCH /api/team/workspaces/{id}': {
    request: {
      path: {
        id: string
      }
      body: RenameBody
    }
    answer: Workspace
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Delete a workspace with all of its data */
  'DELETE /api/team/workspaces/{id}': {
    request: {
      path: {
        id: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the members */
  'GET /api/team/workspaces/{id}/members': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: MemberPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Change a member's role */
  'PATCH /api/team/workspaces/{id}/members': {
    request: {
      path: {
        id: string
      }
      body: ChangeRoleBody
    }
    answer: Member
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Remove a member */
  'DELETE /api/team/workspaces/{id}/members': {
    request: {
      path: {
        id: string
      }
      query: {
        /** Compared without case. */
        login: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Leave a workspace */
  'POST /api/team/workspaces/{id}/leave': {
    request: {
      path: {
        id: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemWorkspaceNotFound | ProblemPersonalWorkspace | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** See what an invite code leads to */
  'GET /api/team/invites/{code}': {
    request: {
      path: {
        code: string
      }
    }
    answer: InviteLookup
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemInviteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the active invites */
  'GET /api/team/workspaces/{id}/invites': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: InvitePage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create an invite */
  'POST /api/team/workspaces/{id}/invites': {
    request: {
      path: {
        id: string
      }
      body?: CreateInviteBody
    }
    answer: Invite
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPersonalWorkspace | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Revoke an invite */
  'DELETE /api/team/workspaces/{id}/invites/{invite}': {
    request: {
      path: {
        id: string
        invite: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemInviteNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the repo patterns */
  'GET /api/team/workspaces/{id}/patterns': {
    request: {
      path: {
        id: string
      }
    }
    answer: Patterns
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Replace the repo patterns */
  'PUT /api/team/workspaces/{id}/patterns': {
    request: {
      path: {
        id: string
      }
      body: PatternsBody
    }
    answer: Patterns
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The workspace's idle window and settings */
  'GET /api/team/workspaces/{id}/settings': {
    request: {
      path: {
        id: string
      }
    }
    answer: WorkspaceSettings
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Change the idle window or the privacy level, merge keys into the settings, or all of it */
  'PATCH /api/team/workspaces/{id}/settings': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** As the header `If-Match`: Change only this `ETag` (or one of several, or `*` for any); otherwise 412. */
        if_match?: string | undefined
        /** As the header `If-None-Match`: `*`: change only if nothing is there; otherwise 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only this `ETag` (or one of several, or `*` for any); otherwise 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if nothing is there; otherwise 412. */
        'If-None-Match'?: string | undefined
      }
      body?: WorkspaceSettingsPatch
    }
    answer: WorkspaceSettings
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the per-repo overrides */
  'GET /api/team/workspaces/{id}/project-settings': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: OverridePage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Set the override of a repository */
  'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    request: {
      path: {
        id: string
        owner: string
        repo: string
      }
      body: OverrideBody
    }
    answer: Override
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRepoOutsidePatterns | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Remove the override of a repository */
  'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    request: {
      path: {
        id: string
        owner: string
        repo: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The settings that hold for a repository */
  'GET /api/team/effective-config': {
    request: {
      query: {
        repo: string
        /** Act on this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: EffectiveConfig
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemNotAMember | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Who changed what, and when */
  'GET /api/team/workspaces/{id}/audit': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The previous page's `next_cursor`. */
        cursor?: string | undefined
      }
    }
    answer: AuditPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Add active minutes */
  'POST /api/team/active-minutes': {
    request: {
      body: FlushBody
    }
    answer: FlushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemInvalidTimezone | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemFlushIdReused | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** The caller's own active minutes per workspace */
  'GET /api/team/active-minutes': {
    request: {
      query?: {
        /** A UTC day; default: today. */
        day?: string | undefined
        /** Instead of `day`: the first UTC day. */
        from?: string | undefined
        /** Instead of `day`: the last UTC day. */
        to?: string | undefined
      }
    }
    answer: MinutesOfDay | MinutesOfRange
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Set the commit counts of a day */
  'POST /api/team/commits': {
    request: {
      body: CountsBody
    }
    answer: CountsResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Set the closed-issue counts of a day */
  'POST /api/team/closed-issues': {
    request: {
      body: CountsBody
    }
    answer: CountsResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** What the team did */
  'GET /api/team/dashboard': {
    request: {
      query: {
        workspace: string
        /** The first UTC day; default: 30 days with `to`. */
        from?: string | undefined
        /** The last UTC day; default: 30 days with `from`, or today. */
        to?: string | undefined
        /** Only what this login did, former members included. A login that never had a part in the workspace is 404 `member_not_found`. Where the range has days of the privacy level `team`, every login but the caller’s own is 403 `member_detail_hidden`, whether it exists or not. */
        member?: string | undefined
        /** Only what was done in this repository. */
        repo?: string | undefined
        /** Instead of `Accept`, for links and browsers. */
        format?: 'json' | 'csv' | undefined
        /** With a `trend` in the rows of members and repositories. */
        trends?: boolean | undefined
      }
    }
    answer: Dashboard
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAdminRequired | ProblemMemberDetailHidden | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** What the caller did */
  'GET /api/team/dashboard/mine': {
    request: {
      query: {
        workspace: string
        /** The first UTC day; default: 30 days with `to`. */
        from?: string | undefined
        /** The last UTC day; default: 30 days with `from`, or today. */
        to?: string | undefined
        /** Only what was done in this repository. */
        repo?: string | undefined
        /** Instead of `Accept`, for links and browsers. */
        format?: 'json' | 'csv' | undefined
        /** With a `trend` in the rows of members and repositories. */
        trends?: boolean | undefined
      }
    }
    answer: Dashboard
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** A page where the caller subscribes */
  'POST /api/billing/checkout': {
    request: {
      body?: CheckoutBody
    }
    answer: BillingUrl
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemBillingNotConfigured | ProblemUpstreamTimeout
  }
  /** A page where the caller manages the subscription */
  'POST /api/billing/portal': {
    request: {
      body?: NoBody
    }
    answer: BillingUrl
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemNoSubscription | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemBillingNotConfigured | ProblemUpstreamTimeout
  }
  /** Where the billing provider reports on subscriptions */
  'POST /api/billing-provider/webhook': {
    request: {
      headers?: {
        /** `t=<seconds>,v1=<hex>`: HMAC-SHA256 of `<seconds>.<raw body>`; several `v1` are possible. At most 5 minutes old or ahead. `Stripe-Signature` is accepted as well. */
        'Billing-Signature'?: string | undefined
      }
      body: BillingEvent
    }
    answer: Received
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemSignatureInvalid | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemBillingNotConfigured
  }
  /** The models of assistant A */
  'GET /api/assistant-a-models': {
    request: {
      query: {
        /** The caller's own key at the provider. It is shown to the provider alone, and not kept. */
        apiKey: string
      }
    }
    answer: ModelList
    problem: ProblemValidationFailed | ProblemAssistantKeyRejected | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUpstreamTimeout
  }
  /** The models of assistant B */
  'GET /api/assistant-b-models': {
    request: {
      query: {
        /** The caller's own key at the provider. It is shown to the provider alone, and not kept. */
        apiKey: string
      }
    }
    answer: ModelList
    problem: ProblemValidationFailed | ProblemAssistantKeyRejected | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUpstreamTimeout
  }
  /** Record an activation event */
  'POST /api/events': {
    request: {
      body: EventBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** How many users come how far */
  'GET /api/admin/funnel': {
    request: {
      query?: {
        /** The first UTC day; by default the very first. */
        from?: string | undefined
        /** The last UTC day, included; by default today. */
        to?: string | undefined
        /** Only events of this source (`service` included). */
        source?: string | undefined
      }
    }
    answer: Funnel
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemAdminKeyInvalid | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Every documented limit */
  'GET /api/limits': {
    request: unknown
    answer: Limits
    problem: ProblemValidationFailed | ProblemRateLimited | ProblemInternalError
  }
  /** What is recorded of people, and who sees it */
  'GET /api/privacy': {
    request: unknown
    answer: Privacy
    problem: ProblemValidationFailed | ProblemRateLimited | ProblemInternalError
  }
}
