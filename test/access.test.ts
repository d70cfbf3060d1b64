/** The Auth and Role columns of the interface, as one table of every endpoint and every kind of caller. */
import t from 'tap'
import { buildDocuments } from '../src/platform/openapi/index.js'
import { type Call, type Caller, type Service, startService } from './service.js'

/** What a row has to itself: a workspace of the admin with the member in it, and everything that can be asked for. */
interface Scene {
  /** The workspace, its pattern `<owner>/*` and its synchronised and overridden repository `<owner>/app`. */
  workspace: string
  owner: string
  code: string
  invite: string
}

interface Row {
  /**
   * The status for, in this order: nobody (no token), somebody in no workspace, an admin of another workspace, a member
   * and an admin. They call in this order, too, so that who may destroy something comes last.
   */
  statuses: [nobody: number, outsider: number, otherAdmin: number, member: number, admin: number]
  /** What fills the `{…}` of the path; those of the scene are known: id, owner, repo, invite. */
  params?: Record<string, string>
  query?: (scene: Scene) => string
  /** The body and headers of a correct request. */
  call?: (scene: Scene, caller: Caller) => Call
}

const withToken = ({ repohostToken }: Caller) => ({ 'X-Repohost-Token': repohostToken })

const today = () => new Date().toISOString().slice(0, 10)
const counts = ({ workspace }: Scene): Call => ({ body: { workspace, day: today(), members: [] } })

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
  'GET /api/me/export': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/me/views': { statuses: [401, 200, 200, 200, 200] },
  'GET /api/projects': { statuses: [401, 200, 200, 200, 200] },

  'GET /api/limits': { statuses: [200, 200, 200, 200, 200] },
  'GET /api/privacy': { statuses: [200, 200, 200, 200, 200] },
  'POST /api/events': {
    statuses: [401, 202, 202, 202, 202],
    call: () => ({ body: { event: 'opened', source: 'extension' } }),
  },
  // No admin key is configured: nobody gets in.
  'GET /api/admin/funnel': { statuses: [401, 401, 401, 401, 401] },
  // Nor is billing.
  'POST /api/billing/checkout': { statuses: [401, 503, 503, 503, 503] },
  'POST /api/billing/portal': { statuses: [401, 503, 503, 503, 503] },
  'POST /api/billing-provider/webhook': {
    statuses: [503, 503, 503, 503, 503],
    call: () => ({ body: {} }),
  },
  // Without a key of the provider.
  'GET /api/assistant-a-models': { statuses: [401, 400, 400, 400, 400] },
  'GET /api/assistant-b-models': { statuses: [401, 400, 400, 400, 400] },

  'GET /api/settings/{owner}/{repo}': { statuses: [401, 403, 403, 200, 200] },
  'PUT /api/settings/{owner}/{repo}': {
    // Who has no matching workspace is told to make one (R5).
    statuses: [401, 409, 409, 403, 200],
    call: (_, caller) => ({ body: { settings: { 'ext.a': 2 } }, headers: withToken(caller) }),
  },
  'DELETE /api/settings/{owner}/{repo}': { statuses: [401, 403, 403, 403, 200] },
  'GET /api/settings/{owner}/{repo}/versions': { statuses: [401, 403, 403, 200, 200] },
  'GET /api/settings/{owner}/{repo}/versions/{version}': {
    statuses: [401, 403, 403, 200, 200],
    params: { version: '1' },
  },
  'POST /api/settings/{owner}/{repo}/restore': {
    statuses: [401, 403, 403, 403, 200],
    call: () => ({ body: { version: 1 } }),
  },

  'GET /api/team/me': { statuses: [401, 200, 200, 200, 200] },
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
  'PATCH /api/team/workspaces/{id}': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { name: 'Renamed' } }),
  },
  'DELETE /api/team/workspaces/{id}': { statuses: [401, 404, 404, 403, 200] },
  // The only admin may not.
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
  'GET /api/team/workspaces/{id}/patterns': { statuses: [401, 404, 404, 200, 200] },
  'PUT /api/team/workspaces/{id}/patterns': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { patterns: [] } }),
  },
  'GET /api/team/workspaces/{id}/settings': { statuses: [401, 404, 404, 200, 200] },
  'PATCH /api/team/workspaces/{id}/settings': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { idle_window_minutes: 7 } }),
  },
  'GET /api/team/workspaces/{id}/project-settings': { statuses: [401, 404, 404, 200, 200] },
  'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    statuses: [401, 404, 404, 403, 200],
    call: () => ({ body: { settings: {} } }),
  },
  'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}': {
    statuses: [401, 404, 404, 403, 200],
  },
  'GET /api/team/workspaces/{id}/audit': { statuses: [401, 404, 404, 403, 200] },

  'GET /api/team/active-minutes': { statuses: [401, 200, 200, 200, 200] },
  // What matches none of the caller's workspaces is noted and not counted.
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

  // The last row, because who calls is gone afterwards; but the admin, who is the only one of others.
  'DELETE /api/me': {
    statuses: [401, 200, 200, 200, 409],
    call: (_, caller) => ({ body: { confirm: caller.login } }),
  },
}

/** What the document says of a route, going by whom it lets in. */
const who = (route: string, { statuses }: Row): string => {
  const [nobody, outsider, , member, admin] = statuses
  if (route.endsWith('/webhook')) return 'the billing provider'
  if (nobody !== 401) return 'anyone'
  if (admin === 401) return 'the operator, with an admin key'
  if (member === 403) return 'an admin of'
  return outsider === member ? 'any signed-in caller' : 'a member of'
}

const setScene = async (admin: Caller, member: Caller, service: Service, owner: string): Promise<Scene> => {
  const { id, code } = await service.workspace(admin, { patterns: [`${owner}/*`], members: [member] })
  const invite = await admin.post(`/api/team/workspaces/${id}/invites`)
  await admin.push(`${owner}/app`, { 'ext.a': 1 })
  await admin.put(`/api/team/workspaces/${id}/project-settings/${owner}/app`, { settings: { 'ext.b': 1 } })
  return { workspace: id, owner, code, invite: invite.body.id }
}

t.test('every endpoint lets exactly those in whom the interface names', async (t) => {
  const service = await startService(t)
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

  const elsewhere = await service.signIn('other-admin')
  await service.workspace(elsewhere, { name: 'Elsewhere', patterns: ['elsewhere/*'] })
  for (const [index, [route, row]] of Object.entries(table).entries()) {
    // New sessions for every row, because one of the rows ends them.
    const [outsider, otherAdmin, member, admin] = await Promise.all([
      // One who never joined anything, whatever earlier rows did.
      service.signIn(`outsider-${index}`),
      service.signIn('other-admin'),
      service.signIn('member'),
      service.signIn('admin'),
    ])
    const scene = await setScene(admin, member, service, `owner-${index}`)
    const [method = '', template = ''] = route.split(' ')
    const params: Record<string, string> = {
      id: scene.workspace,
      owner: scene.owner,
      repo: 'app',
      invite: scene.invite,
      code: scene.code,
      ...row.params,
    }
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? `no-${name}`)
    const target = row.query ? `${path}?${row.query(scene)}` : path
    const statuses = [
      (await service.request(method, target, row.call?.(scene, outsider))).status,
      ...(await inTurn([outsider, otherAdmin, member, admin], async (caller) => {
        const { status } = await caller.request(method, target, row.call?.(scene, caller))
        return status
      })),
    ]
    t.same(statuses, row.statuses, route)
  }
})

const inTurn = async <T, R>(list: T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  for (const item of list) results.push(await work(item))
  return results
}

t.test('a workspace that does not exist looks like one that is not the caller’s', async (t) => {
  const service = await startService(t)
  const [ada, eve] = [await service.signIn('ada'), await service.signIn('eve')]
  const { id } = await service.workspace(ada)
  const withoutIds = ({ body }: { body: Record<string, unknown> }) => ({ ...body, request_id: '' })
  const theirs = await eve.get(`/api/team/workspaces/${id}/members`)
  const none = await eve.get('/api/team/workspaces/0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e/members')
  t.same(withoutIds(theirs), withoutIds(none))
  t.equal((await eve.get('/api/team/workspaces/x/members')).status, 400)
})
