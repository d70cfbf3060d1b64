/** The Auth and Role columns of the interface, as one table of every endpoint and every kind of caller. */
import t, { type Test } from 'tap'
import { type Scope, scopes, workspaceScopes } from '../schemas/keys.js'
import { buildDocuments } from '../src/platform/openapi/index.js'
import { serviceVersion } from '../src/platform/process/root.js'
import { type Call, type Caller, reuseService, type Service } from './service.js'

/** The data of one row: a workspace of the admin with the member in it, and everything that the rows request. */
interface Scene {
  /** The workspace, its pattern `<owner>/*` and its synchronized and overridden repository `<owner>/app`. */
  workspace: string
  owner: string
  code: string
  invite: string
  /** An access key of the workspace. */
  key: string
}

interface Row {
  /**
   * The status for, in this order: no one (no token), a person without workspaces, an admin of another workspace, a
   * member and an admin. They also call in this order, so that those who may delete something come last.
   */
  statuses: [noToken: number, outsider: number, otherAdmin: number, member: number, admin: number]
  /** Values for path parameters, in addition to those of `targetOf` or instead of them. */
  params?: Record<string, string>
  query?: (scene: Scene) => string
  /** The body and headers of a correct request. */
  call?: (scene: Scene, caller: Caller) => Call
}

const NONE = '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'

const withToken = ({ repohostToken }: Caller) => ({ 'X-Repohost-Token': repohostToken })

const today = () => new Date().toISOString().slice(0, 10)
const counts = ({ workspace }: Scene): Call => ({ body: { workspace, day: today(), members: [] } })

const heartbeats: Pick<Row, 'call'> = {
  call: ({ owner }) => ({ body: [{ time: Date.now() / 1_000, project: `${owner}/app` }] }),
}

const table: Record<string, Row> = {
  'GET /api/health': { statuses: [200, 200, 200, 200, 200] },
  'GET /api/ready': { statuses: [200, 200, 200, 200, 200] },

  'POST /api/auth/verify': {
    statuses: [200, 200, 200, 200, 200],
    call: (_, { repohostToken }) => ({ body: { repohost_token: repohostToken } }),
  },
  'GET /api/auth/repohost': { statuses: [302, 302, 302, 302, 302] },
  'GET /api/auth/callback': { statuses: [400, 400, 400, 400, 400] },
  'POST /api/auth/logout': { statuses: [200, 200, 200, 200, 200] },

  'GET /api/me': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/me/recording': { statuses: [401, 200, 200, 200, 200] },
  'PUT /api/me/recording': {
    statuses: [401, 200, 200, 200, 200],
    call: () => ({ body: { paused: false, repos_off: [], hours: null } }),
  },
  'PUT /api/me/timezone': {
    statuses: [401, 200, 200, 200, 200],
    call: () => ({ body: { timezone: 'Europe/Berlin' } }),
  },
  'DELETE /api/me/active-minutes': {
    statuses: [401, 200, 200, 200, 200],
    query: () => 'day=2026-11-21',
  },
  'GET /api/me/editor-projects': { statuses: [401, 200, 200, 200, 200] },
  'PUT /api/me/editor-projects': {
    statuses: [401, 200, 200, 200, 200],
    call: ({ owner }) => ({ body: { name: 'folder', repo: `${owner}/app` } }),
  },
  'GET /api/me/export': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/me/notices': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/me/views': { statuses: [401, 200, 200, 200, 200] },
  'POST /api/wakatime/v1/users/{user}/heartbeats.bulk': {
    statuses: [401, 202, 202, 202, 202],
    ...heartbeats,
  },
  'POST /api/wakatime/v1/users/{user}/heartbeats': { statuses: [401, 202, 202, 202, 202], ...heartbeats },
  'GET /api/wakatime/v1/users/{user}/statusbar/today': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/wakatime/v1/users/{user}/status_bar/today': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/wakatime/v1/users/{user}/summaries': {
    statuses: [401, 200, 200, 200, 200],
    query: () => 'range=today',
  },
  'GET /api/wakatime/v1/users/{user}/stats': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/wakatime/v1/users/{user}/stats/{range}': {
    statuses: [401, 200, 200, 200, 200],
    params: { range: 'last_7_days' },
  },
  'GET /api/wakatime/v1/users/{user}/all_time_since_today': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/wakatime/v1/users/{user}/projects': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/wakatime/v1/users/{user}/durations': {
    statuses: [401, 200, 200, 200, 200],
    query: () => 'date=today',
  },
  'GET /api/wakatime/v1/users/{user}': { statuses: [401, 200, 200, 200, 200] },
  'POST /api/wakatime/v1/users/{user}/import': { statuses: [401, 202, 202, 202, 202], ...heartbeats },
  'GET /api/wakatime/v1/users/{user}/import': { statuses: [401, 200, 200, 200, 200] },
  'DELETE /api/wakatime/v1/users/{user}/import': { statuses: [401, 200, 200, 200, 200] },
  'POST /api/wakatime/v1/plugins/errors': { statuses: [401, 201, 201, 201, 201] },

  'GET /api/me/keys': { statuses: [401, 200, 200, 200, 200] },
  'POST /api/me/keys': {
    statuses: [401, 201, 201, 201, 201],
    call: () => ({ body: { name: 'editor', scopes: ['activity:write'] } }),
  },
  'DELETE /api/me/keys/{key}': { statuses: [401, 404, 404, 404, 404], params: { key: NONE } },
  'GET /api/projects': { statuses: [401, 200, 200, 200, 200] },

  'GET /api/limits': { statuses: [200, 200, 200, 200, 200] },
  'GET /api/client.tgz': { statuses: [302, 302, 302, 302, 302] },
  'GET /api/client-{version}.tgz': {
    statuses: [200, 200, 200, 200, 200],
    params: { version: serviceVersion },
  },
  'GET /api/extension.vsix': { statuses: [302, 302, 302, 302, 302] },
  'GET /api/extension-{version}.vsix': {
    statuses: [200, 200, 200, 200, 200],
    params: { version: serviceVersion },
  },
  'GET /api/privacy': { statuses: [200, 200, 200, 200, 200] },
  'POST /api/events': {
    statuses: [401, 202, 202, 202, 202],
    call: () => ({ body: { event: 'opened', source: 'extension' } }),
  },
  // No admin key is configured, so every call is rejected.
  'GET /api/admin/funnel': { statuses: [401, 401, 401, 401, 401] },
  // Billing isn't configured, either.
  'POST /api/billing/checkout': { statuses: [401, 503, 503, 503, 503] },
  'POST /api/billing/portal': { statuses: [401, 503, 503, 503, 503] },
  'POST /api/billing-provider/webhook': { statuses: [503, 503, 503, 503, 503], call: () => ({ body: {} }) },
  // Without a signature.
  'POST /api/repohost/webhook/{id}': { statuses: [400, 400, 400, 400, 400], call: () => ({ body: {} }) },
  // Without a key of the provider.
  'GET /api/assistant-a-models': { statuses: [401, 400, 400, 400, 400] },
  'GET /api/assistant-b-models': { statuses: [401, 400, 400, 400, 400] },

  // No schema is configured.
  'GET /api/settings-schema': { statuses: [404, 404, 404, 404, 404] },
  'GET /api/settings/{owner}/{repo}': { statuses: [401, 403, 403, 200, 200] },
  'PUT /api/settings/{owner}/{repo}': {
    // Callers without a matching workspace are told to create one (R5).
    statuses: [401, 409, 409, 403, 200],
    call: (_, caller) => ({ body: { settings: { 'ext.a': 2 } }, headers: withToken(caller) }),
  },
  'DELETE /api/settings/{owner}/{repo}': { statuses: [401, 403, 403, 403, 200] },
  'GET /api/settings/{owner}/{repo}/versions': { statuses: [401, 403, 403, 200, 200] },
  'GET /api/settings/{owner}/{repo}/versions/{version}': { statuses: [401, 403, 403, 200, 200] },
  'POST /api/settings/{owner}/{repo}/restore': {
    statuses: [401, 403, 403, 403, 200],
    call: () => ({ body: { version: 1 } }),
  },

  'GET /api/team/me': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/team/workspaces': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/team/effective-config': {
    statuses: [401, 403, 403, 200, 200],
    query: ({ owner }) => `repo=${owner}/app`,
  },
  'POST /api/team/workspaces/create': {
    statuses: [401, 201, 201, 201, 201],
    call: () => ({ body: { name: 'Another' } }),
  },
  'POST /api/team/workspaces/join': {
    statuses: [401, 200, 200, 200, 200],
    call: ({ code }) => ({ body: { code } }),
  },
  'GET /api/team/invites/{code}': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/invites/{code}': { statuses: [200, 200, 200, 200, 200] },
  'PATCH /api/team/workspaces/{id}': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { name: 'Renamed' } }),
  },
  'DELETE /api/team/workspaces/{id}': { statuses: [401, 404, 404, 403, 200] },
  // The only admin can't leave.
  'POST /api/team/workspaces/{id}/leave': { statuses: [401, 404, 404, 200, 409] },
  'GET /api/team/workspaces/{id}/members': { statuses: [401, 404, 404, 200, 200] },
  'PATCH /api/team/workspaces/{id}/members': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { login: 'member', role: 'admin' } }),
  },
  'DELETE /api/team/workspaces/{id}/members': {
    statuses: [401, 404, 404, 403, 200],
    query: () => 'login=member',
  },
  'GET /api/team/workspaces/{id}/invites': { statuses: [401, 404, 404, 403, 200] },
  'POST /api/team/workspaces/{id}/invites': { statuses: [401, 404, 404, 403, 201] },
  'DELETE /api/team/workspaces/{id}/invites/{invite}': { statuses: [401, 404, 404, 403, 200] },
  'GET /api/team/workspaces/{id}/keys': { statuses: [401, 404, 404, 403, 200] },
  'POST /api/team/workspaces/{id}/keys': {
    statuses: [401, 404, 404, 403, 201],
    call: () => ({ body: { name: 'build', scopes: ['counts:write'] } }),
  },
  'DELETE /api/team/workspaces/{id}/keys/{key}': { statuses: [401, 404, 404, 403, 200] },
  'GET /api/team/workspaces/{id}/patterns': { statuses: [401, 404, 404, 200, 200] },
  'PUT /api/team/workspaces/{id}/patterns': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { patterns: [] } }),
  },
  // No organization is linked, and the admin doesn't own one.
  'GET /api/team/workspaces/{id}/organization': { statuses: [401, 404, 404, 404, 404] },
  'PUT /api/team/workspaces/{id}/organization': {
    statuses: [401, 404, 404, 403, 403],
    call: (_, caller) => ({ body: { organization: 'acme' }, headers: withToken(caller) }),
  },
  'DELETE /api/team/workspaces/{id}/organization': { statuses: [401, 404, 404, 403, 404] },
  'DELETE /api/team/workspaces/{id}/organization/members': {
    statuses: [401, 404, 404, 403, 200],
    query: () => 'login=member',
  },
  'GET /api/team/workspaces/{id}/organization/members': { statuses: [401, 404, 404, 403, 200] },
  'GET /api/team/workspaces/{id}/settings': { statuses: [401, 404, 404, 200, 200] },
  'PATCH /api/team/workspaces/{id}/settings': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { idle_window_minutes: 7 } }),
  },
  'GET /api/team/workspaces/{id}/configuration': { statuses: [401, 404, 404, 200, 200] },
  'PUT /api/team/workspaces/{id}/configuration': {
    statuses: [401, 404, 404, 403, 200],
    query: () => 'dry_run=true',
    call: () => ({ body: { patterns: [] } }),
  },
  'GET /api/team/workspaces/{id}/settings/versions': { statuses: [401, 404, 404, 200, 200] },
  'GET /api/team/workspaces/{id}/settings/versions/{version}': { statuses: [401, 404, 404, 200, 200] },
  'POST /api/team/workspaces/{id}/settings/restore': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { version: 1 } }),
  },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}': { statuses: [401, 404, 404, 200, 200] },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions': {
    statuses: [401, 404, 404, 200, 200],
  },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions/{version}': {
    statuses: [401, 404, 404, 200, 200],
  },
  'POST /api/team/workspaces/{id}/project-settings/{owner}/{repo}/restore': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { version: 1 } }),
  },
  // The host shows the repository under its old name.
  'POST /api/team/workspaces/{id}/repos/move': {
    statuses: [401, 404, 404, 403, 403],
    call: ({ owner }, caller) => ({
      body: { from: `${owner}/app`, to: `${owner}/renamed` },
      headers: withToken(caller),
    }),
  },
  'GET /api/team/workspaces/{id}/project-settings': { statuses: [401, 404, 404, 200, 200] },
  'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { settings: {} } }),
  },
  'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}': { statuses: [401, 404, 404, 403, 200] },
  'GET /api/team/workspaces/{id}/webhooks': { statuses: [401, 404, 404, 403, 200] },
  // There is none.
  'GET /api/team/workspaces/{id}/webhook': { statuses: [401, 404, 404, 403, 404] },
  'DELETE /api/team/workspaces/{id}/webhook': { statuses: [401, 404, 404, 403, 404] },
  'POST /api/team/workspaces/{id}/webhook': { statuses: [401, 404, 404, 403, 201] },
  'GET /api/team/workspaces/{id}/audit': { statuses: [401, 404, 404, 403, 200] },

  'GET /api/team/active-minutes': { statuses: [401, 200, 200, 200, 200] },
  // Entries that match none of the caller's workspaces are noted and not counted.
  'POST /api/team/active-minutes': {
    statuses: [401, 200, 200, 200, 200],
    call: ({ owner }) => ({ body: { entries: [{ repo: `${owner}/app`, day: today(), minutes: 1 }] } }),
  },
  'POST /api/team/commits': { statuses: [401, 404, 404, 403, 200], call: counts },
  'POST /api/team/closed-issues': { statuses: [401, 404, 404, 403, 200], call: counts },
  'GET /api/team/dashboard': {
    statuses: [401, 404, 404, 403, 200],
    query: ({ workspace }) => `workspace=${workspace}`,
  },
  'GET /api/team/dashboard/mine': {
    statuses: [401, 404, 404, 200, 200],
    query: ({ workspace }) => `workspace=${workspace}`,
  },

  // Last, because it deletes the caller. The admin gets 409 as the only admin of other people.
  'DELETE /api/me': {
    statuses: [401, 200, 200, 200, 409],
    call: (_, caller) => ({ body: { confirm: caller.login } }),
  },
}

/** The kind of access that the document should name for a route with these statuses. */
const who = (route: string, { statuses }: Row): string => {
  const [noToken, outsider, , member, admin] = statuses
  if (route.endsWith('/billing-provider/webhook')) return 'the billing provider'
  if (route.endsWith('/repohost/webhook/{id}')) return 'the repository host'
  if (noToken !== 401) return 'anyone'
  // No organization is linked, so members get 404, too.
  if (route === 'GET /api/team/workspaces/{id}/organization') return 'a member of'
  if (route === 'GET /api/team/dashboard/mine') return 'any signed-in caller; for a workspace, a member of it'
  if (admin === 401) return 'the operator, with an admin key'
  if (member === 403) return 'an admin of'
  return outsider === member ? 'any signed-in caller' : 'a member of'
}

const setScene = async (admin: Caller, member: Caller, service: Service, owner: string): Promise<Scene> => {
  const { id, code } = await service.workspace(admin, { patterns: [`${owner}/*`], members: [member] })
  const invite = await admin.post(`/api/team/workspaces/${id}/invites`)
  const key = await admin.post(`/api/team/workspaces/${id}/keys`, { name: 'build', scopes: ['counts:write'] })
  await admin.push(`${owner}/app`, { 'ext.a': 1 })
  await admin.put(`/api/team/workspaces/${id}/project-settings/${encodeURIComponent(owner)}/app`, {
    settings: { 'ext.b': 1 },
  })
  return { workspace: id, owner, code, invite: invite.body.id, key: key.body.id }
}

t.test('every endpoint admits exactly the callers that the interface lists', async (t) => {
  const service = await reuseService(t)
  const { paths } = buildDocuments(service.app).full
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(Object.keys(table).sort(), routes.sort(), 'the table has a row for every route')
  for (const [route, row] of Object.entries(table)) {
    const [method = '', path = ''] = route.split(' ')
    const operation = paths[path]?.[method.toLowerCase()]
    t.ok(operation?.description?.includes(`**Access:** ${who(route, row)}`), route)
    if (!row.call) t.not(operation?.requestBody?.required, true, `${route} works without a body`)
  }

  await tryRows(t, service, Object.entries(table), 'owner')
})

t.test(
  'every endpoint admits exactly the same callers when the owner is a GitLab group with a slash in its name',
  async (t) => {
    const service = await reuseService(t, 'gitlab')
    const rows = Object.entries(table).filter(([route]) => route.includes('{owner}'))
    await tryRows(t, service, rows, 'acme/platform')
  },
)

/** These change the scene or the sessions that other rows need. */
const changesShared = (route: string) =>
  /^DELETE|\/(logout|create|join|leave|members|patterns)$/.test(route) && !route.startsWith('GET ')

const tryRows = async (t: Test, service: Service, rows: [route: string, row: Row][], owner: string) => {
  const elsewhere = await service.signIn('other-admin')
  await service.workspace(elsewhere, { name: 'Elsewhere', patterns: ['elsewhere/*'] })
  const start = async (name: string) => {
    const [outsider, otherAdmin, member, admin] = await Promise.all([
      // A new person, because earlier rows may have added others to workspaces.
      service.signIn(`outsider-${name}`),
      service.signIn('other-admin'),
      service.signIn('member'),
      service.signIn('admin'),
    ])
    return {
      outsider,
      otherAdmin,
      member,
      admin,
      scene: await setScene(admin, member, service, `${owner}-${name}`),
    }
  }
  const shared = await start('shared')
  for (const [index, [route, row]] of rows.entries()) {
    const { outsider, otherAdmin, member, admin, scene } = changesShared(route)
      ? await start(`${index}`)
      : shared
    const method = route.split(' ')[0] ?? ''
    const target = targetOf(route, row, scene)
    const statuses = [
      (await service.request(method, target, row.call?.(scene, outsider))).status,
      ...(await inTurn([outsider, otherAdmin, member, admin], async (caller) => {
        const { status } = await caller.request(method, target, row.call?.(scene, caller))
        return status
      })),
    ]
    t.same(statuses, row.statuses, route)
  }
}

/** The scopes with which editors read time. */
const reading = { scope: 'activity:read', orScope: 'activity:write', personalOnly: true } as const

/** The routes that accept access keys, with the scopes, and whether they accept workspace keys, too. */
const scopesOf: Record<string, { scope: Scope; orScope?: Scope; personalOnly?: boolean }> = {
  'GET /api/projects': { scope: 'settings:read' },
  'GET /api/settings/{owner}/{repo}': { scope: 'settings:read' },
  'GET /api/settings/{owner}/{repo}/versions': { scope: 'settings:read' },
  'GET /api/settings/{owner}/{repo}/versions/{version}': { scope: 'settings:read' },
  'GET /api/team/effective-config': { scope: 'settings:read' },
  'GET /api/team/workspaces': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/settings': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/patterns': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/configuration': { scope: 'settings:read' },
  'PUT /api/team/workspaces/{id}/configuration': { scope: 'settings:write', orScope: 'settings:read' },
  'GET /api/team/workspaces/{id}/project-settings': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/settings/versions': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/settings/versions/{version}': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions': { scope: 'settings:read' },
  'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions/{version}': {
    scope: 'settings:read',
  },
  'POST /api/team/workspaces/{id}/settings/restore': { scope: 'settings:write' },
  'POST /api/team/workspaces/{id}/project-settings/{owner}/{repo}/restore': { scope: 'settings:write' },
  'PUT /api/settings/{owner}/{repo}': { scope: 'settings:write', personalOnly: true },
  'DELETE /api/settings/{owner}/{repo}': { scope: 'settings:write', personalOnly: true },
  'POST /api/settings/{owner}/{repo}/restore': { scope: 'settings:write', personalOnly: true },
  'PATCH /api/team/workspaces/{id}/settings': { scope: 'settings:write' },
  'PUT /api/team/workspaces/{id}/patterns': { scope: 'settings:write' },
  'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}': { scope: 'settings:write' },
  'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}': { scope: 'settings:write' },
  'POST /api/team/commits': { scope: 'counts:write' },
  'POST /api/team/closed-issues': { scope: 'counts:write' },
  'GET /api/team/dashboard': { scope: 'dashboard:read' },
  'GET /api/team/dashboard/mine': { scope: 'activity:read', personalOnly: true },
  'GET /api/team/active-minutes': { scope: 'activity:read', personalOnly: true },
  'PUT /api/me/timezone': { scope: 'activity:write', personalOnly: true },
  'POST /api/team/active-minutes': { scope: 'activity:write', personalOnly: true },
  'POST /api/wakatime/v1/users/{user}/heartbeats.bulk': { scope: 'activity:write', personalOnly: true },
  'POST /api/wakatime/v1/users/{user}/heartbeats': { scope: 'activity:write', personalOnly: true },
  'POST /api/wakatime/v1/users/{user}/import': { scope: 'activity:write', personalOnly: true },
  'DELETE /api/wakatime/v1/users/{user}/import': { scope: 'activity:write', personalOnly: true },
  'POST /api/wakatime/v1/plugins/errors': { scope: 'activity:write', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}': reading,
  'GET /api/wakatime/v1/users/{user}/import': reading,
  'GET /api/wakatime/v1/users/{user}/statusbar/today': reading,
  'GET /api/wakatime/v1/users/{user}/status_bar/today': reading,
  'GET /api/wakatime/v1/users/{user}/summaries': { scope: 'activity:read', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}/stats': { scope: 'activity:read', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}/stats/{range}': { scope: 'activity:read', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}/all_time_since_today': { scope: 'activity:read', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}/projects': { scope: 'activity:read', personalOnly: true },
  'GET /api/wakatime/v1/users/{user}/durations': { scope: 'activity:read', personalOnly: true },
}

t.test('a key opens only the routes in its scope, whether a person or a workspace owns it', async (t) => {
  const service = await reuseService(t)
  const { paths } = buildDocuments(service.app).full
  const [member, admin] = await service.signInAll('member', 'admin')
  const create = async (path: string, list: readonly Scope[]) => {
    const replies = await inTurn([...list], (scope) => admin.post(path, { name: scope, scopes: [scope] }))
    return replies.map(({ body }): { secret: string; scope: Scope } => ({
      secret: body.secret,
      scope: body.scopes[0],
    }))
  }
  const personal = await create('/api/me/keys', scopes)
  const keysFor = ({ workspace }: Scene) => create(`/api/team/workspaces/${workspace}/keys`, workspaceScopes)
  let scene = await setScene(admin, member, service, 'keys')
  let keys = await keysFor(scene)
  for (const [index, [route, row]] of Object.entries(table).entries()) {
    const [method = '', template = ''] = route.split(' ')
    const needsSession = row.statuses[0] === 401 && row.statuses[4] !== 401
    const isLogout = template.endsWith('/logout')
    if (!needsSession && !isLogout) continue
    const admitted = scopesOf[route]
    const operation = paths[template]?.[method.toLowerCase()]
    const named =
      admitted &&
      `${admitted.personalOnly ? 'personal keys ' : ''}with the scope \`${admitted.scope}\`${admitted.orScope ? ` or \`${admitted.orScope}\`` : ''}`
    if (!isLogout) t.ok(operation?.description?.endsWith(`**Access keys:** ${named ?? 'none'}.`), route)
    const call = async (secret: string) => {
      const { body, headers } = row.call?.(scene, admin) ?? {}
      const authorization = { Authorization: `Bearer ${secret}` }
      const target = targetOf(route, row, scene)
      return service.request(method, target, { body, headers: { ...headers, ...authorization } })
    }
    for (const kind of ['person', 'workspace'] as const) {
      const isOpen = admitted && !(admitted.personalOnly && kind === 'workspace') ? admitted.scope : null
      for (const { secret, scope } of kind === 'person' ? personal : keys) {
        const { status, body } = await call(secret)
        const expected =
          isOpen !== null && (isOpen === scope || admitted?.orScope === scope)
            ? [row.statuses[4], undefined, undefined]
            : [403, 'scope_missing', isOpen]
        t.same([status, body?.code, body?.scope], expected, `${route}: key of a ${kind} for ${scope}`)
      }
      if (isOpen !== null && changesShared(route)) {
        scene = await setScene(admin, member, service, `keys-${index}-${kind}`)
        keys = await keysFor(scene)
      }
    }
  }
  t.same(
    Object.keys(scopesOf).filter((route) => !(route in table)),
    [],
  )
})

const targetOf = (route: string, row: Row, scene: Scene): string => {
  const params: Record<string, string> = {
    id: scene.workspace,
    owner: scene.owner,
    repo: 'app',
    invite: scene.invite,
    key: scene.key,
    user: 'current',
    version: '1',
    code: scene.code,
    ...row.params,
  }
  const path =
    route
      .split(' ')[1]
      ?.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? `no-${name}`)) ?? ''
  return row.query ? `${path}?${row.query(scene)}` : path
}

const inTurn = async <T, R>(list: T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  for (const item of list) results.push(await work(item))
  return results
}

t.test('a missing workspace gets the same response as someone else’s workspace', async (t) => {
  const service = await reuseService(t)
  const [ada, eve] = await service.signInAll('ada', 'eve')
  const { id } = await service.workspace(ada)
  const withoutIds = ({ body }: { body: Record<string, unknown> }) => ({ ...body, request_id: '' })
  const theirs = await eve.get(`/api/team/workspaces/${id}/members`)
  const none = await eve.get(`/api/team/workspaces/${NONE}/members`)
  t.same(withoutIds(theirs), withoutIds(none))
  t.equal((await eve.get('/api/team/workspaces/x/members')).status, 400)
})
