/**
 * The worst request of every operation: each factor of its work (`src/work.ts`) at its limit. Operations whose work is always
 * the same are called as in the document. A test fails for an operation that has no entry.
 */
import { limits } from '../../schemas/limits.js'
import { addDays } from '../../src/platform/time/days.js'

/** An attacker and what it owns. */
export interface Attacker {
  login: string
  /** One of its workspaces. */
  id: string
  today: string
}

export interface Worst {
  /** Appended to the path. */
  query?: string
  body?: string
  headers?: Record<string, string>
  /** Another workspace, owner or repository than usual. */
  values?: Record<string, string>
}

const once = <T>(make: () => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const manyKeys = once(() =>
  Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`ext.key${n}`, { a: n }])),
)
const settings = once(() => JSON.stringify({ settings: manyKeys() }))
const plain = (): Worst => ({})
const page = (): Worst => ({ query: `limit=${limits.page_size_max}` })
const write = (): Worst => ({ body: settings() })
const year = ({ today }: Attacker): Worst => ({ query: `from=${addDays(today, -365)}&to=${today}` })
const summary = ({ today }: Attacker): Worst => ({ query: `start=${addDays(today, -365)}&end=${today}` })
const longName = () => ({ repo: 'a'.repeat(limits.repo_length) })
const pull = (): Worst => ({ values: longName() })
/** What would end the attack is asked for a workspace that doesn't exist, or with a wrong confirmation. */
const elsewhere = (): Worst => ({ values: { id: '00000000-0000-4000-8000-000000000000' } })

const heartbeats = (attacker: Attacker, count: number) => {
  const from = Date.parse(addDays(attacker.today, -4)) / 1_000
  return Array.from({ length: count }, (_, n) => ({
    time: from + n * 540 + Math.random(),
    project: n % 3 === 0 ? `folder-${n % 200}` : `${attacker.login}/r${n % 8}`,
    category: n % 5 === 0 ? 'ai coding' : 'coding',
  }))
}

const uploadOf = once(() =>
  JSON.stringify(
    Array.from({ length: limits.counts_members }, (_, n) => ({
      login: `large-${n}`,
      repos: Array.from({ length: limits.counts_repos_per_member }, (_, r) => ({
        repo: `acme/r${r}`,
        count: 1,
      })),
    })),
  ),
)
const uploads = new Map<string, string>()
const upload = ({ id, today }: Attacker): Worst => {
  const body = uploads.get(id) ?? `{"workspace":"${id}","day":"${today}","members":${uploadOf()}}`
  uploads.set(id, body)
  return { body }
}

const dump = once(() => {
  const [days, perDay] = [200, 100]
  const start = Math.floor(Date.now() / 86_400_000) * 86_400 - days * 86_400
  return JSON.stringify({
    user: {},
    range: { start, end: start + days * 86_400 },
    days: Array.from({ length: days }, (_, d) => ({
      date: new Date((start + d * 86_400) * 1_000).toISOString().slice(0, 10),
      heartbeats: Array.from({ length: perDay }, (_, n) => ({
        time: start + d * 86_400 + n * 840,
        project: `folder-${(d * 20 + (n % 20)) % limits.import_projects}`,
      })),
    })),
  })
})

const delivery = once(() =>
  JSON.stringify({
    repository: { id: 1, full_name: 'acme/web' },
    commits: Array.from({ length: limits.webhook_commits }, (_, n) => ({
      id: n.toString(16).padStart(40, '0'),
      distinct: true,
      timestamp: new Date().toISOString(),
      author: { username: 'ada' },
      added: ['a'.repeat(50)],
    })),
  }),
)

const configurations = new Map<string, string>()
const configuration = ({ login }: Attacker): Worst => {
  const projects = Array.from({ length: 2_000 }, (_, n) => [`${login}/r${n}`, { 'ext.a': 'a'.repeat(2_000) }])
  const body =
    configurations.get(login) ?? JSON.stringify({ settings: {}, projects: Object.fromEntries(projects) })
  configurations.set(login, body)
  return { body, query: 'dry_run=true' }
}

let turn = 0

export const worstOperations: Record<string, (attacker: Attacker) => Worst> = {
  getHealth: plain,
  getReadiness: plain,
  getLimits: plain,
  getPrivacy: plain,
  getSettingsSchema: plain,
  findClient: plain,
  downloadClient: plain,
  verifyRepohostToken: plain,
  startLogin: plain,
  finishLogin: plain,
  logout: () => ({ headers: { authorization: 'Bearer none' } }),
  getProfile: plain,
  getRecording: plain,
  changeRecording: () => ({
    body: JSON.stringify({
      paused: false,
      hours: null,
      repos_off: Array.from({ length: limits.recording_repos_off }, (_, n) => `other/*a*b*c*${n}`),
    }),
  }),
  exportAccount: plain,
  listViews: page,
  deleteAccount: () => ({ body: '{"confirm":"nobody"}' }),
  listKeys: plain,
  createKey: plain,
  revokeKey: plain,
  listProjects: page,
  pullSettings: pull,
  pushSettings: write,
  deleteSettings: pull,
  listSettingsVersions: plain,
  pullSettingsVersion: plain,
  restoreSettings: plain,
  getEffectiveConfig: ({ login }) => ({ query: `repo=${login}/${'a'.repeat(limits.repo_length)}` }),
  listMyWorkspaces: plain,
  createWorkspace: ({ login }) => ({
    body: JSON.stringify({ name: 'x', patterns: patternsOf(login) }),
  }),
  renameWorkspace: plain,
  deleteWorkspace: elsewhere,
  joinWorkspace: plain,
  leaveWorkspace: elsewhere,
  listMembers: page,
  changeMemberRole: plain,
  removeMember: elsewhere,
  lookUpInvite: plain,
  listInvites: page,
  createInvite: plain,
  revokeInvite: plain,
  listWorkspaceKeys: plain,
  createWorkspaceKey: plain,
  revokeWorkspaceKey: plain,
  listPatterns: plain,
  replacePatterns: ({ login }) => ({ body: JSON.stringify({ patterns: patternsOf(login) }) }),
  readOrganization: plain,
  linkOrganization: plain,
  unlinkOrganization: plain,
  listOrganizationMembers: page,
  getConfiguration: plain,
  putConfiguration: configuration,
  listAuditEntries: page,
  getWorkspaceSettings: plain,
  patchWorkspaceSettings: write,
  listWorkspaceSettingsVersions: plain,
  getWorkspaceSettingsVersion: plain,
  restoreWorkspaceSettings: plain,
  listOverrides: page,
  getOverride: plain,
  setOverride: write,
  removeOverride: plain,
  listOverrideVersions: plain,
  getOverrideVersion: plain,
  restoreOverride: plain,
  recordActiveMinutes: ({ login, today }) => ({
    body: JSON.stringify({
      entries: Array.from({ length: limits.flush_entries }, (_, n) => ({
        repo: `${login}/r${n}`,
        day: today,
        minutes: 1,
      })),
    }),
  }),
  listActiveMinutes: year,
  uploadCommits: upload,
  uploadClosedIssues: upload,
  readDashboard: year,
  readOwnDashboard: year,
  getWebhook: plain,
  createWebhook: plain,
  deleteWebhook: plain,
  receiveDelivery: () => ({ body: delivery() }),
  listEditorProjects: page,
  assignEditorProject: ({ login }) => {
    turn += 1
    return { body: JSON.stringify({ name: 'folder-3', repo: `${login}/r${turn % 8}` }) }
  },
  sendHeartbeats: (attacker) => ({ body: JSON.stringify(heartbeats(attacker, limits.heartbeats)) }),
  sendHeartbeat: (attacker) => ({ body: JSON.stringify(heartbeats(attacker, 1)[0]) }),
  sendEditorErrors: () => ({ body: JSON.stringify({ a: 'a'.repeat(limits.body_bytes - 100) }) }),
  getEditorUser: plain,
  getStatusBar: plain,
  getDocumentedStatusBar: plain,
  getSummaries: summary,
  getStats: () => ({ values: { range: 'last_year' } }),
  getAllTime: plain,
  getTimedProjects: plain,
  getDurations: ({ today }) => ({ query: `date=${today}` }),
  startImport: () => ({ body: dump() }),
  getImport: plain,
  cancelImport: plain,
  startCheckout: plain,
  openBillingPortal: plain,
  receiveBillingEvent: () => ({ body: JSON.stringify({ a: 'a'.repeat(limits.body_bytes - 100) }) }),
  listAssistantAModels: plain,
  listAssistantBModels: plain,
  recordEvent: plain,
  getFunnel: plain,
}

const patternsOf = (login: string) =>
  Array.from(
    { length: limits.patterns_per_workspace },
    (_, n) => `${login}/${`*${'a'.repeat(40)}*b*c*${n}`.slice(0, 90)}`,
  )
