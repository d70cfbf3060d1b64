/** Every response that a host can give about organizations: only a clear yes is a yes, and only a clear no a no. */
import t from 'tap'
import { type RepohostKind, repohostKinds } from '../schemas/common.js'
import { hostKinds } from '../src/platform/hosts/index.js'
import type { Ask } from '../src/platform/hosts/kind.js'
import type { UpstreamResponse } from '../src/platform/http/upstream.js'
import { reuseService } from './service.js'

const response = (
  status: number,
  json?: unknown,
  headers: Record<string, string> = {},
): UpstreamResponse => ({
  status,
  json,
  headers: new Headers(headers),
})

const user = { id: 7, login: 'bob' }
const acme = { id: 9_919, name: 'Acme' }
const scope = { 'x-oauth-scopes': 'read:user, read:org' }

/** The responses of a host, by the beginning of the path. Everything else isn't found. */
const answering =
  (responses: Record<string, UpstreamResponse>) =>
  (path: string): UpstreamResponse =>
    Object.entries(responses).find(([start]) => path.startsWith(start))?.[1] ?? response(404, {}, scope)

const asking = (responses: Record<string, UpstreamResponse>): Ask => {
  const responseOf = answering(responses)
  return async (path) => responseOf(path)
}

interface Paths {
  /** The question whether the person belongs. */
  membership: string
  yes: Record<string, UpstreamResponse>
  no: Record<string, UpstreamResponse>
  list: string
  /** A "no" to a question, and what makes it unclear. */
  unclear: Record<string, Record<string, UpstreamResponse>>
}

const github = '/user/memberships/orgs/Acme'
const active = { state: 'active', role: 'admin', organization: { id: 9_919, login: 'Acme' } }
const gitlab = '/groups/9919/members/all/7'
const self = '/personal_access_tokens/self'
const forgejo = '/orgs/Acme/members/bob'
const shown = { id: 9_919, name: 'Acme' }

const hosts: Record<RepohostKind, Paths> = {
  github: {
    membership: github,
    list: '/user/memberships/orgs?',
    yes: { [github]: response(200, active) },
    no: {
      [github]: response(404, {}, scope),
      '/organizations/9919': response(200, { id: 9_919, login: 'acme' }),
    },
    unclear: {
      'no scope': { [github]: response(404, {}, { 'x-oauth-scopes': 'read:user, repo' }) },
      'no header with scopes': { [github]: response(404) },
      'another id': { [github]: response(200, { ...active, organization: { id: 1, login: 'Acme' } }) },
      'an invitation': { [github]: response(200, { ...active, state: 'pending' }) },
      renamed: { '/organizations/9919': response(200, { id: 9_919, login: 'acme-corp' }) },
      'an outage in between': { '/organizations/9919': response(502) },
    },
  },
  gitlab: {
    membership: gitlab,
    list: '/groups?',
    yes: { [gitlab]: response(200, { id: 7, state: 'active', access_level: 50 }) },
    no: { [gitlab]: response(404), [self]: response(200, { scopes: ['read_user', 'read_api'] }) },
    unclear: {
      'no scope': { [gitlab]: response(404), [self]: response(200, { scopes: ['read_user'] }) },
      'an outage in between': { [gitlab]: response(404), [self]: response(503), '/oauth': response(503) },
      'odd scopes': { [gitlab]: response(404), [self]: response(200, { scopes: { api: true } }) },
      'another person': { [gitlab]: response(200, { id: 8, state: 'active', access_level: 50 }) },
      blocked: { [gitlab]: response(200, { id: 7, state: 'blocked', access_level: 50 }) },
    },
  },
  forgejo: {
    membership: forgejo,
    list: '/user/orgs?',
    yes: { [forgejo]: response(204), '/orgs/Acme': response(200, shown) },
    no: { [forgejo]: response(404), '/orgs/Acme': response(200, shown) },
    unclear: {
      'another id': { [forgejo]: response(404), '/orgs/Acme': response(200, { ...shown, id: 1 }) },
      'another id, and a yes': { [forgejo]: response(204), '/orgs/Acme': response(200, { ...shown, id: 1 }) },
      'no scope': { [forgejo]: response(403) },
      'an outage in between': { [forgejo]: response(404), '/orgs/Acme': response(500) },
      renamed: { [forgejo]: response(404), '/orgs/Acme': response(301) },
    },
  },
}

/** These responses mean nothing, whatever the kind of host. */
const odd: Record<string, UpstreamResponse> = {
  'an empty 200': response(200),
  null: response(200, null),
  'a list': response(200, []),
  'a text': response(200, 'yes'),
  'odd members': response(200, { id: '9919', state: ['active'], organization: 7, access_level: '50' }),
  ...Object.fromEntries(
    [202, 301, 302, 304, 307, 308, 400, 401, 403, 408, 410, 418, 429, 451, 500, 502, 503, 504].map(
      (status) => [String(status), response(status, { message: 'No' }, scope)],
    ),
  ),
}

/** Some of each sort, for what the service does with them. Each one's meaning is judged without requests. */
const someOdd = Object.fromEntries(
  ['an empty 200', 'null', 'a list', 'odd members', '302', '401', '403', '429', '503'].map((name) => [
    name,
    odd[name] as UpstreamResponse,
  ]),
)

for (const kind of repohostKinds) {
  const { organizations } = hostKinds[kind]
  const { membership, yes, no, unclear, list } = hosts[kind]

  t.test(`only a clear host response decides membership: ${kind}`, async (t) => {
    const asked = (responses: Record<string, UpstreamResponse>) =>
      organizations.membership(asking(responses), user, acme)
    t.equal(await asked(yes), 'member')
    t.equal(await asked(no), 'not-a-member')
    for (const [name, responses] of Object.entries(unclear))
      t.equal(await asked({ ...no, ...responses }), 'unknown', name)
    for (const [name, one] of Object.entries(odd))
      t.equal(await asked({ ...no, [membership]: one }), 'unknown', name)
    const late: Ask = () => Promise.reject(new Error('too slow'))
    await t.rejects(organizations.membership(late, user, acme), 'the caller takes it for no answer')
  })

  t.test(`an unclear list response counts as no list and names no one: ${kind}`, async (t) => {
    for (const [name, one] of Object.entries(odd)) {
      const found = await organizations.list(asking({ [list]: one }))
      t.same(found, name === 'a list' ? [] : undefined, name)
    }
    const limited = new Response(null, {
      headers: { 'x-ratelimit-remaining': '0', 'x-oauth-scopes': 'read:user' },
    }).headers
    for (const message of ['Limit', 'required scope'])
      t.equal(
        await organizations.list(
          asking({
            [list]: { status: 403, json: { message, error: 'insufficient_scope' }, headers: limited },
          }),
        ),
        undefined,
        'a rate limit is no missing scope',
      )
    const items = [
      null,
      7,
      [],
      {},
      { id: -1, name: 'a' },
      { id: 1.5, full_path: 'a' },
      { id: '1', login: 'a' },
    ]
    const found = await organizations.list(asking({ [list]: response(200, items) }))
    t.same(found, [])
  })

  t.test(`no one owns an organization through an unclear response: ${kind}`, async (t) => {
    for (const [name, one] of Object.entries(odd)) {
      const found = await organizations.administered(async () => one, user, 'Acme')
      t.type(found, 'string', name)
    }
  })

  t.test(
    `a sign-in joins only on a clear yes, and a push or sign-in removes only on a clear no: ${kind}`,
    async (t) => {
      const service = await reuseService(t, kind)
      const { repohost } = service
      const asks = { mayAskOrganizations: true }
      const ada = await service.signIn('ada', asks)
      repohost.organizations.push({ ...acme, members: new Map([[ada.repohostId, 'admin']]) })
      const { id } = await service.workspace(ada)
      const path = `/api/team/workspaces/${id}`
      const linked = await ada.request('PUT', `${path}/organization`, {
        body: { organization: acme.name, join: 'member', leave: 'remove' },
        headers: { 'X-Repohost-Token': ada.repohostToken },
      })
      t.equal(linked.status, 200, linked.text)
      const logins = async (): Promise<string[]> =>
        (await ada.get(`${path}/members`)).body.members.map(({ login }: { login: string }) => login)
      const answerWith = (responses: Record<string, UpstreamResponse>) => {
        repohost.answerOrganization = answering(responses)
      }
      const signIn = () => service.signIn(user.login, { ...asks, id: user.id })

      for (const [name, one] of Object.entries({ ...someOdd, 'a no': response(404, {}, scope) })) {
        answerWith({ [list]: one, [membership]: one })
        await signIn()
        t.same(await logins(), ['ada'], `joins by ${name}`)
      }
      answerWith({ [list]: response(503), ...yes })
      const bob = await signIn()
      t.same(await logins(), ['ada', 'bob'])

      await ada.patch(`${path}/members`, { login: 'bob', role: 'admin' })
      const unclearOnes = {
        ...unclear,
        ...Object.fromEntries(Object.entries(someOdd).map(([name, one]) => [name, { [membership]: one }])),
      }
      let pushes = 0
      for (const [name, responses] of Object.entries(unclearOnes)) {
        answerWith({ ...no, ...responses })
        const pushed = await bob.push('acme/web', { 'ext.a': pushes++ })
        t.equal(pushed.status, 200, `${name}: ${pushed.text}`)
        await signIn()
        t.same(await logins(), ['ada', 'bob'], `removes by ${name}`)
      }
      answerWith(no)
      t.hasStrict(await bob.push('acme/web', { 'ext.a': pushes }), {
        status: 409,
        body: { code: 'workspace_required' },
      })
      t.same(await logins(), ['ada'])
      answerWith(yes)
      await signIn()
      t.same(await logins(), ['ada', 'bob'], 'a person who is back joins again')
      answerWith(no)
      await signIn()
      t.same(await logins(), ['ada'])
    },
  )
}
