/**
 * Makes an operation's request its worst, beyond the samples of the OpenAPI document. Operations that are missing
 * here are sent as in the document, lists with the largest page.
 */
import { limits } from '../../schemas/limits.js'
import { addDays } from '../../src/platform/time/days.js'
import type { Operation } from '../attack.js'

/** An attacker and what it owns. */
export interface Attacker {
  login: string
  /** One of its workspaces. */
  id: string
  today: string
}

interface Worst {
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
const write = (): Worst => ({ body: settings() })
const year = ({ today }: Attacker): Worst => ({ query: `from=${addDays(today, -365)}&to=${today}` })
const summary = ({ today }: Attacker): Worst => ({ query: `start=${addDays(today, -365)}&end=${today}` })
const longName = () => ({ repo: 'a'.repeat(limits.repo_length) })
const pull = (): Worst => ({ values: longName() })
/** Requests that would end the attack are sent for a workspace that doesn't exist, or with a wrong confirmation. */
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

const worstOperations: Record<string, (attacker: Attacker) => Worst> = {
  logout: () => ({ headers: { authorization: 'Bearer none' } }),
  changeRecording: () => ({
    body: JSON.stringify({
      paused: false,
      hours: null,
      repos_off: Array.from({ length: limits.recording_repos_off }, (_, n) => `other/*a*b*c*${n}`),
    }),
  }),
  deleteAccount: () => ({ body: '{"confirm":"nobody"}' }),
  pullSettings: pull,
  pushSettings: write,
  deleteSettings: pull,
  getEffectiveConfig: ({ login }) => ({ query: `repo=${login}/${'a'.repeat(limits.repo_length)}` }),
  createWorkspace: ({ login }) => ({
    body: JSON.stringify({ name: 'x', patterns: patternsOf(login) }),
  }),
  deleteWorkspace: elsewhere,
  leaveWorkspace: elsewhere,
  removeMember: elsewhere,
  replacePatterns: ({ login }) => ({ body: JSON.stringify({ patterns: patternsOf(login) }) }),
  putConfiguration: configuration,
  patchWorkspaceSettings: write,
  setOverride: write,
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
  receiveDelivery: () => ({ body: delivery() }),
  assignEditorProject: ({ login }) => {
    turn += 1
    return { body: JSON.stringify({ name: 'folder-3', repo: `${login}/r${turn % 8}` }) }
  },
  sendHeartbeats: (attacker) => ({ body: JSON.stringify(heartbeats(attacker, limits.heartbeats)) }),
  sendHeartbeat: (attacker) => ({ body: JSON.stringify(heartbeats(attacker, 1)[0]) }),
  sendEditorErrors: () => ({ body: JSON.stringify({ a: 'a'.repeat(limits.body_bytes - 100) }) }),
  getSummaries: summary,
  getLastStats: () => ({}),
  getStats: () => ({ values: { range: 'last_year' } }),
  getDurations: ({ today }) => ({ query: `date=${today}` }),
  startImport: () => ({ body: dump() }),
  receiveBillingEvent: () => ({ body: JSON.stringify({ a: 'a'.repeat(limits.body_bytes - 100) }) }),
}

const patternsOf = (login: string) =>
  Array.from(
    { length: limits.patterns_per_workspace },
    (_, n) => `${login}/${`*${'a'.repeat(40)}*b*c*${n}`.slice(0, 90)}`,
  )

/** @throws {Error} if an entry is of no operation */
export const worstOf = (operations: Operation[]): [string, (attacker: Attacker) => Worst][] => {
  const ids = new Set(operations.map(({ operationId }) => operationId))
  const unknown = Object.keys(worstOperations).filter((id) => !ids.has(id))
  if (unknown.length > 0) throw new Error(`There is no operation ${unknown.join(', ')}`)
  return operations.map(({ operationId, parameters = [] }) => [
    operationId,
    worstOperations[operationId] ??
      (() =>
        parameters.some(({ name }) => name === 'limit') ? { query: `limit=${limits.page_size_max}` } : {}),
  ])
}
