import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { SubscriptionStatus } from './billing.js'
import {
  Closed,
  Day,
  GivenReason,
  LockedKeys,
  Login,
  MergedKeys,
  Named,
  NextCursor,
  Nullable,
  RepoPath,
  Resource,
  Role,
  ref,
  Settings,
  StringEnum,
  Timestamp,
  Uuid,
} from './common.js'
import { countExamples, perCount } from './counts.js'
import { scopes } from './keys.js'
import { limits } from './limits.js'
import { Profile } from './profile.js'
import { Recording } from './recording.js'

export const DeleteAccountBody = Named('DeleteAccountBody', {
  confirm: Type.String({
    minLength: 1,
    maxLength: limits.login_length,
    description: "The caller's own login.",
    examples: ['ada'],
  }),
})

export const View = Resource(
  'View',
  {
    viewer: {
      ...Login,
      description:
        'The viewer’s login, or `deleted user` if the viewer has deleted the account. `key <name> (created by <login>)` for a workspace key.',
    },
    workspace: Closed({ id: Uuid, name: Type.String({ examples: ['Acme'] }) }),
    day: { ...Day, description: 'The UTC day of the view.' },
    range: Closed(
      { from: Day, to: Day },
      {
        description:
          'The days that were viewed. Views of the same kind and day are merged if their ranges overlap or touch.',
      },
    ),
    kind: StringEnum(['dashboard', 'comparison', 'csv'], {
      description:
        '`comparison`: a dashboard loaded the range automatically, to compare the viewed range with it. `csv`: downloaded as a file.',
    }),
  },
  {
    description: 'Views that showed the caller by name, grouped by viewer, kind, range, day and workspace.',
  },
)
export type View = Static<typeof View>

export const ViewPage = Named('ViewPage', { views: Type.Array(ref(View)), next_cursor: NextCursor })

/** A list in the export. Its item schema has a name in the API document. */
const List = <P extends TProperties>(name: string, properties: P, description?: string) =>
  Type.Array(Named(`Exported${name}`, properties), description === undefined ? {} : { description })

const Count = Type.Integer({ minimum: 0 })
const Minutes = Type.Array(Type.Integer({ minimum: 0 }))
const ProjectMinutes = List('ProjectMinutes', { project: Type.String(), minutes: Minutes })
const MaybeTimestamp = Nullable(Timestamp)
const Repo = { owner: Type.String(), repo: Type.String() }
const RepoSettings = { ...Repo, version: Type.Integer(), settings: Settings }
const SettingsAt = { workspace_id: Uuid, ...Repo }
const FunnelCount = { event: Type.String(), source: Type.String(), first_at: Timestamp, events: Count }

const moment = '2026-11-21T09:30:00.000Z'
const workspace = '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'

const example = {
  exported_at: moment,
  profile: {
    id: '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5f',
    login: 'ada',
    avatar_url: 'https://avatars.example.com/ada',
    plan: 'pro',
    status: 'none',
    timezone: 'Europe/Berlin',
    timezone_chosen: false,
    heartbeats: null,
    repohost_id: 1_815,
    created_at: moment,
    disabled_at: null,
  },
  recording: { paused: false, repos_off: ['acme/secret-*'], hours: null },
  billing: { customers: [], subscriptions: [] },
  personal_workspace: null,
  personal_settings: [],
  personal_overrides: [],
  personal_override_versions: [],
  personal_workspace_versions: [],
  addresses_recognized: [{ confirmed_day: '2026-03-26' }],
  memberships: [
    { workspace: { id: workspace, name: 'Acme', personal: false }, role: 'admin', joined_at: moment },
  ],
  removals: [],
  organizations_linked: [],
  organization_memberships: [],
  invites: [],
  keys: [],
  settings_written: [
    {
      workspace_id: workspace,
      owner: 'acme',
      repo: 'api-gateway',
      version: 3,
      reason: null,
      created_at: moment,
    },
  ],
  overrides_written: [],
  workspace_settings_written: [],
  override_versions_written: [],
  activity: [
    {
      workspace_id: workspace,
      day: '2026-11-21',
      repo: 'acme/api-gateway',
      minutes: 42,
      ...countExamples,
      hours: [0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      timezone: 'Europe/Berlin',
    },
  ],
  flushes: [],
  heartbeat_hours: [
    {
      hour: '2026-11-21T09:00:00.000Z',
      projects: [{ project: 'acme/api-gateway', minutes: [0, 2, 4] }],
      last_projects: [{ project: 'acme/api-gateway', minutes: [0, 2, 4] }],
      counted: [{ workspace_id: workspace, minutes: [0, 1, 2, 3, 4] }],
      agent_projects: [],
      agent_last_projects: [],
    },
  ],
  agent_minutes: [],
  personal_minutes: [],
  repositories: [{ repo: 'acme/api-gateway', seen_day: '2026-11-21' }],
  editor_projects: [],
  dropped_names: [],
  imports: [],
  import_days: [],
  imported_minutes: [],
  audit: [
    {
      id: '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d60',
      at: moment,
      workspace_id: workspace,
      actor: 'ada',
      action: 'workspace.created',
      target: null,
      details: {},
    },
  ],
  funnel: [{ event: 'signed_in', source: 'service', first_at: moment, events: 1 }],
  funnel_days: [{ event: 'signed_in', source: 'service', first_at: moment, events: 1, day: '2026-11-21' }],
  views: [],
  views_of_others: [],
  signed_out: [],
}

/** Everything that the service knows about a person, and nothing about anyone else. */
export const AccountExport = Resource(
  'AccountExport',
  {
    exported_at: Timestamp,
    profile: Closed({
      ...Profile.properties,
      repohost_id: Type.Integer({ description: 'The numeric id at the repository host.' }),
      created_at: Timestamp,
      disabled_at: Nullable(Timestamp, {
        description: 'When the operator disabled the account. Null: it is enabled.',
      }),
    }),
    recording: ref(Recording),
    billing: Closed({
      customers: List('Customers', { id: Type.String(), created_at: Timestamp }),
      subscriptions: List('Subscriptions', {
        id: Type.String(),
        customer_id: Type.String(),
        status: SubscriptionStatus,
        updated_at: Timestamp,
      }),
    }),
    personal_workspace: Nullable(
      Closed({
        id: Uuid,
        name: Type.String(),
        created_at: Timestamp,
        idle_window_minutes: Type.Integer(),
        patterns: Type.Array(Type.String()),
        settings: Settings,
        locked: LockedKeys,
        merged: MergedKeys,
        settings_version: Type.Integer(),
        settings_updated_at: Timestamp,
      }),
    ),
    personal_settings: List(
      'PersonalSettings',
      { ...RepoSettings, created_at: Timestamp },
      `Repository settings in the personal workspace, with the last ${limits.settings_versions_kept} versions.`,
    ),
    personal_overrides: List('PersonalOverrides', { ...RepoSettings, updated_at: Timestamp }),
    personal_override_versions: List(
      'PersonalOverrideVersions',
      { ...RepoSettings, created_at: Timestamp },
      'Earlier versions of the overrides in the personal workspace.',
    ),
    personal_workspace_versions: List(
      'PersonalWorkspaceVersions',
      {
        version: Type.Integer(),
        settings: Settings,
        locked: LockedKeys,
        merged: MergedKeys,
        idle_window_minutes: Type.Integer(),
        created_at: Timestamp,
      },
      'The last versions of the personal workspace’s own settings.',
    ),
    addresses_recognized: List(
      'AddressesRecognized',
      { confirmed_day: { ...Day, description: 'The UTC day on which the repository host confirmed it.' } },
      'One per e-mail address by which the service recognizes the caller’s commits. It stores only an HMAC of each.',
    ),
    memberships: List('Memberships', {
      workspace: Closed({ id: Uuid, name: Type.String(), personal: Type.Boolean() }),
      role: Role,
      joined_at: Timestamp,
    }),
    removals: List(
      'Removals',
      { workspace_id: Uuid, removed_at: Timestamp },
      'When an admin last removed the caller from a workspace, or made the caller a member instead of an admin.',
    ),
    organizations_linked: List(
      'OrganizationsLinked',
      { workspace_id: Uuid, organization: Type.String(), linked_at: Timestamp },
      'The repository-host organizations that the caller has linked workspaces to.',
    ),
    organization_memberships: List(
      'OrganizationMemberships',
      { workspace_id: Uuid, confirmed_at: Nullable(Timestamp), left_at: Nullable(Timestamp) },
      'When the repository host last confirmed that the caller belongs to the organization through which the caller joined, and when it first said otherwise.',
    ),
    invites: List(
      'Invites',
      {
        id: Uuid,
        workspace_id: Uuid,
        role: Role,
        max_uses: Nullable(Type.Integer()),
        used_count: Count,
        created_at: Timestamp,
        expires_at: Timestamp,
        revoked_at: MaybeTimestamp,
      },
      'Invites that the caller created, without their codes.',
    ),
    keys: List(
      'Keys',
      {
        id: Uuid,
        workspace_id: Nullable(Uuid),
        name: Type.String(),
        scopes: Type.Array(StringEnum(scopes)),
        created_at: Timestamp,
        expires_at: Timestamp,
        revoked_at: MaybeTimestamp,
        last_used_day: Nullable(Day),
      },
      `Access keys that the caller created, for themselves or for a workspace, without their secrets. Keys that have ended are kept for ${limits.ended_key_days} days.`,
    ),
    settings_written: List(
      'SettingsWritten',
      { ...SettingsAt, version: Type.Integer(), reason: GivenReason, created_at: Timestamp },
      'Versions that the caller pushed. This includes other people’s workspaces, to which the settings belong.',
    ),
    overrides_written: List('OverridesWritten', {
      ...SettingsAt,
      reason: GivenReason,
      updated_at: Timestamp,
    }),
    workspace_settings_written: List(
      'WorkspaceSettingsWritten',
      {
        workspace_id: Uuid,
        version: Type.Integer(),
        reason: GivenReason,
        created_at: Timestamp,
      },
      'Versions of workspace settings that the caller wrote.',
    ),
    override_versions_written: List(
      'OverrideVersionsWritten',
      {
        ...SettingsAt,
        version: Type.Integer(),
        reason: GivenReason,
        created_at: Timestamp,
      },
      'Earlier versions of overrides that the caller wrote.',
    ),
    activity: List('Activity', {
      workspace_id: Uuid,
      day: Day,
      repo: RepoPath,
      minutes: Count,
      ...perCount(() => Count),
      hours: Nullable(Type.Array(Type.Integer()), {
        description: 'The minutes of the 24 local hours. Null: the service doesn’t know them.',
      }),
      timezone: Nullable(Type.String(), {
        description: 'The time zone in which the hours were last written. It is deleted with them.',
      }),
    }),
    flushes: List('Flushes', {
      flush_id: Type.String(),
      answer: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
      created_at: Timestamp,
    }),
    heartbeat_hours: List(
      'HeartbeatHours',
      {
        hour: { ...Timestamp, description: 'The UTC hour.' },
        projects: ProjectMinutes,
        last_projects: ProjectMinutes,
        counted: List('CountedMinutes', { workspace_id: Uuid, minutes: Minutes }),
        agent_projects: ProjectMinutes,
        agent_last_projects: ProjectMinutes,
      },
      `The minutes in which editors sent heartbeats, for the last ${limits.heartbeat_days} days. They are listed by the project of the earliest heartbeat in each minute (\`last_projects\` are the same, except in rows of version 1.0.0), and by the workspaces where they counted. Agent minutes are separate.`,
    ),
    agent_minutes: List(
      'AgentMinutes',
      {
        workspace_id: Uuid,
        day: Day,
        repo: RepoPath,
        agent_minutes: Count,
        agent_hours: Nullable(Type.Array(Type.Integer()), {
          description: 'The minutes of the 24 local hours. Null: they aren’t kept any longer.',
        }),
        timezone: Nullable(Type.String(), {
          description: 'The time zone in which the hours were last written.',
        }),
      },
      'Minutes in which the caller’s agents worked and the caller didn’t.',
    ),
    personal_minutes: List(
      'PersonalMinutes',
      {
        day: Day,
        project: Type.String(),
        minutes: Count,
        hours: Nullable(Type.Array(Type.Integer()), {
          description: 'The minutes of the 24 local hours. Null: they aren’t kept any longer.',
        }),
        timezone: Nullable(Type.String(), {
          description: 'The time zone in which the hours were last written.',
        }),
      },
      'The caller’s own time: each minute once, whether it counts in several workspaces or in none.',
    ),
    repositories: List(
      'Repositories',
      { repo: RepoPath, seen_day: Day },
      'Repositories that the caller has pushed or has sent by their full address.',
    ),
    editor_projects: List('EditorProjects', {
      name: Type.String(),
      repo: Nullable(Type.String()),
      ignored: Type.Boolean(),
      automatic: Type.Boolean(),
      last_at: MaybeTimestamp,
      seen_at: Timestamp,
    }),
    dropped_names: List(
      'DroppedNames',
      { names: Count, dropped_at: Timestamp },
      'How many waiting names have made room for others.',
    ),
    imports: List('Imports', {
      id: Uuid,
      state: Type.String(),
      heartbeats: Count,
      reason: Nullable(Type.String()),
      skipped_time: Count,
      skipped_future: Count,
      skipped_project: Count,
      skipped_recording_off: Count,
      days: Count,
      days_done: Count,
      minutes: Count,
      own_minutes: Count,
      created_at: Timestamp,
      updated_at: Timestamp,
    }),
    import_days: List(
      'ImportDays',
      { day: Day, projects: ProjectMinutes },
      'The days of an import in progress.',
    ),
    imported_minutes: List(
      'ImportedMinutes',
      { workspace_id: Uuid, day: Day, repo: RepoPath, minutes: Count },
      'The minutes that imports have found so far. A later import counts only additional minutes.',
    ),
    audit: List(
      'Audit',
      {
        id: Uuid,
        at: Timestamp,
        workspace_id: Uuid,
        actor: Nullable(Login, { description: 'Null: someone else.' }),
        action: Type.String(),
        target: Nullable(Type.String(), { description: 'Null: someone else, or nothing.' }),
        details: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
      },
      "What the caller did, and what was done to the caller. Entries from before the service stored people's ids are found by the current login.",
    ),
    funnel: List('Funnel', FunnelCount),
    funnel_days: List('FunnelDays', { ...FunnelCount, day: Day }),
    views: Type.Array(ref(View), {
      description: "Who viewed the caller's numbers. See `GET /api/me/views`.",
    }),
    views_of_others: List(
      'ViewsOfOthers',
      {
        workspace_id: Uuid,
        day: Day,
        from: Day,
        to: Day,
        exported: Type.Boolean(),
      },
      'When the caller viewed a team’s numbers.',
    ),
    signed_out: List(
      'SignedOut',
      { revoked_at: Timestamp, expires_at: Timestamp },
      'When the caller ended all sessions.',
    ),
  },
  { examples: [example] },
)
