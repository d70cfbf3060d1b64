/** Tries what the demo has printed: its people, its commands and its pages. */
import type { Test } from 'tap'
import { readCurl } from './curl.js'

export const tryDemo = async (t: Test, port: string, printed: string) => {
  const shown = (name: string) => printed.match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1] ?? ''
  const ada = { Authorization: `Bearer ${shown('ADA')}` }
  const api = `http://127.0.0.1:${port}/api`
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came
  const bodyOf = async (response: Response): Promise<any> => response.json()
  const get = async (path: string, headers: Record<string, string> = ada) =>
    bodyOf(await fetch(api + path, { headers }))
  t.hasStrict(await get('/me'), { login: 'ada', plan: 'pro' })
  t.same(
    (await get('/team/me')).workspaces.map(({ name }: { name: string }) => name),
    ['Acme', 'Globex'],
  )
  t.hasStrict(await get('/settings/acme/api-gateway'), {
    version: 2,
    settings: { 'mochaExplorer.timeout': 10_000 },
  })
  for (const [, which, key] of printed.matchAll(/assistant-([ab])-models\?apiKey=([^']+)/g)) {
    t.ok((await get(`/assistant-${which}-models?apiKey=${key}`)).models.length > 0)
  }
  t.match(await get('/admin/funnel', { 'X-Service-Admin-Key': shown('ADMIN') }), { users: 7 })

  const [acme] = (await get('/team/me')).workspaces
  const { members } = await get(`/team/workspaces/${acme.id}/members`)
  t.equal(members.length, 25)
  t.equal(members.filter(({ role }: { role: string }) => role === 'admin').length, 2)

  // The people of Globex come from an organization, and one who has left waits for the admin.
  const globex = (await get('/team/me')).workspaces[1]
  t.equal(globex.organization, 'globex')
  const eve = { Authorization: `Bearer ${shown('EVE')}` }
  const loginsOf = (people: { login: string }[]) => people.map(({ login }) => login).sort()
  t.same(loginsOf((await get(`/team/workspaces/${globex.id}/members`, eve)).members), [
    'ada',
    'bob',
    'eve',
    'finn',
    'gina',
    'hugo',
  ])
  t.same(loginsOf((await get(`/team/workspaces/${globex.id}/organization/members`, eve)).members), ['gina'])

  // The minutes of zoe come by heartbeat alone.
  const page = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  const repohost_token = /"login":"zoe","about":"[^"]*","repohost_token":"([^"]+)"/.exec(page)?.[1]
  const signedIn = await fetch(`${api}/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token }),
  })
  const zoe = { Authorization: `Bearer ${(await bodyOf(signedIn)).token}` }
  t.type((await get('/me', zoe)).heartbeats.last_at, 'string')
  t.same(
    (await get('/me/editor-projects', zoe)).projects.map(({ name, state, repo }: Record<string, unknown>) => [
      name,
      state,
      repo,
    ]),
    [
      ['api-gateway', 'automatic', 'acme/api-gateway'],
      ['scratch', 'waiting', null],
    ],
  )
  const own = await get(`/team/dashboard/mine?workspace=${acme.id}`, zoe)
  t.ok(own.totals.active_minutes > 0)
  t.ok(own.totals.agent_minutes > 0, 'her assistant works too')

  // Her commit and her closed issue come by webhook alone.
  t.equal(own.totals.commits, 1)
  t.equal(own.totals.closed_issues, 1)
  const noReason = { not_a_member: 0, unknown_author: 0, outside_patterns: 0, not_delivered: 0 }
  t.strictSame(
    (await get(`/team/workspaces/${acme.id}/webhook`)).deliveries.map(
      ({ at, skipped_commits, ...delivery }: { at: string; skipped_commits: object[] }) => ({
        ...delivery,
        skipped_commits: skipped_commits.length,
      }),
    ),
    [
      {
        event: 'issues',
        status: 200,
        repo: 'acme/web',
        counted: 1,
        skipped: 0,
        skipped_because: noReason,
        skipped_commits: 0,
      },
      {
        event: 'push',
        status: 200,
        repo: 'acme/web',
        counted: 2,
        skipped: 1,
        skipped_because: { ...noReason, not_a_member: 1 },
        skipped_commits: 1,
      },
    ],
  )

  // Every command, as it is printed.
  const variables = Object.fromEntries(
    ['REPOHOST_TOKEN', 'ADA', 'BOB', 'EVE', 'ADMIN'].map((name) => [name, shown(name)]),
  )
  const lines = printed.split('\n')
  const responses = new Map<string, string>()
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('curl')) continue
    const expected = /^# (\d{3}): /.exec(lines[index - 1] ?? '')?.[1]
    const { method, url, headers, body } = readCurl(line, variables)
    const reply = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
    const text = await reply.text()
    t.equal(expected ? String(reply.status) : reply.ok, expected ?? true, `${line}: ${text}`)
    responses.set(expected ?? line, text)
  }
  t.ok(responses.size > 25)
  t.match(responses.get('409'), /"suggested_pattern":"initech\/\*"/)
  t.hasStrict(JSON.parse(responses.get('200') ?? ''), {
    settings: { 'mochaExplorer.ui': 'tdd', 'mochaExplorer.timeout': 5_000, 'mochaExplorer.parallel': true },
    sources: {
      'mochaExplorer.ui': 'project',
      'mochaExplorer.timeout': 'locked',
      'mochaExplorer.parallel': 'workspace',
    },
    locked: ['mochaExplorer.timeout'],
  })

  // Following the redirects as a browser does, with its cookies.
  const cookies = new Map<string, string>()
  let url = `${api}/auth/repohost`
  for (let hop = 0; hop < 3; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    url = new URL(reply.headers.get('location') ?? '', url).href
  }
  t.hasStrict(await get('/me', { cookie: `svc_token=${cookies.get('svc_token')}` }), { login: 'ada' })

  const checkout = await fetch(`${api}/billing/checkout`, { method: 'POST', headers: ada })
  await fetch((await bodyOf(checkout)).url, { redirect: 'manual' })
  t.hasStrict(await get('/me'), { status: 'active' })
}
