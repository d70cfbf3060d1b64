/** Written from openapi/openapi.json by `npm run openapi`: the requests, responses and errors of the service. */

export type AccessKey = {
  id: string
  name: string
  scopes: ('activity:write' | 'activity:read' | 'settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read')[]
  created_by: string
  created_at: string
  expires_at: string
  /** The UTC day on which the key was last used. Null: it was never used. */
  last_used_day: string | null
}

export type AccountExport = {
  exported_at: string
  profile: {
    id: string
    login: string
    avatar_url: string
    /** The effective plan. It is `pro` for everyone while billing is dormant. */
    plan: 'free' | 'pro'
    /** The stored subscription’s status. */
    status: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled'
    /** The chosen time zone, or else the last one that a client named (`timezone` of a flush, `Timezone` of heartbeats). A name for UTC, such as `Etc/UTC`, doesn’t replace another name. Null: none is known, and UTC applies. */
    timezone: string | null
    /** True: the person chose it, and it holds, whatever clients send. */
    timezone_chosen: boolean
    heartbeats: Heartbeats
    /** The numeric id at the repository host. */
    repohost_id: number
    created_at: string
    /** When the operator disabled the account. Null: it is enabled. */
    disabled_at: string | null
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
    /** Keys that no override can change. */
    locked: string[]
    /** Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s. */
    merged: string[]
    settings_version: number
    settings_updated_at: string
  } | null
  /** Repository settings in the personal workspace, with the last 20 versions. */
  personal_settings: ExportedPersonalSettings[]
  personal_overrides: ExportedPersonalOverrides[]
  /** Earlier versions of the overrides in the personal workspace. */
  personal_override_versions: ExportedPersonalOverrideVersions[]
  /** The last versions of the personal workspace’s own settings. */
  personal_workspace_versions: ExportedPersonalWorkspaceVersions[]
  /** One per e-mail address by which the service recognizes the caller’s commits. It stores only an HMAC of each. */
  addresses_recognized: ExportedAddressesRecognized[]
  memberships: ExportedMemberships[]
  /** When an admin last removed the caller from a workspace, or made the caller a member instead of an admin. */
  removals: ExportedRemovals[]
  /** The repository-host organizations that the caller has linked workspaces to. */
  organizations_linked: ExportedOrganizationsLinked[]
  /** When the repository host last confirmed that the caller belongs to the organization through which the caller joined, and when it first said otherwise. */
  organization_memberships: ExportedOrganizationMemberships[]
  /** Invites that the caller created, without their codes. */
  invites: ExportedInvites[]
  /** Access keys that the caller created, for themselves or for a workspace, without their secrets. Keys that have ended are kept for 400 days. */
  keys: ExportedKeys[]
  /** Versions that the caller pushed. This includes other people’s workspaces, to which the settings belong. */
  settings_written: ExportedSettingsWritten[]
  overrides_written: ExportedOverridesWritten[]
  /** Versions of workspace settings that the caller wrote. */
  workspace_settings_written: ExportedWorkspaceSettingsWritten[]
  /** Earlier versions of overrides that the caller wrote. */
  override_versions_written: ExportedOverrideVersionsWritten[]
  activity: ExportedActivity[]
  flushes: ExportedFlushes[]
  /** The minutes in which editors sent heartbeats, for the last 32 days. They are listed by the project of the earliest heartbeat in each minute (`last_projects` are the same, except in rows of version 1.0.0), and by the workspaces where they counted. Agent minutes are separate. */
  heartbeat_hours: ExportedHeartbeatHours[]
  /** Minutes in which the caller’s agents worked and the caller didn’t. */
  agent_minutes: ExportedAgentMinutes[]
  /** The caller’s own time: each minute once, whether it counts in several workspaces or in none. */
  personal_minutes: ExportedPersonalMinutes[]
  /** Repositories that the caller has pushed or has sent by their full address. */
  repositories: ExportedRepositories[]
  editor_projects: ExportedEditorProjects[]
  /** How many waiting names have made room for others. */
  dropped_names: ExportedDroppedNames[]
  imports: ExportedImports[]
  /** The days of an import in progress. */
  import_days: ExportedImportDays[]
  /** The minutes that imports have found so far. A later import counts only additional minutes. */
  imported_minutes: ExportedImportedMinutes[]
  /** What the caller did, and what was done to the caller. Entries from before the service stored people's ids are found by the current login. */
  audit: ExportedAudit[]
  funnel: ExportedFunnel[]
  funnel_days: ExportedFunnelDays[]
  /** Who viewed the caller's numbers. See `GET /api/me/views`. */
  views: View[]
  /** When the caller viewed a team’s numbers. */
  views_of_others: ExportedViewsOfOthers[]
  /** When the caller ended all sessions. */
  signed_out: ExportedSignedOut[]
}

export type AuditEntry = {
  id: string
  at: string
  /** The person’s login at the time, `key <name>`, `service` or `operator`. */
  actor: string
  /** `noun.verb` */
  action: string
  /** A login, a repository, an invite’s id, or an access key’s name. */
  target: string | null
  /** More about the action, such as the role before and after. */
  details: Record<string, unknown>
}

/** A notification in the provider's own format. Unlisted properties are ignored. */
export type BillingEvent = {
  id: string
  type: string
  /** Seconds since the epoch. They order a subscription’s events. */
  created?: number
  data?: {
    object?: Record<string, never> & Record<string, unknown>
  }
} & Record<string, unknown>

export type BillingUrl = {
  /** The billing provider’s page to send the browser to. It is valid for a short time. */
  url: string
}

export type Configuration = {
  settings: Settings
  /** Keys that no override can change. */
  locked: string[]
  /** Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s. */
  merged: string[]
  idle_window_minutes: number
  patterns: string[]
  /** The overrides by repository, `owner/repo`. */
  projects: Record<string, {
    settings: Settings
  }>
}

export type ConfigurationResult = {
  changes: ConfigurationChange[]
  /** Warnings about new and changed values: at most 100. They are stored anyway. */
  warnings: ConfigurationWarning[]
  affected: ConfigurationEffect
  /** The `ETag` of the configuration after the change, or the current one for a dry run. */
  etag: string
}

export type CountsResult = {
  /** Counts that are new or have changed. At the privacy level `team`, all accepted counts, so that the response doesn’t tell what was counted before. */
  upserted: number
  /** Counts that didn’t change, and zeros where there was no count. */
  unchanged: number
  /** Logins that aren’t members (one entry each), and repositories that match no pattern. */
  skipped: SkippedCount[]
}

export type CreatedAccessKey = {
  id: string
  name: string
  scopes: ('activity:write' | 'activity:read' | 'settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read')[]
  created_by: string
  created_at: string
  expires_at: string
  /** The UTC day on which the key was last used. Null: it was never used. */
  last_used_day: string | null
  /** Send it as `Authorization: Bearer <secret>`. It is shown only here. */
  secret: string
}

export type Dashboard = {
  workspace: {
    id: string
    name: string
  }
  range: DayRange
  idle_window_minutes: number
  totals: Totals
  /** Totals for the same number of days just before the range, days to come left out, and widened to whole weeks if published weeks are shown. All 0 if no day of the range has begun. */
  previous_totals: Totals
  /** Every day of the range, oldest first. Hidden numbers are null. */
  daily: DashboardDay[]
  /** Most minutes first. All members, with or without activity, and people who have left but were active in the range. With `repo`, only people with activity in it. If published weeks are shown, their days list no one. */
  members: DashboardMember[]
  /** Repositories with activity, most minutes first. */
  repos: DashboardRepo[]
  /** All 168 cells, Monday 0:00 first, in the hours of the time zone in which each minute was recorded. Hidden minutes are null. Minutes without an hour, and hours past their retention period, aren’t included. A day counts only if enough people other than the caller (`ACTIVITY_MIN_GROUP`) had hours on it. With `repo`, those hours must be in that repository. The heatmap is null if hours exist but no day counts, if `member` names another person, or if no part of it is published. The caller’s own heatmap is always complete. */
  heatmap: HeatmapCell[] | null
  publication: Publication
  generated_at: string
}

/** A payload in the repository host’s own format. Properties that the service doesn’t use are ignored. */
export type DeliveryPayload = Record<string, never> & Record<string, unknown>

export type EditorProject = {
  name: string
  /** `waiting`: the name has no repository yet. `automatic`: exactly one repository that the caller has pushed, or has sent by its full address, has this name, or it’s an address with an SSH alias that the caller has assigned. `assigned` and `ignored`: the caller chose this. */
  state: 'waiting' | 'automatic' | 'assigned' | 'ignored'
  /** Null: the name is waiting or ignored. */
  repo: string | null
  last_at: string | null
  /** The minutes stored for the name in the last 32 days. They include gaps of up to 5 minutes. */
  minutes: number
}

export type EffectiveConfig = {
  repo: string
  workspace_id: string
  matched_pattern: string
  idle_window_minutes: number
  settings: Settings
  /** Where the value of each key in `settings` comes from. `locked`: from the workspace, and no override changes it. `merged`: combined from the workspace’s and the override’s list or object. */
  sources: Record<string, 'workspace' | 'project' | 'locked' | 'merged'>
  /** The workspace's locked keys. All of them are in `settings`. */
  locked: string[]
  /** The workspace's merged keys that are in `settings`. */
  merged: string[]
  /** The caller's other matching workspaces, best first. */
  also_matched: string[]
  /** At most 100 warnings. The settings are stored anyway. Absent if there are none. */
  warnings?: SettingsWarning[]
}

export type FlushResult = {
  /** Entries that count in full. */
  accepted: number
  /** Entries that were cut short in at least one workspace, or by the hours in the recording preferences. */
  capped: number
  /** Entries that don’t count in any workspace. */
  ignored: number
  /** True: the service has already counted this id and repeats its first response. */
  duplicate: boolean
  /** One for each entry that wasn’t accepted. */
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
  /** The 100 sources with the most users. */
  by_source: SourceCount[]
  /** The 100 events with the most users that aren’t steps. */
  other_events: EventCount[]
}

/** All other properties are ignored and not stored. */
export type Heartbeat = {
  /** Seconds since 1970, with a fraction: a number, or a string with a decimal number. From 100,000,000,000 on, milliseconds. */
  time?: number | string
  /** A repository (`owner/repo`, or the address of its remote), or another name, such as a folder’s. */
  project?: string
  /** Used if `project` doesn’t name a repository. */
  alternate_project?: string
  /** `ai coding` is agent time. Every other category is the caller’s own time. */
  category?: string
} & Record<string, unknown>

export type HeartbeatsAnswer = {
  /** One `[{"data": null}, 201]` for each heartbeat, in order, and `[{"error": "must be an object"}, 400]` for each element that isn’t an object. */
  responses: unknown[][]
}

export type Import = {
  id: string | null
  /** `none`: there was no import in the last 32 days. `failed`: it ended early, and what it has counted stays. */
  state: 'none' | 'running' | 'done' | 'cancelled' | 'failed'
  /** Why an import failed, otherwise null. `own_time_full`: the caller's own time would have more than 100000 rows, one per day and repository or project name. */
  reason: 'own_time_full' | null
  /** Heartbeats in the file. */
  heartbeats: number
  /** Heartbeats in the file that don’t count. */
  skipped: {
    /** They have no time that can be read, or one from before 2000. */
    time: number
    /** They are more than 10 minutes ahead of the service's clock. */
    future: number
    /** They name no project. */
    project: number
    /** The caller has switched off recording for them, or ignores the project name. Known when their day is counted. */
    recording_off: number
  }
  /** UTC days in the file. */
  days: number
  /** Days counted so far. */
  days_done: number
  /** Minutes added across all workspaces. */
  minutes: number
  /** Minutes added that no workspace counts, such as those of days before the caller joined one. Only the caller sees them, in their own time. */
  own_minutes: number
  created_at: string | null
  updated_at: string | null
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
  reason_length: number
  workspace_bytes: number
  workspace_bytes_per_settings: number
  workspace_history_bytes: number
  workspace_history_bytes_per_version: number
  json_depth: number
  json_values: number
  json_members: number
  body_bytes: number
  counts_body_bytes: number
  configuration_body_bytes: number
  configuration_json_values: number
  workspace_name_length: number
  workspaces_created: number
  workspaces_joined: number
  removals: number
  workspaces_by_organization: number
  workspaces_by_organization_of_one: number
  membership_unconfirmed_days: number
  patterns_per_workspace: number
  patterns_per_person: number
  pattern_length: number
  pattern_stars: number
  idle_window_minutes_min: number
  idle_window_minutes_max: number
  idle_window_minutes_default: number
  invite_code_length: number
  invite_uses: number
  invite_hours_max: number
  invite_hours_default: number
  range_days_ahead: number
  page_size_max: number
  page_size_default: number
  owner_length: number
  owner_path_length: number
  owner_groups: number
  repo_length: number
  login_length: number
  repohost_token_length: number
  flush_entries: number
  flush_id_length: number
  flush_id_days: number
  flush_days_back: number
  heartbeats: number
  heartbeats_body_bytes: number
  heartbeat_days: number
  heartbeat_idle_minutes_min: number
  heartbeat_idle_minutes_max: number
  editor_project_length: number
  editor_projects_waiting: number
  editor_projects_chosen: number
  person_repos: number
  person_repo_days: number
  import_body_bytes: number
  import_unpacked_bytes: number
  import_projects: number
  import_projects_per_day: number
  import_project_days: number
  personal_repos_per_day: number
  own_rows: number
  repos_per_day: number
  removed_minutes_days: number
  future_minutes: number
  flush_rows: number
  heartbeat_minutes: number
  flush_comparisons: number
  recording_repos_off: number
  minutes_per_day: number
  minutes_per_hour: number
  counts_members: number
  counts_repos_per_member: number
  counts_comparisons: number
  count_max: number
  webhook_commits: number
  webhook_body_bytes: number
  webhook_json_values: number
  webhook_json_depth: number
  webhook_days: number
  webhook_secret_hours: number
  webhook_former_secrets: number
  webhook_deliveries_listed: number
  range_days: number
  trend_days: number
  dashboard_rows: number
  summary_projects_per_day: number
  summary_projects: number
  session_days: number
  keys_per_owner: number
  key_name_length: number
  key_days_default: number
  key_days_max: number
  ended_key_days: number
  audit_days: number
  view_days: number
  notice_days: number
  notices: number
  notice_names: number
  assistant_key_length: number
  assistant_lookups_per_caller: number
  funnel_slug_length: number
  funnel_names: number
  requests_at_once_per_caller: number
  requests_at_once_per_address: number
  busy_seconds_per_caller: number
  rate_per_caller: number
  rate_pages_per_address: number
  rate_verify_per_address: number
  rate_join_per_caller: number
  rate_refused_tokens_per_caller: number
  rate_refused_keys_per_address: number
  exports_per_hour: number
  rate_wrong_signatures_per_address: number
  rate_deliveries_per_workspace: number
  rate_deliveries_per_person: number
  delivered_rows_per_workspace: number
  delivered_rows_per_person: number
  /** The first of `settings_prefixes`. */
  extension_prefix: string
  /** Settings keys start with one of these prefixes and a dot. The first belongs to the team's own extension. `*` as the last one allows every other prefix. */
  settings_prefixes: string[]
  /** Settings that no one may store, except under the first prefix. `*` stands for any text, and case doesn’t matter. A pattern denies values that have a text in them; with a leading `!`, any value. */
  settings_denied: string[]
  /** Settings that may be stored although a pattern in `settings_denied` denies them. */
  settings_allowed: string[]
  /** Keys that extensions restrict to trusted folders. They are also in `settings_denied`, and `settings_allowed` doesn’t lift them. */
  settings_restricted: string[]
}

export type Member = {
  login: string
  avatar_url: string
  role: 'admin' | 'member'
  joined_at: string
  /** The last day with active minutes in this workspace, on the member’s own calendar. Null if there is none. At the privacy level `team`, null for everyone. */
  last_active_day: string | null
}

export type MinutesOfDay = {
  day: string
  /** The caller’s workspaces, oldest first. For a range, only the workspaces with minutes on that day. */
  workspaces: WorkspaceMinutes[]
}

export type MinutesOfRange = {
  range: DayRange
  /** Every day of the range. */
  days: DayMinutes[]
}

export type Model = {
  id: string
  /** The display name, or the id if the provider has no name. */
  name: string
  /** Null: the provider doesn’t say. */
  created_at: string | null
}

export type Notice = {
  /** Stays the same, so that a client can remember the dismissed ones. */
  id: string
  at: string
  /** `level_loosened`: admins will see numbers by name. `key_locked`: an admin locked keys that an override sets, so the override no longer changes them. The caller wrote the override or has worked in its repository. `admin_added`: another member became an admin. `repo_removed`: an admin removed a pattern, so that repositories in which the caller has worked, or to which the caller pushed settings, no longer count in the workspace. `removed_by_admin`, `removed_by_organization`: the caller is no longer a member. `repo_renamed`: the repository host reported that a repository was renamed, and its settings are still under the old name. Only admins get it, and POST /api/team/workspaces/{id}/repos/move moves the settings once the host confirms the rename. */
  code: 'level_loosened' | 'key_locked' | 'admin_added' | 'repo_removed' | 'removed_by_admin' | 'removed_by_organization' | 'repo_renamed'
  workspace: {
    id: string
    name: string
  }
  /** The new admin, or the author of the change: a login or `key <name>`. Null if the caller was removed, the host reported the change, or the author is unknown. */
  login: string | null
  /** The first day that admins see by name. Null unless the level was loosened. */
  named_from: string | null
  /** The locked keys that the overrides set, at most 20. Empty for other notices. */
  keys: string[]
  /** The overrides' repositories, those that no longer count, or the old name of a renamed one, at most 20. Empty for other notices. */
  repos: string[]
  /** The new name that the host reported. Null unless a repository was renamed. */
  renamed_to: string | null
}

export type Ok = {
  ok: true
}

export type Organization = {
  organization: string
  /** The host's id, which never changes hands. */
  organization_id: number
  /** `member`: people in the organization become workspace members when they sign in. */
  join: 'nobody' | 'member'
  /** `remove`: people who leave the organization are removed from the workspace. */
  leave: 'keep' | 'remove'
  /** The person who made the link, or last renewed it. */
  linked_by: string
  linked_at: string
  /** When the host last confirmed that person as an owner of the organization. */
  confirmed_at: string
  /** `paused`: the link makes no one a member until an admin renews it. It still removes people. */
  state: 'active' | 'paused'
  /** `maker_left`: the person who made the link is no longer an admin of the workspace. `maker_not_owner`: the host says that this person no longer owns the organization. `not_confirmed`: the host hasn’t confirmed their ownership for 60 days. Null: active. */
  paused_because: 'maker_left' | 'maker_not_owner' | 'not_confirmed' | null
}

export type Override = {
  /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
  owner: string
  repo: string
  settings: Settings
  /** Every change raises it by one. A new override starts at 1. */
  version: number
  updated_at: string
  /** A login, or `key <name>` for a workspace key. */
  updated_by: string
  /** At most 100 warnings. The settings are stored anyway. Absent if there are none. */
  warnings?: SettingsWarning[]
}

export type OwnDashboard = {
  /** Null: all of the caller’s own time. */
  workspace: {
    id: string
    name: string
  } | null
  range: DayRange
  /** Null without a workspace. */
  idle_window_minutes: number | null
  /** Totals for the same number of days just before the range, days to come left out, and widened to whole weeks if published weeks are shown. All 0 if no day of the range has begun. */
  previous_totals: Totals
  /** Most minutes first. All members, with or without activity, and people who have left but were active in the range. With `repo`, only people with activity in it. If published weeks are shown, their days list no one. */
  members: DashboardMember[]
  /** All 168 cells, Monday 0:00 first, in the hours of the time zone in which each minute was recorded. Hidden minutes are null. Minutes without an hour, and hours past their retention period, aren’t included. A day counts only if enough people other than the caller (`ACTIVITY_MIN_GROUP`) had hours on it. With `repo`, those hours must be in that repository. The heatmap is null if hours exist but no day counts, if `member` names another person, or if no part of it is published. The caller’s own heatmap is always complete. */
  heatmap: HeatmapCell[] | null
  publication: Publication
  generated_at: string
  totals: OwnTotals
  /** Every day of the range, oldest first. */
  daily: OwnDashboardDay[]
  /** Repositories with activity or agent time, most active minutes first. */
  repos: OwnDashboardRepo[]
}

export type Privacy = {
  /** The least strict level that a workspace can have on this installation. */
  activity_privacy_floor: 'named' | 'team'
  /** The minimum number of people behind every number that is shown at the level `team`. */
  activity_min_group: number
  /** How many days the service keeps the hours of activity. */
  activity_detail_days: number
  /** Everything that the service stores about people. */
  records: PrivacyRecord[]
  not_recorded: string[]
  /** The people who see each kind of data. The operator of the service and its database can read everything stored. */
  shown: PrivacyView[]
}

export type Profile = {
  id: string
  login: string
  avatar_url: string
  /** The effective plan. It is `pro` for everyone while billing is dormant. */
  plan: 'free' | 'pro'
  /** The stored subscription’s status. */
  status: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled'
  /** The chosen time zone, or else the last one that a client named (`timezone` of a flush, `Timezone` of heartbeats). A name for UTC, such as `Etc/UTC`, doesn’t replace another name. Null: none is known, and UTC applies. */
  timezone: string | null
  /** True: the person chose it, and it holds, whatever clients send. */
  timezone_chosen: boolean
  heartbeats: Heartbeats
}

export type PushResult = {
  /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
  owner: string
  repo: string
  workspace_id: string
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  updated_at: string
  updated_by: string
  /** False: the content was the same, so nothing changed. */
  changed: boolean
  /** Whether this push created the personal workspace. */
  workspace_created: boolean
  /** At most 100 warnings. The settings are stored anyway. Absent if there are none. */
  warnings?: SettingsWarning[]
}

export type Recording = {
  /** True: no minutes are recorded. */
  paused: boolean
  /** Repositories, or patterns like those of a workspace, in which no minutes are recorded. */
  repos_off: string[]
  hours: RecordingHours
}

export type RemovedMinutes = {
  /** Minutes of the caller and of their agents, each once. */
  removed_minutes: number
}

export type SettingsSchema = {
  type: 'object'
  /** The JSON Schema of each setting, with the editor's own properties such as `markdownDescription`, `enumDescriptions`, `order` and `scope`. Texts contain no HTML, and no links except to web pages and to other settings (`#key#`). */
  properties: Record<string, unknown>
  additionalProperties: false
  /** The groups in which an editor shows the settings. Every setting is in one of them. */
  'x-groups': SettingsGroup[]
  /** `warn`: settings that don’t match are stored, with `warnings` in the response. `enforce`: they are rejected with 400 `validation_failed`. */
  'x-validation': 'warn' | 'enforce'
}

export type Snapshot = {
  /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
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

export type TimezoneOfPerson = {
  /** The chosen time zone, or else the last one that a client named (`timezone` of a flush, `Timezone` of heartbeats). A name for UTC, such as `Etc/UTC`, doesn’t replace another name. Null: none is known, and UTC applies. */
  timezone: string | null
  /** True: the person chose it, and it holds, whatever clients send. */
  timezone_chosen: boolean
}

export type VerifyResult = {
  /** The session token (JWT), valid for 30 days. */
  token: string
  login: string
  avatar_url: string
  /** The scope without which the repository host doesn’t tell the service to which organizations the caller belongs. It’s here only if the token lacks it, and a workspace takes in the members of an organization, or one of the caller’s follows one. The sign-in counts all the same, but memberships stay as they are. Sign in again with a token that has this scope. */
  missing_scope?: string
}

/** Views that showed the caller by name, grouped by viewer, kind, range, day and workspace. */
export type View = {
  /** The viewer’s login, or `deleted user` if the viewer has deleted the account. `key <name> (created by <login>)` for a workspace key. */
  viewer: string
  workspace: {
    id: string
    name: string
  }
  /** The UTC day of the view. */
  day: string
  /** The days that were viewed. Views of the same kind and day are merged if their ranges overlap or touch. */
  range: {
    from: string
    to: string
  }
  /** `comparison`: a dashboard loaded the range automatically, to compare the viewed range with it. `csv`: downloaded as a file. */
  kind: 'dashboard' | 'comparison' | 'csv'
}

export type WakaTimeEntry = {
  name: string
  text: string
  digital: string
  hours: number
  minutes: number
  total_seconds: number
  /** Hours. */
  decimal: string
  /** Always 0, because the service counts minutes. */
  seconds: number
  percent: number
}

export type Webhook = {
  /** Enter it on the repository host as the webhook URL. */
  url: string
  created_at: string
  /** The last 50 correctly signed deliveries, the latest first. At the privacy level `team`, `repo`, `counted`, `skipped`, `skipped_because` and `skipped_commits` are left out, because they would show who worked when. */
  deliveries: WebhookDelivery[]
}

export type Workspace = {
  id: string
  name: string
  personal: boolean
  role: 'admin' | 'member'
  idle_window_minutes: number
  /** `named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number. */
  activity_privacy: 'named' | 'team'
  /** When this level took effect. */
  activity_privacy_since: string
  patterns: string[]
  member_count: number
  /** The repository-host organization that the membership follows. Null: none. */
  organization: string | null
  /** How you became a member. `organization`: because you belong to the organization that the workspace follows. In that case, your activity up to the day you joined doesn’t count in the workspace. */
  joined_by: 'created' | 'invite' | 'organization'
  created_at: string
}

export type WorkspaceSettings = {
  idle_window_minutes: number
  settings: Settings
  /** Keys that no override can change. */
  locked: string[]
  /** Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s. */
  merged: string[]
  /** `named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number. */
  activity_privacy: 'named' | 'team'
  /** When this level took effect. */
  activity_privacy_since: string
  /** Every change raises it by one. */
  version: number
  updated_at: string
  /** At most 100 warnings. The settings are stored anyway. Absent if there are none. */
  warnings?: SettingsWarning[]
}

/** A version has no privacy level, so restoring one never changes who sees a person’s numbers. */
export type WorkspaceSettingsVersion = {
  idle_window_minutes: number
  settings: Settings
  /** Keys that no override can change. */
  locked: string[]
  /** Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s. */
  merged: string[]
  /** Every change raises it by one. */
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  updated_at: string
  /** Null: the change was made before the service recorded who changes these settings. */
  updated_by: string | null
}

export type Health = {
  ok: true
  version: string
}

export type VerifyBody = {
  /** A personal access token or OAuth token from the repository host. The service uses it once and doesn’t store it. */
  repohost_token: string
  /** Also set the cookie `svc_token` (over https, also `__Host-svc_token`), as the browser sign-in does. Only pages of a known dashboard or of the service itself can set it. */
  cookie?: boolean
}

export type LogoutBody = {
  /** Also end the caller’s other sessions. */
  everywhere?: boolean
}

export type DeleteAccountBody = {
  /** The caller's own login. */
  confirm: string
}

export type Project = {
  /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
  owner: string
  repo: string
  workspace_id: string
  workspace_name: string
  role: 'admin' | 'member'
  /** Whether the repository has settings in this workspace. */
  synced: boolean
  has_override: boolean
  /** Whether the caller (for admins: anyone) has activity there, as far as the privacy level shows it. An access key needs `activity:read` for the former and `dashboard:read` for the latter. */
  has_activity: boolean
  version: number | null
  updated_at: string | null
}

export type ProjectPage = {
  projects: Project[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type TimezoneChoice = {
  /** An IANA time zone name, not a numeric offset. Null: clients name it from now on, and until then it stays. */
  timezone: string | null
}

export type ViewPage = {
  views: View[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type NoticeList = {
  notices: Notice[]
  /** Present if a kind of notice took too long to find. The others are there. */
  incomplete?: true
}

export type EditorProjectList = {
  projects: EditorProject[]
  /** How many waiting names have made room for others. 0 again if no name had to for 32 days. */
  dropped: number
}

export type EditorProjectBody = {
  /** A name, the address of a remote, or `owner/repo` of a repository that counts nowhere. */
  name: string
  /** Null: ignore the name. */
  repo: string | null
}

export type CountedMinutes = {
  workspace_id: string
  name: string
  minutes: number
}

export type EditorProjectResult = {
  ok: true
  /** The stored minutes that this assignment counted, by workspace. Workspaces without any aren’t listed, and minutes of agents aren’t included. */
  counted: CountedMinutes[]
}

export type HeartbeatsBody = Heartbeat[]

export type HeartbeatAnswer = {
  data: {
    id: string
  }
}

export type EditorUser = {
  data: {
    id: string
    username: string
    display_name: string
    photo: string
    /** Default: UTC. */
    timezone: string
  }
}

export type GrandTotal = {
  text: string
  digital: string
  hours: number
  minutes: number
  total_seconds: number
}

export type EditorCategory = {
  name: string
  text: string
  digital: string
  hours: number
  minutes: number
  total_seconds: number
}

export type EditorRange = {
  date: string
  start: string
  end: string
  text: string
  timezone: string
}

export type StatusBar = {
  cached_at: string
  data: {
    grand_total: GrandTotal
    categories: EditorCategory[]
    projects: WakaTimeEntry[]
    /** Always empty: the service doesn’t store this. */
    languages: unknown[]
    /** Always empty: the service doesn’t store this. */
    editors: unknown[]
    /** Always empty: the service doesn’t store this. */
    machines: unknown[]
    /** Always empty: the service doesn’t store this. */
    operating_systems: unknown[]
    /** Always empty: the service doesn’t store this. */
    dependencies: unknown[]
    range: EditorRange
  }
}

export type SummaryTotal = {
  text: string
  digital: string
  hours: number
  minutes: number
  total_seconds: number
  /** Hours. */
  decimal: string
}

export type SummaryRange = {
  date: string
  start: string
  end: string
  text: string
  timezone: string
}

export type Summary = {
  grand_total: SummaryTotal
  categories: WakaTimeEntry[]
  projects: WakaTimeEntry[]
  /** Always empty: the service doesn’t store this. */
  languages: unknown[]
  /** Always empty: the service doesn’t store this. */
  editors: unknown[]
  /** Always empty: the service doesn’t store this. */
  machines: unknown[]
  /** Always empty: the service doesn’t store this. */
  operating_systems: unknown[]
  /** Always empty: the service doesn’t store this. */
  dependencies: unknown[]
  range: SummaryRange
}

export type CumulativeTotal = {
  text: string
  digital: string
  /** Hours. */
  decimal: string
  seconds: number
}

export type DailyAverage = {
  text: string
  text_including_other_language: string
  seconds: number
  seconds_including_other_language: number
  days_including_holidays: number
  days_minus_holidays: number
  /** Days without minutes. */
  holidays: number
}

export type Summaries = {
  data: Summary[]
  start: string
  end: string
  cumulative_total: CumulativeTotal
  daily_average: DailyAverage
}

/** Null if there are no minutes. */
export type BestDay = {
  date: string
  text: string
  total_seconds: number
} | null

export type Stats = {
  data: {
    user_id: string
    username: string
    range: string
    human_readable_range: string
    start: string
    end: string
    timezone: string
    status: string
    is_up_to_date: boolean
    percent_calculated: number
    is_coding_activity_visible: boolean
    is_other_usage_visible: boolean
    total_seconds: number
    total_seconds_including_other_language: number
    human_readable_total: string
    human_readable_total_including_other_language: string
    daily_average: number
    daily_average_including_other_language: number
    human_readable_daily_average: string
    human_readable_daily_average_including_other_language: string
    days_including_holidays: number
    days_minus_holidays: number
    holidays: number
    best_day: BestDay
    categories: WakaTimeEntry[]
    projects: WakaTimeEntry[]
    /** Always empty: the service doesn’t store this. */
    languages: unknown[]
    /** Always empty: the service doesn’t store this. */
    editors: unknown[]
    /** Always empty: the service doesn’t store this. */
    machines: unknown[]
    /** Always empty: the service doesn’t store this. */
    operating_systems: unknown[]
    /** Always empty: the service doesn’t store this. */
    dependencies: unknown[]
  }
}

export type AllTimeRange = {
  start: string
  start_date: string
  start_text: string
  end: string
  end_date: string
  end_text: string
  timezone: string
}

export type AllTime = {
  data: {
    text: string
    digital: string
    /** Hours. */
    decimal: string
    total_seconds: number
    daily_average: number
    is_up_to_date: boolean
    percent_calculated: number
    range: AllTimeRange
  }
}

export type WakaTimeProject = {
  id: string
  name: string
  urlencoded_name: string
  created_at: string
  first_heartbeat_at: string
  last_heartbeat_at: string
  human_readable_last_heartbeat_at: string
  color: null
  badge: null
  repository: null
}

export type Projects = {
  /** The latest first. At most 1000. */
  data: WakaTimeProject[]
  total: number
  total_pages: number
  page: number
  prev_page: null
  next_page: null
}

export type Duration = {
  project: string
  /** Seconds since 1970. */
  time: number
  /** Seconds. */
  duration: number
  color: null
}

export type Durations = {
  data: Duration[]
  /** Always empty: the service doesn’t store this. */
  branches: unknown[]
  start: string
  end: string
  timezone: string
}

export type AccessKeyList = {
  /** The keys that still work, newest first. */
  keys: AccessKey[]
}

export type CreateKeyBody = {
  name: string
  /** `activity:write` can be combined only with `activity:read`. */
  scopes: ('activity:write' | 'activity:read' | 'settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read')[]
  expires_in_days?: number
}

/** No body, or `{}`. */
export type NoBody = Record<string, never>

/** Keys start with `ext.` or another prefix of the server, are one of the other prefixes, or are a language block such as `[typescript]`, whose value is an object of such keys. They have at most 200 characters. `GET /api/limits` lists the prefixes, and the keys that are denied under every prefix except the first. The JSON text has at most 262144 bytes of UTF-8. */
export type SettingsInput = Record<string, unknown>

export type PushBody = {
  settings: SettingsInput
}

export type SnapshotVersion = {
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  created_at: string
  created_by: string
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
}

export type SnapshotVersionList = {
  /** The last 20 versions, newest first, including the current one. */
  versions: SnapshotVersion[]
}

export type RestoreBody = {
  version: number
  /** Why the change is made. The history and the audit trail show it. */
  reason?: string
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

export type WorkspaceReference = {
  id: string
  name: string
}

export type WorkspaceNames = {
  workspaces: WorkspaceReference[]
}

export type PatternList = string[]

export type CreateWorkspaceBody = {
  name: string
  patterns?: PatternList
  /** `named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number. */
  activity_privacy?: 'named' | 'team'
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
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type ChangeRoleBody = {
  /** Case doesn’t matter. */
  login: string
  role: 'admin' | 'member'
}

export type WorkspaceToJoin = {
  name: string
  member_count: number
  patterns: string[]
  /** `named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number. */
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
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type CreateInviteBody = {
  /** The role that people get when they join. */
  role?: 'admin' | 'member'
  expires_in_hours?: number
  /** How many people can still join with it. Null: no limit. */
  max_uses?: number | null
}

export type CreateWorkspaceKeyBody = {
  name: string
  /** A workspace key can’t have activity scopes, because it doesn’t act for a person. */
  scopes: ('settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read')[]
  expires_in_days?: number
}

export type Patterns = {
  patterns: string[]
}

export type PatternsBody = {
  patterns: PatternList
}

export type OrganizationBody = {
  /** The organization’s name at the repository host, or at GitLab the group’s path. */
  organization: string
  /** `member`: people in the organization become workspace members when they sign in. */
  join?: 'nobody' | 'member'
  /** `remove`: people who leave the organization are removed from the workspace. */
  leave?: 'keep' | 'remove'
}

export type OrganizationMember = {
  login: string
  /** When the host first said that the member has left, while the removal waits for an admin. Null: it doesn’t. */
  left_at: string | null
  /** The last sign-in at which the host confirmed a member who joined through the link, if that was more than 60 days ago. */
  unconfirmed_since: string | null
}

export type OrganizationMemberPage = {
  members: OrganizationMember[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

/** A JSON Merge Patch (RFC 7396) of the first level of keys. `null` removes a key, any other value replaces it in place, and new keys go last. The merged JSON text has at most 262144 bytes of UTF-8. */
export type SettingsPatch = Record<string, unknown>

export type WorkspaceSettingsPatch = {
  idle_window_minutes?: number
  /** `named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number. */
  activity_privacy?: 'named' | 'team'
  settings?: SettingsPatch
  /** Replaces the list of locked keys. Each must be a key of the settings after the change. A change that removes a key from the settings also removes its lock. */
  locked?: string[]
  /** Replaces the list of merged keys. Each must be a key of the settings after the change, and neither locked nor a language block. A change that removes a key from the settings also ends its merge. */
  merged?: string[]
  /** Why the change is made. The history and the audit trail show it. */
  reason?: string
}

export type SettingAtVersion = {
  /** Whether the settings have the key. */
  is_set: boolean
  /** Left out if the key isn’t set, or if the value’s JSON text has more than 16384 bytes. */
  value?: unknown
  locked: boolean
  merged: boolean
}

export type WorkspaceSettingsVersionHead = {
  /** Every change raises it by one. */
  version: number
  /** UTF-8 bytes of the JSON text of `settings`. */
  size_bytes: number
  created_at: string
  /** Null: the change was made before the service recorded who changes these settings. */
  created_by: string | null
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
  setting?: SettingAtVersion
}

export type WorkspaceSettingsVersionList = {
  /** The last 20 versions, newest first, including the current one. With `key`, only those that changed the key, and the oldest. */
  versions: WorkspaceSettingsVersionHead[]
}

export type OverridePage = {
  overrides: Override[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type OverrideBody = {
  settings: SettingsInput
  /** Why the change is made. The history and the audit trail show it. */
  reason?: string
}

export type MoveBody = {
  /** The old name, which the settings are stored under. */
  from: string
  /** The present name at the repository host. */
  to: string
}

export type ConfigurationBody = {
  settings?: SettingsInput
  /** Replaces the list of locked keys. Each must be a key of the settings after the change. A change that removes a key from the settings also removes its lock. */
  locked?: string[]
  /** Replaces the list of merged keys. Each must be a key of the settings after the change, and neither locked nor a language block. A change that removes a key from the settings also ends its merge. */
  merged?: string[]
  idle_window_minutes?: number
  patterns?: PatternList
  /** The overrides by repository, `owner/repo`. */
  projects?: Record<string, {
    settings: SettingsInput
  }>
  /** Why the change is made. The history and the audit trail show it. */
  reason?: string
}

export type AuditPage = {
  entries: AuditEntry[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  next_cursor: string | null
}

export type MinutesEntry = {
  repo: string
  day: string
  minutes: number
  /** The minutes of each UTC hour (`"0"` to `"23"`). Their sum is at most `minutes`. The remaining minutes belong to no hour. */
  hours?: Record<string, number>
}

export type FlushBody = {
  entries: MinutesEntry[]
  /** An IANA time zone name, not a numeric offset. The minutes count on the days and in the hours of the caller’s time zone. This becomes it, unless the caller has chosen one, or this is a name for UTC and another one is known. */
  timezone?: string
  /** The client chooses an id for each flush and sends it again with every retry. The service remembers it for 32 days. */
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
  /** Required, unless the query names the workspace. */
  workspace?: string
  /** A day from 2000-01-01 to tomorrow (UTC). */
  day: string
  members: MemberCounts[]
}

export type CreatedWebhook = {
  /** Enter it on the repository host as the webhook URL. */
  url: string
  /** Enter it on the repository host as the webhook secret. It is shown only here. */
  secret: string
}

export type WebhookList = {
  webhooks: Webhook[]
}

export type InviteGreeting = {
  workspace_name: string
  invited_by: string
}

export type CheckoutBody = {
  /** The billing interval. Default: every month, or what the installation offers. */
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
  /** Where the event happened. `service` is reserved for what the service itself records. */
  source: string
}

/** Null: no editor has sent a heartbeat. */
export type Heartbeats = {
  /** The time of the newest accepted heartbeat, as the editor gave it. */
  last_at: string
} | null

export type ExportedCustomers = {
  id: string
  created_at: string
}

export type ExportedSubscriptions = {
  id: string
  customer_id: string
  /** The stored subscription’s status. */
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
  version: number
  settings: Settings
  updated_at: string
}

export type ExportedPersonalOverrideVersions = {
  owner: string
  repo: string
  version: number
  settings: Settings
  created_at: string
}

export type ExportedPersonalWorkspaceVersions = {
  version: number
  settings: Settings
  /** Keys that no override can change. */
  locked: string[]
  /** Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s. */
  merged: string[]
  idle_window_minutes: number
  created_at: string
}

export type ExportedAddressesRecognized = {
  /** The UTC day on which the repository host confirmed it. */
  confirmed_day: string
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

export type ExportedOrganizationsLinked = {
  workspace_id: string
  organization: string
  linked_at: string
}

export type ExportedOrganizationMemberships = {
  workspace_id: string
  confirmed_at: string | null
  left_at: string | null
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

export type ExportedKeys = {
  id: string
  workspace_id: string | null
  name: string
  scopes: ('activity:write' | 'activity:read' | 'settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read')[]
  created_at: string
  expires_at: string
  revoked_at: string | null
  last_used_day: string | null
}

export type ExportedSettingsWritten = {
  workspace_id: string
  owner: string
  repo: string
  version: number
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
  created_at: string
}

export type ExportedOverridesWritten = {
  workspace_id: string
  owner: string
  repo: string
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
  updated_at: string
}

export type ExportedWorkspaceSettingsWritten = {
  workspace_id: string
  version: number
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
  created_at: string
}

export type ExportedOverrideVersionsWritten = {
  workspace_id: string
  owner: string
  repo: string
  version: number
  /** Why the change was made. Null: no reason was given. */
  reason: string | null
  created_at: string
}

export type ExportedActivity = {
  workspace_id: string
  day: string
  repo: string
  minutes: number
  commits: number
  closed_issues: number
  /** The minutes of the 24 local hours. Null: the service doesn’t know them. */
  hours: number[] | null
  /** The time zone in which the hours were last written. It is deleted with them. */
  timezone: string | null
}

export type ExportedFlushes = {
  flush_id: string
  answer: Record<string, unknown>
  created_at: string
}

export type ExportedProjectMinutes = {
  project: string
  minutes: number[]
}

export type ExportedCountedMinutes = {
  workspace_id: string
  minutes: number[]
}

export type ExportedHeartbeatHours = {
  /** The UTC hour. */
  hour: string
  projects: ExportedProjectMinutes[]
  last_projects: ExportedProjectMinutes[]
  counted: ExportedCountedMinutes[]
  agent_projects: ExportedProjectMinutes[]
  agent_last_projects: ExportedProjectMinutes[]
}

export type ExportedAgentMinutes = {
  workspace_id: string
  day: string
  repo: string
  agent_minutes: number
  /** The minutes of the 24 local hours. Null: they aren’t kept any longer. */
  agent_hours: number[] | null
  /** The time zone in which the hours were last written. */
  timezone: string | null
}

export type ExportedPersonalMinutes = {
  day: string
  project: string
  minutes: number
  /** The minutes of the 24 local hours. Null: they aren’t kept any longer. */
  hours: number[] | null
  /** The time zone in which the hours were last written. */
  timezone: string | null
}

export type ExportedRepositories = {
  repo: string
  seen_day: string
}

export type ExportedEditorProjects = {
  name: string
  repo: string | null
  ignored: boolean
  automatic: boolean
  last_at: string | null
  seen_at: string
}

export type ExportedDroppedNames = {
  names: number
  dropped_at: string
}

export type ExportedImports = {
  id: string
  state: string
  heartbeats: number
  reason: string | null
  skipped_time: number
  skipped_future: number
  skipped_project: number
  skipped_recording_off: number
  days: number
  days_done: number
  minutes: number
  own_minutes: number
  created_at: string
  updated_at: string
}

export type ExportedImportDays = {
  day: string
  projects: ExportedProjectMinutes[]
}

export type ExportedImportedMinutes = {
  workspace_id: string
  day: string
  repo: string
  minutes: number
}

export type ExportedAudit = {
  id: string
  at: string
  workspace_id: string
  /** Null: someone else. */
  actor: string | null
  action: string
  /** Null: someone else, or nothing. */
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

export type ConfigurationChange = {
  /** `workspace`, or the repository. */
  scope: string
  /** A key of the settings, or `locked`, `merged`, `idle_window_minutes` or `patterns`. `settings`: an override without keys appears or disappears. */
  key: string
  /** Null means no value, unless `hides` says otherwise. */
  before: unknown
  /** Null means no value, unless `hides` says otherwise. */
  after: unknown
  /** On this side, null means that the override unsets the workspace’s key. Without this property, null means that there is no value. */
  hides?: 'before' | 'after'
}

export type ConfigurationWarning = {
  path: string
  /** `invalid`: the value doesn’t match the settings schema. `unknown`: the schema has no such setting. `not_applied`: the editor restricts this setting, or keeps it for the application or the machine, so the extension never writes it. `deprecated`: the schema says so. `secret`: it looks like a password or a token. */
  code: 'invalid' | 'unknown' | 'not_applied' | 'deprecated' | 'secret'
  message: string
}

export type ConfigurationEffect = {
  /** Known repositories whose configuration changes, or that patterns start or stop matching. */
  repositories: number
  /** Members of the workspace. 0: nothing changes. */
  people: number
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
  /** Members with more than 0 minutes. For published weeks, the largest number in any week. */
  active_members: number | null
}

export type DashboardDay = {
  day: string
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with more than 0 minutes. For published weeks, the largest number in any week. */
  active_members: number | null
}

export type DashboardMember = {
  /** Null: the last row, which sums up all members beyond the first 999 and people who deleted their accounts. */
  login: string | null
  avatar_url: string
  /** Null: the person has left, but was active in the range. */
  role: 'admin' | 'member' | null
  active_minutes: number
  /** Days with more than 0 minutes. For several members, the sum of each member’s days. */
  active_days: number
  commits: number
  closed_issues: number
  /** The last day in the range with more than 0 minutes. */
  last_active_day: string | null
  /** Only with `trends=true`. The active minutes of the row on each day of the range, oldest first. Ranges of more than 31 days have one number per ISO week (Monday to Sunday) instead. The first and the last week count only their days in the range, so the numbers add up to `active_minutes`. If published weeks are shown, repositories have no trend, and those weeks are 0 for members. */
  trend?: number[]
}

export type DashboardRepo = {
  /** Null: the last row, which sums up all repositories beyond the first 999, and the difference between the published repositories and the total. */
  repo: string | null
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with any activity in the repository. For published weeks, the largest number of members with minutes in the repository in any week. */
  members: number | null
  /** Only with `trends=true`. The active minutes of the row on each day of the range, oldest first. Ranges of more than 31 days have one number per ISO week (Monday to Sunday) instead. The first and the last week count only their days in the range, so the numbers add up to `active_minutes`. If published weeks are shown, repositories have no trend, and those weeks are 0 for members. */
  trend?: number[]
}

export type HeatmapCell = {
  /** ISO: 1 is Monday. */
  weekday: number
  hour: number
  minutes: number | null
}

export type PublishedWeek = {
  /** The Monday of the ISO week. */
  week: string
  /** `published`: the week has numbers. `hidden`: too few people were active, so it has no numbers. `scheduled`: it is published on `published_on`. `publishing`: the service is still publishing past weeks of the workspace, which takes minutes. */
  state: 'published' | 'hidden' | 'scheduled' | 'publishing'
  /** The day on which the week is published, from 12:00 UTC on: the Thursday after it. */
  published_on: string
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with more than 0 minutes. For published weeks, the largest number in any week. */
  active_members: number | null
}

/** The published weeks in the range, each with its totals. Null if the range has none. While a week is `publishing`, the totals are incomplete. */
export type Publication = {
  /** Numbers of fewer people are hidden. */
  min_group: number
  /** Oldest first. */
  weeks: PublishedWeek[]
} | null

export type SettingsWarning = {
  /** A JSON pointer that starts with the part of the request, or in a response that only reads, with its `settings`. */
  path: string
  /** `invalid`: the value doesn’t match the settings schema. `unknown`: the schema has no such setting. `not_applied`: the editor restricts this setting, or keeps it for the application or the machine, so the extension never writes it. `deprecated`: the schema says so. `secret`: it looks like a password or a token. */
  code: 'invalid' | 'unknown' | 'not_applied' | 'deprecated' | 'secret'
  message: string
}

export type FlushNote = {
  /** The entry’s index in the request. */
  index: number
  status: 'capped' | 'ignored'
  /** `day_out_of_window` takes precedence. `recording_off` (see `PUT /api/me/recording`) comes next if recording is off for the whole entry, then `repo_not_matched`, then `in_future` and `recording_off` for a part. Hours that begin more than 10 minutes from now are in the future, and so are minutes without an hour on a day after today (UTC). `too_many_repos` is a repository beyond the 100 that a local day can have in a workspace. `hour_full` comes before `day_full`. */
  code: 'hour_full' | 'day_full' | 'repo_not_matched' | 'day_out_of_window' | 'recording_off' | 'in_future' | 'too_many_repos'
}

export type FunnelStep = {
  event: string
  /** Different users. */
  users: number
  /** Events, including repeated ones. */
  events: number
  /** From 0 to 1: the share of users with the other event who also have this one. Null if there are none. */
  conversion_from_previous: number | null
  /** From 0 to 1: the share of users with the other event who also have this one. Null if there are none. */
  conversion_from_start: number | null
  /** Seconds between the first occurrences of the two events, for users who have both. A step before the start counts as 0. */
  median_seconds_from_start: number | null
}

export type SourceCount = {
  source: string
  /** Different users. */
  users: number
  /** Events, including repeated ones. */
  events: number
}

export type EventCount = {
  event: string
  /** Different users. */
  users: number
  /** Events, including repeated ones. */
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
  /** Repositories with minutes, most minutes first. */
  repos: RepoMinutes[]
}

export type DayMinutes = {
  day: string
  workspaces: WorkspaceMinutes[]
}

export type OwnTotals = {
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with more than 0 minutes. For published weeks, the largest number in any week. */
  active_members: number | null
  /** Minutes in which the caller’s agents worked and the caller didn’t. They don’t count as active minutes, and only the caller sees them. */
  agent_minutes: number
}

export type OwnDashboardDay = {
  day: string
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with more than 0 minutes. For published weeks, the largest number in any week. */
  active_members: number | null
  /** Minutes in which the caller’s agents worked and the caller didn’t. They don’t count as active minutes, and only the caller sees them. */
  agent_minutes: number
}

export type OwnDashboardRepo = {
  /** Null: the last row, which sums up all repositories beyond the first 999, and the difference between the published repositories and the total. */
  repo: string | null
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  /** Members with any activity in the repository. For published weeks, the largest number of members with minutes in the repository in any week. */
  members: number | null
  /** Only with `trends=true`. The active minutes of the row on each day of the range, oldest first. Ranges of more than 31 days have one number per ISO week (Monday to Sunday) instead. The first and the last week count only their days in the range, so the numbers add up to `active_minutes`. If published weeks are shown, repositories have no trend, and those weeks are 0 for members. */
  trend?: number[]
  /** Minutes in which the caller’s agents worked and the caller didn’t. They don’t count as active minutes, and only the caller sees them. */
  agent_minutes: number
}

export type PrivacyRecord = {
  name: string
  what: string
  fields: string[]
  why: string
  /** Null: `kept` says how long. */
  kept_days: number | null
  kept: string
}

export type PrivacyView = {
  what: string
  /** The people who see it in workspaces with the level `named`. */
  named: string
  /** The people who see it in workspaces with the level `team`. */
  team: string
}

/** The hours that are recorded, in the person's time zone. Null: all hours. A UTC hour belongs entirely to the local hour in which it starts. Minutes without an hour aren’t affected. */
export type RecordingHours = {
  /** The first local hour. */
  from: number
  /** The local hour at which recording ends. It must differ from `from`. An earlier hour is on the next day. */
  to: number
  /** ISO weekdays: 1 is Monday. They are the days on which the hours begin, even if the hours end after midnight. */
  weekdays: number[]
} | null

export type SettingsGroup = {
  title: string | null
  properties: string[]
}

export type SkippedCommit = {
  /** The first 10 characters. */
  hash: string
  /** The login in the payload. Null: there is none, because addresses aren’t stored, or the repository matches no pattern. */
  author: string | null
  /** As in `skipped_because`. */
  because: 'not_a_member' | 'unknown_author' | 'outside_patterns'
}

export type WebhookDelivery = {
  at: string
  /** The repository host’s name for it. */
  event: string
  /** The response’s HTTP status. */
  status: number
  /** Null: the delivery isn’t about a repository. */
  repo?: string | null
  /** The commits and closed issues that changed a count. Those that were reported before, or that an uploaded count replaces, aren’t included. */
  counted?: number
  /** The commits and closed issues of people who aren’t members, or of a repository that matches no pattern. */
  skipped?: number
  /** The first three add up to `skipped`. Null: an earlier version of the service received the delivery. */
  skipped_because?: {
    /** The payload names a login or a host id that isn’t a member’s. */
    not_a_member: number
    /** The payload names no one, or only an address that the host hasn’t confirmed as a member’s. */
    unknown_author: number
    /** The repository matches none of the workspace’s patterns. */
    outside_patterns: number
    /** Pushed commits that the host left out. They aren’t included in `skipped`. */
    not_delivered: number
  } | null
  /** The first 100 skipped commits. Empty if there are none, an earlier version of the service received the delivery, or one of the authors has deleted their account. */
  skipped_commits?: SkippedCommit[]
}

/** The request doesn’t match the schema. Fix the fields listed in `errors`. */
export type ProblemValidationFailed = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#validation_failed'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'validation_failed'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Each invalid property, and the reason. */
  errors: {
    /** A JSON pointer that starts with the part of the request: `/body/entries/3/minutes`. */
    path: string
    message: string
  }[]
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The body isn’t JSON that the service accepts. Send a single JSON object. */
export type ProblemInvalidJson = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_json'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'invalid_json'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Send an IANA time zone name, for example Europe/Berlin. */
export type ProblemInvalidTimezone = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_timezone'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'invalid_timezone'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** `from` must not be after `to`, and a range can cover at most 366 days. */
export type ProblemInvalidRange = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invalid_range'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'invalid_range'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Send a repository host token in the X-Repohost-Token header. */
export type ProblemRepohostTokenRequired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repohost_token_required'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'repohost_token_required'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This sign-in didn’t start in this browser, has expired or was already used. Start the sign-in again. */
export type ProblemOauthStateInvalid = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#oauth_state_invalid'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'oauth_state_invalid'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The notification’s signature is missing, wrong or too old. Sign the raw bytes with the current secret; the billing provider also signs the time. */
export type ProblemSignatureInvalid = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#signature_invalid'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'signature_invalid'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This isn’t a valid HTTP request. */
export type ProblemBadRequest = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#bad_request'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'bad_request'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The model provider rejected this key. Check the key in the provider’s console. */
export type ProblemAssistantKeyRejected = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#assistant_key_rejected'
  status: 400
  /** The HTTP name of the status. */
  title: 'Bad Request'
  /** Stable. Programs can rely on it. */
  code: 'assistant_key_rejected'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Send `Authorization: Bearer <token>`. POST /api/auth/verify returns a token. */
export type ProblemUnauthenticated = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unauthenticated'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'unauthenticated'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This session token or access key isn’t valid. Sign in again, or check that you copied all of the key. */
export type ProblemTokenInvalid = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_invalid'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'token_invalid'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This session or access key has expired. Sign in again, or create a new key. */
export type ProblemTokenExpired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_expired'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'token_expired'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This session was signed out, or this access key was revoked. Sign in again, or create a new key. */
export type ProblemTokenRevoked = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#token_revoked'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'token_revoked'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The repository host rejected this token. Create a new token on the host. */
export type ProblemRepohostTokenInvalid = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repohost_token_invalid'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'repohost_token_invalid'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Send an admin key in the X-Service-Admin-Key header or as the query parameter `key`. */
export type ProblemAdminKeyInvalid = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#admin_key_invalid'
  status: 401
  /** The HTTP name of the status. */
  title: 'Unauthorized'
  /** Stable. Programs can rely on it. */
  code: 'admin_key_invalid'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This requires a Pro subscription. Start one with POST /api/billing/checkout. */
export type ProblemProRequired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#pro_required'
  status: 402
  /** The HTTP name of the status. */
  title: 'Payment Required'
  /** Stable. Programs can rely on it. */
  code: 'pro_required'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** None of your workspaces matches this repository. Ask an admin for an invite. */
export type ProblemNotAMember = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#not_a_member'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'not_a_member'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Only workspace admins can do this. Ask an admin. */
export type ProblemAdminRequired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#admin_required'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'admin_required'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The repository host token belongs to another user, or has no access to this repository. Send your own token with access. */
export type ProblemRepoAccessDenied = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_access_denied'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'repo_access_denied'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The repository host token belongs to another user, or doesn’t show that you own or administer this organization. Send a token of your own with a scope that shows it: `read:org` at GitHub, `read_api` at GitLab, `read:organization` at Forgejo. */
export type ProblemOrganizationAccessDenied = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#organization_access_denied'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'organization_access_denied'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace has, or had in this range, the privacy level `team`, so members can see only their own activity. Leave out `member`. */
export type ProblemMemberDetailHidden = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#member_detail_hidden'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'member_detail_hidden'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This access key lacks the scope in `scope`. If `scope` is null, no access key of this kind can do this: sign in instead. */
export type ProblemScopeMissing = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#scope_missing'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'scope_missing'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The scope that the access key lacks. Null: no access key of its kind can do this. */
  scope: 'activity:write' | 'activity:read' | 'settings:read' | 'settings:write' | 'counts:write' | 'dashboard:read' | null
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The operator of this service has disabled this account, or the account of the person who created this access key. Contact the operator. */
export type ProblemAccountDisabled = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#account_disabled'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'account_disabled'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** A change that is authenticated by cookie must come from a known dashboard origin. From other origins, send a Bearer token. */
export type ProblemCsrfRejected = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#csrf_rejected'
  status: 403
  /** The HTTP name of the status. */
  title: 'Forbidden'
  /** Stable. Programs can rely on it. */
  code: 'csrf_rejected'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** No settings have been pushed for this repository. Push them first. */
export type ProblemNeverSynced = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#never_synced'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'never_synced'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This workspace doesn’t exist, or you aren’t a member of it. Check the id, or ask an admin for an invite. */
export type ProblemWorkspaceNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'workspace_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** No workspace member has this login. Check the login. */
export type ProblemMemberNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#member_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'member_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This invite doesn’t exist. Check that you copied all of it. */
export type ProblemInviteNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'invite_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This access key doesn’t exist. List the keys to see their ids. */
export type ProblemKeyNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#key_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'key_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace has no override for this repository. An admin can create one. */
export type ProblemOverrideNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#override_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'override_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This version doesn’t exist or is no longer kept. List the versions to see which are available. */
export type ProblemVersionNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#version_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'version_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This installation has no settings schema, so any value is accepted. Only its operator can set SETTINGS_SCHEMA. */
export type ProblemSchemaNotConfigured = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#schema_not_configured'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'schema_not_configured'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace follows no organization. Link one with PUT /api/team/workspaces/{id}/organization. */
export type ProblemOrganizationNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#organization_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'organization_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace has no webhook, or this webhook was deleted. Create one with POST /api/team/workspaces/{id}/webhook. */
export type ProblemWebhookNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#webhook_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'webhook_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This route doesn’t exist. GET /api/docs lists all routes. */
export type ProblemRouteNotFound = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#route_not_found'
  status: 404
  /** The HTTP name of the status. */
  title: 'Not Found'
  /** Stable. Programs can rely on it. */
  code: 'route_not_found'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The request took too long to arrive. Send it again. */
export type ProblemRequestTimeout = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#request_timeout'
  status: 408
  /** The HTTP name of the status. */
  title: 'Request Timeout'
  /** Stable. Programs can rely on it. */
  code: 'request_timeout'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** None of your workspaces matches this repository. Create a workspace with the suggested pattern, or add the pattern to one. */
export type ProblemWorkspaceRequired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_required'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'workspace_required'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** A pattern that matches all repositories of the owner. */
  suggested_pattern: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The repository has another name at the repository host now. Use the name in `renamed_to`, for example in the address of your clone. An admin can take the stored settings along with POST /api/team/workspaces/{id}/repos/move. */
export type ProblemRepoRenamed = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_renamed'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'repo_renamed'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The repository’s present name at the repository host. */
  renamed_to: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace already has settings or an override for the new name. Remove them first, or keep them and delete those of the old name. */
export type ProblemRepoTaken = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_taken'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'repo_taken'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** A workspace needs at least one admin. Make another member an admin first. */
export type ProblemLastAdmin = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#last_admin'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'last_admin'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The workspaces that would have no admin. */
  workspaces: {
    id: string
    name: string
  }[]
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** No one can be invited to a personal workspace, join it or leave it. Create another workspace for a team. */
export type ProblemPersonalWorkspace = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#personal_workspace'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'personal_workspace'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Your subscription is still running. Cancel it first, on the page that POST /api/billing/portal returns. */
export type ProblemSubscriptionActive = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#subscription_active'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'subscription_active'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** You have no billing account yet. Create one with POST /api/billing/checkout. */
export type ProblemNoSubscription = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#no_subscription'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'no_subscription'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This flush_id was already used with different content. Use a new one. */
export type ProblemFlushIdReused = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#flush_id_reused'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'flush_id_reused'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** You can create at most 20 workspaces, and be in at most 100 besides those that you joined through an organization. They can have at most 1000 patterns together. The operator can change these limits. Delete or leave one first, or remove patterns. */
export type ProblemWorkspaceLimit = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_limit'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'workspace_limit'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** A person or a workspace can have at most 20 active access keys. Revoke one first. */
export type ProblemKeyLimit = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#key_limit'
  status: 409
  /** The HTTP name of the status. */
  title: 'Conflict'
  /** Stable. Programs can rely on it. */
  code: 'key_limit'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This invite has expired. Ask for a new one. */
export type ProblemInviteExpired = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_expired'
  status: 410
  /** The HTTP name of the status. */
  title: 'Gone'
  /** Stable. Programs can rely on it. */
  code: 'invite_expired'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This invite has no uses left. Ask for a new one. */
export type ProblemInviteExhausted = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_exhausted'
  status: 410
  /** The HTTP name of the status. */
  title: 'Gone'
  /** Stable. Programs can rely on it. */
  code: 'invite_exhausted'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This invite was revoked. Ask for a new one. */
export type ProblemInviteRevoked = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#invite_revoked'
  status: 410
  /** The HTTP name of the status. */
  title: 'Gone'
  /** Stable. Programs can rely on it. */
  code: 'invite_revoked'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The stored version doesn’t meet the condition of the request. Get the current version, if there is one, merge your changes, and send them again. */
export type ProblemVersionConflict = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#version_conflict'
  status: 412
  /** The HTTP name of the status. */
  title: 'Precondition Failed'
  /** Stable. Programs can rely on it. */
  code: 'version_conflict'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The current version. Null: there is none. */
  current_version: number | null
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The body is too large for this route. Send less in one request. */
export type ProblemPayloadTooLarge = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#payload_too_large'
  status: 413
  /** The HTTP name of the status. */
  title: 'Payload Too Large'
  /** Stable. Programs can rely on it. */
  code: 'payload_too_large'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The settings exceed the size limit. Shorten or remove some. */
export type ProblemSettingsTooLarge = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#settings_too_large'
  status: 413
  /** The HTTP name of the status. */
  title: 'Payload Too Large'
  /** Stable. Programs can rely on it. */
  code: 'settings_too_large'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The limit in bytes. */
  limit_bytes: number
  /** The size in bytes after the request. */
  actual_bytes: number
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** This workspace’s overrides and current settings would exceed its size limit. Remove some first. */
export type ProblemWorkspaceFull = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#workspace_full'
  status: 413
  /** The HTTP name of the status. */
  title: 'Payload Too Large'
  /** Stable. Programs can rely on it. */
  code: 'workspace_full'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The limit in bytes. */
  limit_bytes: number
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Send the body as application/json. */
export type ProblemUnsupportedMediaType = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unsupported_media_type'
  status: 415
  /** The HTTP name of the status. */
  title: 'Unsupported Media Type'
  /** Stable. Programs can rely on it. */
  code: 'unsupported_media_type'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** None of the workspace’s patterns matches this repository. Add a pattern that matches it first. */
export type ProblemRepoOutsidePatterns = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#repo_outside_patterns'
  status: 422
  /** The HTTP name of the status. */
  title: 'Unprocessable Entity'
  /** Stable. Programs can rely on it. */
  code: 'repo_outside_patterns'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Members join this workspace through an organization, so the owner of every pattern must be that organization, or a subgroup of it. Change the patterns, or link the organization with `join: nobody`. */
export type ProblemPatternOutsideOrganization = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#pattern_outside_organization'
  status: 422
  /** The HTTP name of the status. */
  title: 'Unprocessable Entity'
  /** Stable. Programs can rely on it. */
  code: 'pattern_outside_organization'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The workspace has locked these keys. An override can’t contain them, nor a block for a language of a locked block. Remove these from the override, or ask an admin to unlock them. */
export type ProblemKeyLocked = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#key_locked'
  status: 422
  /** The HTTP name of the status. */
  title: 'Unprocessable Entity'
  /** Stable. Programs can rely on it. */
  code: 'key_locked'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The locked keys that the override contains. */
  keys: string[]
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Too many requests. Wait for the number of seconds in Retry-After. */
export type ProblemRateLimited = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#rate_limited'
  status: 429
  /** The HTTP name of the status. */
  title: 'Too Many Requests'
  /** Stable. Programs can rely on it. */
  code: 'rate_limited'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The service ran into an error. Try again later. If the error persists, send the request id to the operator. */
export type ProblemInternalError = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#internal_error'
  status: 500
  /** The HTTP name of the status. */
  title: 'Internal Server Error'
  /** Stable. Programs can rely on it. */
  code: 'internal_error'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** A service that this request depends on has failed. Try again later. */
export type ProblemUpstreamFailed = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#upstream_failed'
  status: 502
  /** The HTTP name of the status. */
  title: 'Bad Gateway'
  /** Stable. Programs can rely on it. */
  code: 'upstream_failed'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The service that failed or didn’t respond. */
  upstream: 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The service can’t handle the request right now. Wait for the number of seconds in Retry-After, then try again. */
export type ProblemUnavailable = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#unavailable'
  status: 503
  /** The HTTP name of the status. */
  title: 'Service Unavailable'
  /** Stable. Programs can rely on it. */
  code: 'unavailable'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** The service is under maintenance and accepts no changes. Wait for the number of seconds in Retry-After, then try again. */
export type ProblemMaintenance = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#maintenance'
  status: 503
  /** The HTTP name of the status. */
  title: 'Service Unavailable'
  /** Stable. Programs can rely on it. */
  code: 'maintenance'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Browser sign-in isn’t configured on this installation. Use POST /api/auth/verify. */
export type ProblemOauthNotConfigured = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#oauth_not_configured'
  status: 503
  /** The HTTP name of the status. */
  title: 'Service Unavailable'
  /** Stable. Programs can rely on it. */
  code: 'oauth_not_configured'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Billing isn’t configured on this installation. Only its operator can change that. */
export type ProblemBillingNotConfigured = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#billing_not_configured'
  status: 503
  /** The HTTP name of the status. */
  title: 'Service Unavailable'
  /** Stable. Programs can rely on it. */
  code: 'billing_not_configured'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** Repository webhooks aren’t configured on this installation. Its operator has to set WEBHOOK_KEYS. */
export type ProblemWebhooksNotConfigured = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#webhooks_not_configured'
  status: 503
  /** The HTTP name of the status. */
  title: 'Service Unavailable'
  /** Stable. Programs can rely on it. */
  code: 'webhooks_not_configured'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** A service that this request depends on didn’t respond in time. Try again later. */
export type ProblemUpstreamTimeout = {
  /** The page that explains the code: `/api/docs/errors#<code>`. */
  type: '/api/docs/errors#upstream_timeout'
  status: 504
  /** The HTTP name of the status. */
  title: 'Gateway Timeout'
  /** Stable. Programs can rely on it. */
  code: 'upstream_timeout'
  /** Text for people: what happened and what to do next. */
  detail: string
  /** The response’s `X-Request-Id`. */
  request_id: string
  /** The service that failed or didn’t respond. */
  upstream: 'repohost' | 'billing-provider' | 'assistant-a' | 'assistant-b'
  /** Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect. */
  error?: string
}

/** For each operation what it takes, what it returns and how it can fail. */
export interface Operations {
  /** Check that the process is alive */
  'GET /api/health': {
    request: unknown
    answer: Health
    problem: ProblemValidationFailed | ProblemInternalError
  }
  /** Check that requests can be served */
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenInvalid | ProblemAccountDisabled | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemUpstreamTimeout
  }
  /** Sign out */
  'POST /api/auth/logout': {
    request: {
      body?: LogoutBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemCsrfRejected | ProblemScopeMissing | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the caller's profile */
  'GET /api/me': {
    request: unknown
    answer: Profile
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Delete the caller's account */
  'DELETE /api/me': {
    request: {
      body: DeleteAccountBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemLastAdmin | ProblemSubscriptionActive | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the repositories of the caller's workspaces */
  'GET /api/projects': {
    request: {
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: ProjectPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the recording preferences */
  'GET /api/me/recording': {
    request: unknown
    answer: Recording
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Change the recording preferences */
  'PUT /api/me/recording': {
    request: {
      body: Recording
    }
    answer: Recording
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Choose the time zone */
  'PUT /api/me/timezone': {
    request: {
      body: TimezoneChoice
    }
    answer: TimezoneOfPerson
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemInvalidTimezone | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Export the caller's data */
  'GET /api/me/export': {
    request: unknown
    answer: AccountExport
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List who viewed the caller's numbers by name */
  'GET /api/me/views': {
    request: {
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: ViewPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List changes that affect the caller */
  'GET /api/me/notices': {
    request: unknown
    answer: NoticeList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List editor project names */
  'GET /api/me/editor-projects': {
    request: unknown
    answer: EditorProjectList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Assign a repository to a project name */
  'PUT /api/me/editor-projects': {
    request: {
      body: EditorProjectBody
    }
    answer: EditorProjectResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Remove the caller's minutes */
  'DELETE /api/me/active-minutes': {
    request: {
      query: {
        /** A local day, or the first of several. */
        day: string
        /** The last local day. At most 31 days in all. Default: `day`. */
        to?: string | undefined
        /** Only this repository or project name, also one that no workspace counts. */
        repo?: string | undefined
      }
    }
    answer: RemovedMinutes
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Send heartbeats */
  'POST /api/wakatime/v1/users/{user}/heartbeats.bulk': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
      body?: HeartbeatsBody
    }
    answer: HeartbeatsAnswer
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Send a heartbeat */
  'POST /api/wakatime/v1/users/{user}/heartbeats': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
      body?: Heartbeat
    }
    answer: HeartbeatAnswer | HeartbeatsAnswer
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the caller in WakaTime's format */
  'GET /api/wakatime/v1/users/{user}': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: EditorUser
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Send plugin errors */
  'POST /api/wakatime/v1/plugins/errors': {
    request: unknown
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the caller's minutes today */
  'GET /api/wakatime/v1/users/{user}/statusbar/today': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: StatusBar
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the caller's minutes today */
  'GET /api/wakatime/v1/users/{user}/status_bar/today': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: StatusBar
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the caller's time by day */
  'GET /api/wakatime/v1/users/{user}/summaries': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** A day, or `today` or `yesterday`. Only the day of a timestamp is read. */
        start?: string | undefined
        /** A day, or `today` or `yesterday`. Only the day of a timestamp is read. */
        end?: string | undefined
        /** `Today`, `Yesterday`, `Last 7 Days`, `Last 7 Days from Yesterday`, `Last 14 Days`, `Last 30 Days`, `Last 6 Months`, `Last Year`, `This Week`, `Last Week`, `This Month` or `Last Month`, in any case. Ignored with `start`. Default: today. */
        range?: string | undefined
        /** Count only this repository. */
        project?: string | undefined
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: Summaries
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the sums of the caller's last 7 days */
  'GET /api/wakatime/v1/users/{user}/stats': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** Count only this repository. */
        project?: string | undefined
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: Stats
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the sums of the caller's time */
  'GET /api/wakatime/v1/users/{user}/stats/{range}': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
        range: string
      }
      query?: {
        /** Count only this repository. */
        project?: string | undefined
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: Stats
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get all of the caller's time */
  'GET /api/wakatime/v1/users/{user}/all_time_since_today': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** Count only this repository. */
        project?: string | undefined
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: AllTime
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the caller's repositories with minutes */
  'GET /api/wakatime/v1/users/{user}/projects': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query?: {
        /** Part of the name. */
        q?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: Projects
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get the caller's time on a day by hour */
  'GET /api/wakatime/v1/users/{user}/durations': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
      query: {
        /** A day, or `today` or `yesterday`. Only the day of a timestamp is read. */
        date: string
        /** A repository. */
        project?: string | undefined
        /** Default: the `Timezone` header, or the caller’s time zone. */
        timezone?: string | undefined
      }
      headers?: {
        /** An IANA time zone. It decides which day is today. */
        Timezone?: string | undefined
      }
    }
    answer: Durations
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Import past heartbeats */
  'POST /api/wakatime/v1/users/{user}/import': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
    }
    answer: Import
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemBadRequest | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRequestTimeout | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the latest import’s progress */
  'GET /api/wakatime/v1/users/{user}/import': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
    }
    answer: Import
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Cancel the import */
  'DELETE /api/wakatime/v1/users/{user}/import': {
    request: {
      path: {
        /** `current`, or the caller's login. */
        user: string
      }
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRouteNotFound | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the caller's access keys */
  'GET /api/me/keys': {
    request: unknown
    answer: AccessKeyList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create an access key */
  'POST /api/me/keys': {
    request: {
      body: CreateKeyBody
    }
    answer: CreatedAccessKey
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemKeyLimit | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Revoke an access key */
  'DELETE /api/me/keys/{key}': {
    request: {
      path: {
        key: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemKeyNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Pull repository settings */
  'GET /api/settings/{owner}/{repo}': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: Snapshot
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Push repository settings */
  'PUT /api/settings/{owner}/{repo}': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers: {
        /** The caller's own repository host token. The service checks it with the host and never stores it. */
        'X-Repohost-Token': string
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body: PushBody
    }
    answer: PushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenRequired | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRepohostTokenInvalid | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemRepoAccessDenied | ProblemWorkspaceNotFound | ProblemWorkspaceRequired | ProblemWorkspaceLimit | ProblemRepoRenamed | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemUpstreamTimeout
  }
  /** Remove repository settings */
  'DELETE /api/settings/{owner}/{repo}': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the versions of the settings */
  'GET /api/settings/{owner}/{repo}/versions': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: SnapshotVersionList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Pull a version of the settings */
  'GET /api/settings/{owner}/{repo}/versions/{version}': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
        version: number
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: Snapshot
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Restore an old version of the settings */
  'POST /api/settings/{owner}/{repo}/restore': {
    request: {
      path: {
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body: RestoreBody
    }
    answer: PushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemNotAMember | ProblemNeverSynced | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the settings schema */
  'GET /api/settings-schema': {
    request: unknown
    answer: SettingsSchema
    problem: ProblemValidationFailed | ProblemSchemaNotConfigured | ProblemRateLimited | ProblemInternalError
  }
  /** Join a workspace with an invite code */
  'POST /api/team/workspaces/join': {
    request: {
      body: JoinBody
    }
    answer: JoinResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemInviteNotFound | ProblemWorkspaceLimit | ProblemInviteExpired | ProblemInviteExhausted | ProblemInviteRevoked | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the caller's workspaces */
  'GET /api/team/me': {
    request: unknown
    answer: MyWorkspaces
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the workspaces that the caller or the access key reaches */
  'GET /api/team/workspaces': {
    request: unknown
    answer: WorkspaceNames
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create a workspace and its first invite */
  'POST /api/team/workspaces/create': {
    request: {
      body: CreateWorkspaceBody
    }
    answer: CreatedWorkspace
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemWorkspaceLimit | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Delete a workspace and all of its data */
  'DELETE /api/team/workspaces/{id}': {
    request: {
      path: {
        id: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
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
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: MemberPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Remove a member */
  'DELETE /api/team/workspaces/{id}/members': {
    request: {
      path: {
        id: string
      }
      query: {
        /** Case doesn’t matter. */
        login: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemWorkspaceNotFound | ProblemPersonalWorkspace | ProblemLastAdmin | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Look up an invite code */
  'GET /api/team/invites/{code}': {
    request: {
      path: {
        code: string
      }
    }
    answer: InviteLookup
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemInviteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
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
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: InvitePage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPersonalWorkspace | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
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
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemInviteNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the workspace keys */
  'GET /api/team/workspaces/{id}/keys': {
    request: {
      path: {
        id: string
      }
    }
    answer: AccessKeyList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create a workspace key */
  'POST /api/team/workspaces/{id}/keys': {
    request: {
      path: {
        id: string
      }
      body: CreateWorkspaceKeyBody
    }
    answer: CreatedAccessKey
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemKeyLimit | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Revoke a workspace key */
  'DELETE /api/team/workspaces/{id}/keys/{key}': {
    request: {
      path: {
        id: string
        key: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemKeyNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the repository patterns */
  'GET /api/team/workspaces/{id}/patterns': {
    request: {
      path: {
        id: string
      }
    }
    answer: Patterns
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Replace the repository patterns */
  'PUT /api/team/workspaces/{id}/patterns': {
    request: {
      path: {
        id: string
      }
      body: PatternsBody
    }
    answer: Patterns
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemWorkspaceLimit | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemPatternOutsideOrganization | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Read which organization the workspace follows */
  'GET /api/team/workspaces/{id}/organization': {
    request: {
      path: {
        id: string
      }
    }
    answer: Organization
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemOrganizationNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Follow an organization */
  'PUT /api/team/workspaces/{id}/organization': {
    request: {
      path: {
        id: string
      }
      headers: {
        /** The caller's own repository host token. The service checks it with the host and never stores it. */
        'X-Repohost-Token': string
      }
      body: OrganizationBody
    }
    answer: Organization
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenRequired | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRepohostTokenInvalid | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemOrganizationAccessDenied | ProblemWorkspaceNotFound | ProblemPersonalWorkspace | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemPatternOutsideOrganization | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemUpstreamTimeout
  }
  /** Stop following an organization */
  'DELETE /api/team/workspaces/{id}/organization': {
    request: {
      path: {
        id: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemOrganizationNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List members to check */
  'GET /api/team/workspaces/{id}/organization/members': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: OrganizationMemberPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Keep a member who has left the organization */
  'DELETE /api/team/workspaces/{id}/organization/members': {
    request: {
      path: {
        id: string
      }
      query: {
        /** Case doesn’t matter. */
        login: string
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get the workspace settings */
  'GET /api/team/workspaces/{id}/settings': {
    request: {
      path: {
        id: string
      }
    }
    answer: WorkspaceSettings
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Change the workspace settings */
  'PATCH /api/team/workspaces/{id}/settings': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body?: WorkspaceSettingsPatch
    }
    answer: WorkspaceSettings
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the versions of the workspace settings */
  'GET /api/team/workspaces/{id}/settings/versions': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Lists the history of this key alone, with its values. */
        key?: string | undefined
      }
    }
    answer: WorkspaceSettingsVersionList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get a version of the workspace settings */
  'GET /api/team/workspaces/{id}/settings/versions/{version}': {
    request: {
      path: {
        id: string
        version: number
      }
    }
    answer: WorkspaceSettingsVersion
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Restore an old version of the workspace settings */
  'POST /api/team/workspaces/{id}/settings/restore': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body: RestoreBody
    }
    answer: WorkspaceSettings
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemVersionNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the repository overrides */
  'GET /api/team/workspaces/{id}/project-settings': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: OverridePage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get a repository override */
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
    }
    answer: Override
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Set a repository override */
  'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body: OverrideBody
    }
    answer: Override
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRepoOutsidePatterns | ProblemKeyLocked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Remove a repository override */
  'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body?: NoBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the versions of an override */
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
    }
    answer: SnapshotVersionList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Get a version of an override */
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions/{version}': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
        version: number
      }
    }
    answer: Override
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemVersionNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Restore an old version of an override */
  'POST /api/team/workspaces/{id}/project-settings/{owner}/{repo}/restore': {
    request: {
      path: {
        id: string
        /** At GitLab, the group path as one segment: `acme%2Fplatform`. */
        owner: string
        repo: string
      }
      query?: {
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body: RestoreBody
    }
    answer: Override
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemOverrideNotFound | ProblemVersionNotFound | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRepoOutsidePatterns | ProblemKeyLocked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Move the settings of a renamed repository */
  'POST /api/team/workspaces/{id}/repos/move': {
    request: {
      path: {
        id: string
      }
      headers: {
        /** The caller's own repository host token. The service checks it with the host and never stores it. */
        'X-Repohost-Token': string
      }
      body: MoveBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemRepohostTokenRequired | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemRepohostTokenInvalid | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemRepoAccessDenied | ProblemWorkspaceNotFound | ProblemNeverSynced | ProblemRepoTaken | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRepoOutsidePatterns | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemUpstreamTimeout
  }
  /** Get the configuration */
  'GET /api/team/workspaces/{id}/configuration': {
    request: {
      path: {
        id: string
      }
    }
    answer: Configuration
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Replace the configuration */
  'PUT /api/team/workspaces/{id}/configuration': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Change nothing, and return what would change. */
        dry_run?: boolean | undefined
        /** The same as the header `If-Match`. Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        if_match?: string | undefined
        /** The same as the header `If-None-Match`. `*`: change only if there is nothing yet. Otherwise the response is 412. */
        if_none_match?: string | undefined
      }
      headers?: {
        /** Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412. */
        'If-Match'?: string | undefined
        /** `*`: change only if there is nothing yet. Otherwise the response is 412. */
        'If-None-Match'?: string | undefined
      }
      body?: ConfigurationBody
    }
    answer: ConfigurationResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemBadRequest | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRequestTimeout | ProblemWorkspaceLimit | ProblemVersionConflict | ProblemPayloadTooLarge | ProblemSettingsTooLarge | ProblemWorkspaceFull | ProblemUnsupportedMediaType | ProblemRepoOutsidePatterns | ProblemPatternOutsideOrganization | ProblemKeyLocked | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Get a repository's effective settings */
  'GET /api/team/effective-config': {
    request: {
      query: {
        repo: string
        /** Use this workspace instead of the best match. */
        workspace?: string | undefined
      }
    }
    answer: EffectiveConfig
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemNotAMember | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the audit trail */
  'GET /api/team/workspaces/{id}/audit': {
    request: {
      path: {
        id: string
      }
      query?: {
        /** Rows per page. */
        limit?: number | undefined
        /** The `next_cursor` of the previous page. */
        cursor?: string | undefined
      }
    }
    answer: AuditPage
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Add active minutes */
  'POST /api/team/active-minutes': {
    request: {
      body: FlushBody
    }
    answer: FlushResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemInvalidTimezone | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemFlushIdReused | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the caller's active minutes per workspace */
  'GET /api/team/active-minutes': {
    request: {
      query?: {
        /** A UTC day. Default: today. */
        day?: string | undefined
        /** The first UTC day of a range, instead of `day`. */
        from?: string | undefined
        /** The last UTC day of a range, instead of `day`. */
        to?: string | undefined
      }
    }
    answer: MinutesOfDay | MinutesOfRange
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Set the commit counts of a day */
  'POST /api/team/commits': {
    request: {
      query?: {
        workspace?: string | undefined
      }
      body: CountsBody
    }
    answer: CountsResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemBadRequest | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRequestTimeout | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Set the closed-issue counts of a day */
  'POST /api/team/closed-issues': {
    request: {
      query?: {
        workspace?: string | undefined
      }
      body: CountsBody
    }
    answer: CountsResult
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemBadRequest | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRequestTimeout | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Read the team dashboard */
  'GET /api/team/dashboard': {
    request: {
      query: {
        workspace: string
        /** The first day. Default: 30 days that end with `to`. */
        from?: string | undefined
        /** The last day. Default: 30 days that begin with `from`, or the caller’s own today. */
        to?: string | undefined
        /** Only this login’s activity. It can name someone who has left. A login that was never a member returns 404 `member_not_found`. If the privacy level was `team` on any day in the range, every login except the caller’s own returns 403 `member_detail_hidden`, whether it exists or not. */
        member?: string | undefined
        /** Only activity in this repository. */
        repo?: string | undefined
        /** The format, instead of `Accept`, for links and browsers. */
        format?: 'json' | 'csv' | undefined
        /** Adds a `trend` to the rows of members and repositories. */
        trends?: boolean | undefined
        /** Set it for a range that a page loads automatically, to compare another range with it. The access log then lists the view with the kind `comparison`. */
        comparison?: boolean | undefined
      }
    }
    answer: Dashboard
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemMemberDetailHidden | ProblemWorkspaceNotFound | ProblemMemberNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Read the caller's own dashboard */
  'GET /api/team/dashboard/mine': {
    request: {
      query?: {
        /** Only this workspace. Default: all of the caller’s own time. */
        workspace?: string | undefined
        /** The first day. Default: 30 days that end with `to`. */
        from?: string | undefined
        /** The last day. Default: 30 days that begin with `from`, or the caller’s own today. */
        to?: string | undefined
        /** Only activity in this repository. */
        repo?: string | undefined
        /** The format, instead of `Accept`, for links and browsers. */
        format?: 'json' | 'csv' | undefined
        /** Adds a `trend` to the rows of members and repositories. */
        trends?: boolean | undefined
      }
    }
    answer: OwnDashboard
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Read the webhook */
  'GET /api/team/workspaces/{id}/webhook': {
    request: {
      path: {
        id: string
      }
    }
    answer: Webhook
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemWebhookNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Create the webhook, or rotate its secret */
  'POST /api/team/workspaces/{id}/webhook': {
    request: {
      path: {
        id: string
      }
      body?: NoBody
    }
    answer: CreatedWebhook
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance | ProblemWebhooksNotConfigured
  }
  /** Delete the webhook */
  'DELETE /api/team/workspaces/{id}/webhook': {
    request: {
      path: {
        id: string
      }
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemWebhookNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** List the webhooks */
  'GET /api/team/workspaces/{id}/webhooks': {
    request: {
      path: {
        id: string
      }
    }
    answer: WebhookList
    problem: ProblemValidationFailed | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemProRequired | ProblemAccountDisabled | ProblemScopeMissing | ProblemAdminRequired | ProblemWorkspaceNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Say who invites to what */
  'GET /api/invites/{code}': {
    request: {
      path: {
        code: string
      }
    }
    answer: InviteGreeting
    problem: ProblemValidationFailed | ProblemInviteNotFound | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** Start a subscription */
  'POST /api/billing/checkout': {
    request: {
      body?: CheckoutBody
    }
    answer: BillingUrl
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemBillingNotConfigured | ProblemUpstreamTimeout
  }
  /** Open the billing portal */
  'POST /api/billing/portal': {
    request: {
      body?: NoBody
    }
    answer: BillingUrl
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemNoSubscription | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUnavailable | ProblemMaintenance | ProblemBillingNotConfigured | ProblemUpstreamTimeout
  }
  /** Receive a billing notification */
  'POST /api/billing-provider/webhook': {
    request: {
      headers?: {
        /** `t=<seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<seconds>.<raw body>`. There can be several `v1`. The time can be at most 5 minutes old or ahead. `Stripe-Signature` is accepted as well. */
        'Billing-Signature'?: string | undefined
      }
      body: BillingEvent
    }
    answer: Received
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemSignatureInvalid | ProblemPayloadTooLarge | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance | ProblemBillingNotConfigured
  }
  /** Receive a webhook delivery */
  'POST /api/repohost/webhook/{id}': {
    request: {
      path: {
        id: string
      }
      headers?: {
        /** GitHub, Forgejo, Gitea: `sha256=` and the HMAC-SHA256 of the raw body in hex. */
        'X-Hub-Signature-256'?: string | undefined
        /** Forgejo: the HMAC-SHA256 of the raw body in hex. */
        'X-Forgejo-Signature'?: string | undefined
        /** Gitea: the HMAC-SHA256 of the raw body in hex. */
        'X-Gitea-Signature'?: string | undefined
        /** GitLab: the secret itself. */
        'X-Gitlab-Token'?: string | undefined
      }
      body?: DeliveryPayload
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemSignatureInvalid | ProblemWebhookNotFound | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance | ProblemWebhooksNotConfigured
  }
  /** List the models of assistant A */
  'GET /api/assistant-a-models': {
    request: {
      query: {
        /** The caller's own key at the provider. The service sends it only to the provider, and doesn’t store it. */
        apiKey: string
      }
    }
    answer: ModelList
    problem: ProblemValidationFailed | ProblemAssistantKeyRejected | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUpstreamTimeout
  }
  /** List the models of assistant B */
  'GET /api/assistant-b-models': {
    request: {
      query: {
        /** The caller's own key at the provider. The service sends it only to the provider, and doesn’t store it. */
        apiKey: string
      }
    }
    answer: ModelList
    problem: ProblemValidationFailed | ProblemAssistantKeyRejected | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemRateLimited | ProblemInternalError | ProblemUpstreamFailed | ProblemUpstreamTimeout
  }
  /** Record an activation event */
  'POST /api/events': {
    request: {
      body: EventBody
    }
    answer: Ok
    problem: ProblemValidationFailed | ProblemInvalidJson | ProblemUnauthenticated | ProblemTokenInvalid | ProblemTokenExpired | ProblemTokenRevoked | ProblemAccountDisabled | ProblemScopeMissing | ProblemCsrfRejected | ProblemPayloadTooLarge | ProblemUnsupportedMediaType | ProblemRateLimited | ProblemInternalError | ProblemUnavailable | ProblemMaintenance
  }
  /** Read the funnel */
  'GET /api/admin/funnel': {
    request: {
      query?: {
        /** The first UTC day. Default: the day of the first event. */
        from?: string | undefined
        /** The last UTC day, inclusive. Default: today. */
        to?: string | undefined
        /** Only events of this source (`service` included). */
        source?: string | undefined
      }
    }
    answer: Funnel
    problem: ProblemValidationFailed | ProblemInvalidRange | ProblemAdminKeyInvalid | ProblemRateLimited | ProblemInternalError | ProblemUnavailable
  }
  /** List the limits */
  'GET /api/limits': {
    request: unknown
    answer: Limits
    problem: ProblemValidationFailed | ProblemRateLimited | ProblemInternalError
  }
  /** Download the editor extension */
  'GET /api/extension-{version}.vsix': {
    request: {
      path: {
        /** As in `version` of `GET /api/health`. */
        version: string
      }
    }
    answer: string
    problem: ProblemValidationFailed | ProblemRouteNotFound | ProblemRateLimited | ProblemInternalError
  }
  /** List what is recorded about people, and who sees it */
  'GET /api/privacy': {
    request: unknown
    answer: Privacy
    problem: ProblemValidationFailed | ProblemRateLimited | ProblemInternalError
  }
}
