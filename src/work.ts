/**
 * What the work of each operation and of each background task is a product of, and the limits that bound each factor. The
 * service does not start with an operation that is missing here (`platform/access/route-checks.ts`), and a task that is
 * missing does not compile. docs/trust.md shows it, and `npm run test:faults -- --only worst-caller` plays it.
 */
import { type Work, work } from './platform/access/work.js'
import type { Task } from './platform/metrics/metrics.js'

const FEW_ROWS = work('a few rows')
const PAGE = work('rows of a page', 'page_size_max')
const SETTINGS = work('bytes of one document', 'settings_bytes', 'json_depth')
const VERSIONS = work('versions, without their contents', 'settings_versions_kept')
const REPO_PATTERNS = [
  'workspaces_joined',
  'workspaces_by_organization',
  'patterns_per_workspace',
  'pattern_length',
  'pattern_stars',
] as const
const ONE_REPO = work('one repository × patterns of the caller’s workspaces', ...REPO_PATTERNS)
const ONE_DOCUMENT = work(`${ONE_REPO.of}, + bytes of one document`, ...REPO_PATTERNS, 'settings_bytes')
const KEYS = work('keys of an owner', 'keys_per_owner')
const CONSTANT = work('a response that was made at the start')
const HOST = work('calls to the host, which end after 5 s')
const OVERRIDES = work('overrides of a page × their bytes (1 MiB)', 'page_size_max', 'settings_bytes')
const HEARTBEATS = work(
  'heartbeats × minutes between them × workspaces of their repositories',
  'heartbeats',
  'heartbeats_body_bytes',
  'heartbeat_minutes',
  'flush_rows',
)
const OWN_MINUTES = work(
  'days × repositories of the caller, in pieces of 10,000 rows',
  'range_days',
  'person_repos',
)
const SUMMARIES = work(
  'days × projects of the caller',
  'range_days',
  'summary_projects_per_day',
  'summary_projects',
)
const IMPORT = work(
  'bytes of a file, in pieces, × projects in it',
  'import_body_bytes',
  'import_projects',
  'heartbeat_days',
)
const UPLOAD = work(
  'members × repositories × characters of the workspace’s patterns',
  'counts_body_bytes',
  'counts_members',
  'counts_repos_per_member',
  'counts_comparisons',
)
const DASHBOARD = work(
  'days × members × repositories, read from rollups; rows of lists',
  'range_days',
  'dashboard_rows',
)
const MODELS = work('a response of the provider (1 MiB)', 'assistant_lookups_per_caller')

/** By `operationId`. */
export const workOfOperations: Record<string, Work> = {
  getHealth: CONSTANT,
  getReadiness: FEW_ROWS,
  getLimits: CONSTANT,
  getPrivacy: CONSTANT,
  getSettingsSchema: CONSTANT,
  findClient: CONSTANT,
  downloadClient: CONSTANT,

  verifyRepohostToken: HOST,
  startLogin: FEW_ROWS,
  finishLogin: HOST,
  logout: FEW_ROWS,
  getProfile: FEW_ROWS,
  getRecording: work('what the caller excludes', 'recording_repos_off'),
  changeRecording: work('what the caller excludes', 'recording_repos_off'),
  exportAccount: work('everything of the caller, in pages of 16 settings or 2,000 rows', 'exports_per_hour'),
  listViews: PAGE,
  deleteAccount: work(
    'workspaces of the caller; rows are removed by a task',
    'workspaces_joined',
    'workspaces_by_organization',
  ),
  listKeys: KEYS,
  createKey: KEYS,
  revokeKey: FEW_ROWS,

  listProjects: work(
    'known repositories, of which a page compares 1,000, × patterns of the caller’s workspaces',
    'page_size_max',
    ...REPO_PATTERNS,
  ),
  pullSettings: ONE_DOCUMENT,
  pushSettings: ONE_DOCUMENT,
  deleteSettings: ONE_REPO,
  listSettingsVersions: VERSIONS,
  pullSettingsVersion: ONE_DOCUMENT,
  restoreSettings: ONE_DOCUMENT,
  getEffectiveConfig: work(
    `${ONE_REPO.of}, + three documents`,
    ...REPO_PATTERNS,
    'settings_bytes',
    'json_depth',
  ),

  listMyWorkspaces: work(
    'workspaces × patterns of each',
    'workspaces_joined',
    'workspaces_by_organization',
    'patterns_per_workspace',
  ),
  createWorkspace: work('patterns of the workspace', 'workspaces_created', 'patterns_per_workspace'),
  renameWorkspace: FEW_ROWS,
  deleteWorkspace: FEW_ROWS,
  joinWorkspace: work('one row', 'workspaces_joined', 'rate_join_per_caller'),
  leaveWorkspace: FEW_ROWS,
  listMembers: PAGE,
  changeMemberRole: FEW_ROWS,
  removeMember: FEW_ROWS,
  lookUpInvite: work('one row', 'rate_join_per_caller'),
  listInvites: PAGE,
  createInvite: FEW_ROWS,
  revokeInvite: FEW_ROWS,
  listWorkspaceKeys: KEYS,
  createWorkspaceKey: KEYS,
  revokeWorkspaceKey: FEW_ROWS,
  listPatterns: work('patterns of the workspace', 'patterns_per_workspace'),
  replacePatterns: work('patterns of the workspace', 'patterns_per_workspace'),
  readOrganization: FEW_ROWS,
  linkOrganization: HOST,
  unlinkOrganization: FEW_ROWS,
  listOrganizationMembers: PAGE,
  getConfiguration: work('overrides × their bytes, in pages', 'workspace_bytes'),
  putConfiguration: work(
    'bytes of a body, in pieces; overrides that change, 500 in a statement',
    'configuration_body_bytes',
    'configuration_json_values',
    'workspace_bytes',
    'patterns_per_workspace',
  ),
  listAuditEntries: work('entries of a page × their bytes (1 MiB)', 'page_size_max', 'settings_bytes'),

  getWorkspaceSettings: SETTINGS,
  patchWorkspaceSettings: SETTINGS,
  listWorkspaceSettingsVersions: VERSIONS,
  getWorkspaceSettingsVersion: SETTINGS,
  restoreWorkspaceSettings: SETTINGS,
  listOverrides: OVERRIDES,
  getOverride: SETTINGS,
  setOverride: SETTINGS,
  removeOverride: SETTINGS,
  listOverrideVersions: VERSIONS,
  getOverrideVersion: SETTINGS,
  restoreOverride: SETTINGS,

  recordActiveMinutes: work(
    'repositories × patterns of the caller’s workspaces; entries × workspaces that match',
    'flush_entries',
    'flush_comparisons',
    'flush_rows',
  ),
  listActiveMinutes: OWN_MINUTES,
  uploadCommits: UPLOAD,
  uploadClosedIssues: UPLOAD,
  readDashboard: DASHBOARD,
  readOwnDashboard: DASHBOARD,
  getWebhook: work('deliveries that are listed', 'webhook_deliveries_listed'),
  createWebhook: FEW_ROWS,
  deleteWebhook: FEW_ROWS,
  receiveDelivery: work(
    'bytes of a body × secrets; commits',
    'webhook_body_bytes',
    'webhook_former_secrets',
    'webhook_json_values',
    'webhook_commits',
    'rate_deliveries_per_workspace',
    'delivered_rows_per_workspace',
  ),

  listEditorProjects: work(
    'names of the caller',
    'editor_projects_waiting',
    'editor_projects_chosen',
    'page_size_max',
  ),
  assignEditorProject: work(
    'minutes that wait × workspaces of the repository',
    'heartbeat_days',
    'heartbeat_minutes',
    'flush_rows',
  ),
  sendHeartbeats: HEARTBEATS,
  sendHeartbeat: HEARTBEATS,
  sendEditorErrors: work('bytes of a body, which nothing reads', 'body_bytes'),
  getEditorUser: FEW_ROWS,
  getStatusBar: OWN_MINUTES,
  getDocumentedStatusBar: OWN_MINUTES,
  getSummaries: SUMMARIES,
  getStats: SUMMARIES,
  getAllTime: OWN_MINUTES,
  getTimedProjects: SUMMARIES,
  getDurations: OWN_MINUTES,
  startImport: IMPORT,
  getImport: FEW_ROWS,
  cancelImport: FEW_ROWS,

  startCheckout: HOST,
  openBillingPortal: HOST,
  receiveBillingEvent: work('bytes of a body', 'body_bytes'),
  listAssistantAModels: MODELS,
  listAssistantBModels: MODELS,
  recordEvent: FEW_ROWS,
  getFunnel: work('names of events and sources', 'funnel_names'),
}

/** A step of a task is one transaction, and others go on between two. */
const EXPIRED = work('500 rows in a step')
export const workOfTasks: Record<Task, Work> = {
  rollups: work('a month of a workspace in a step'),
  retirement: work('a day of a workspace, or 1,000 rows, in a step'),
  erasures: work('2,000 rows in a step'),
  revocations: work('sessions, keys and accounts that ended within the last seconds'),
  imports: work(
    'a day of an import in a step × projects of it',
    'import_projects',
    'minutes_per_day',
    'flush_rows',
  ),
  'deleted workspaces': EXPIRED,
  'old audit entries': EXPIRED,
  'expired revocations': EXPIRED,
  'expired logins': EXPIRED,
  'old flush ids': EXPIRED,
  'old billing events': EXPIRED,
  'old views': EXPIRED,
  'ended removals': EXPIRED,
  'old hashes of keys': EXPIRED,
  'old access keys': EXPIRED,
  'old deliveries': EXPIRED,
  'old reported commits': EXPIRED,
  'old reported issues': EXPIRED,
  'old heartbeats': EXPIRED,
  'old project names': EXPIRED,
  'old repositories of people': EXPIRED,
  'old imports': EXPIRED,
  'old import days': EXPIRED,
}
