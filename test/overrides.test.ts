import t from 'tap'
import type { Override } from '../schemas/overrides.js'
import { hasProperties } from './has-properties.js'
import { retryWhileUnavailable, reuseService, startTeam } from './service.js'

const path = (id: string) => `/api/team/workspaces/${id}/project-settings`

t.test('an override can be set, replaced, listed and removed', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { patterns: ['acme/*', 'beta/one'], members: [bob] })

  const set = await ada.put(`${path(id)}/Acme/Api`, { settings: { 'ext.b': 1, 'ext.a': null } })
  t.equal(set.status, 200)
  t.hasStrict(set.body, { owner: 'Acme', repo: 'Api', updated_by: 'ada' })
  t.equal(JSON.stringify(set.body.settings), '{"ext.b":1,"ext.a":null}')
  const replaced = await ada.put(`${path(id)}/acme/api`, { settings: { 'ext.c': [] } })
  t.hasStrict(replaced.body, { owner: 'Acme', repo: 'Api' }, 'in the case first given')
  t.same(replaced.body.settings, { 'ext.c': [] })
  t.equal((await ada.put(`${path(id)}/ACME/api`, { settings: { 'ext.c': [] } })).text, replaced.text)
  await ada.put(`${path(id)}/beta/one`, { settings: {} })

  const listed = (await bob.get(path(id))).body
  t.same(listed.overrides[0], replaced.body)
  t.same(
    listed.overrides.map(({ owner, repo }: Override) => `${owner}/${repo}`),
    ['Acme/Api', 'beta/one'],
  )
  t.equal(listed.next_cursor, null)

  t.same((await ada.delete(`${path(id)}/aCme/aPi`)).body, { ok: true })
  t.hasStrict((await ada.delete(`${path(id)}/acme/api`)).body, { status: 404, code: 'override_not_found' })
  t.equal((await bob.get(path(id))).body.overrides.length, 1)
})

t.test('a repository that matches no pattern can’t have an override', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/a_b', 'acme/api-*'] })
  const outside = { status: 422, code: 'repo_outside_patterns' }
  for (const repo of ['acme/axb', 'other/api-1', 'acme/ap']) {
    t.hasStrict((await ada.put(`${path(id)}/${repo}`, { settings: {} })).body, outside, repo)
  }
  t.equal((await ada.put(`${path(id)}/acme/api-`, { settings: {} })).status, 200)
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: [] })
  t.hasStrict((await ada.put(`${path(id)}/acme/api-`, { settings: { 'ext.a': 1 } })).body, outside)
  t.equal((await ada.delete(`${path(id)}/acme/api-`)).status, 200, 'it can still be removed')
})

t.test('overrides follow the same rules as snapshots', async (t) => {
  const { ada, id } = await startTeam(t)
  const put = (body: unknown, repo = 'acme/api') => ada.put(`${path(id)}/${repo}`, body)
  for (const body of [undefined, {}, { settings: null }, { settings: { a: 1 } }, { settings: {}, x: 1 }]) {
    t.equal((await put(body)).status, 400, JSON.stringify(body))
  }
  const around = JSON.stringify({ 'ext.a': '' }).length
  t.hasStrict((await put({ settings: { 'ext.a': 'x'.repeat(262_145 - around) } })).body, {
    status: 413,
    code: 'settings_too_large',
    limit_bytes: 262_144,
    actual_bytes: 262_145,
  })
  t.equal((await put({ settings: { 'ext.a': 'x'.repeat(262_144 - around) } })).status, 200)
  for (const repo of ['ac%2Fme/x', 'acme/x%00', `acme/${'x'.repeat(101)}`, 'ac me/x']) {
    t.equal((await put({ settings: {} }, repo)).status, 400, repo)
  }
})

t.test('a page with large overrides is cut short, and the pages together are complete', async (t) => {
  const { ada, id } = await startTeam(t)
  const names = Array.from({ length: 20 }, (_, index) => `repo-${String(index).padStart(2, '0')}`)
  for (const name of names) {
    await ada.put(`${path(id)}/acme/${name}`, { settings: { 'ext.a': name.padEnd(250_000, 'x') } })
  }
  const seen: string[] = []
  let pages = 0
  let cursor = ''
  do {
    const page = await ada.get(`${path(id)}?limit=19${cursor && `&cursor=${cursor}`}`)
    t.ok(page.text.length < 1_500_000)
    seen.push(...page.body.overrides.map(({ repo }: Override) => repo))
    cursor = page.body.next_cursor ?? ''
    pages++
  } while (cursor)
  t.same(seen, names)
  t.equal(pages, 4)
  t.equal((await ada.get(`${path(id)}?limit=1`)).body.overrides.length, 1)
})

t.test('the project list shows which repositories have an override', async (t) => {
  const { ada, id } = await startTeam(t)
  await ada.push('acme/both', {})
  await ada.push('acme/pushed', {})
  await ada.put(`${path(id)}/acme/both`, { settings: {} })
  await ada.put(`${path(id)}/acme/overridden`, { settings: {} })
  const projects = async () =>
    (await ada.get('/api/projects')).body.projects.map(
      ({ repo, synced, has_override, version }: Record<string, unknown>) => [
        repo,
        synced,
        has_override,
        version,
      ],
    )
  t.same(await projects(), [
    ['both', true, true, 1],
    ['overridden', false, true, null],
    ['pushed', true, false, 1],
  ])
  await ada.delete(`${path(id)}/acme/overridden`)
  await ada.delete(`${path(id)}/acme/both`)
  t.same(await projects(), [
    ['both', true, false, 1],
    ['pushed', true, false, 1],
  ])
})

t.test('of fifty concurrent writes to an override, one survives', async (t) => {
  const { ada, id } = await startTeam(t)
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      retryWhileUnavailable(() =>
        index % 5 === 4
          ? ada.delete(`${path(id)}/acme/api`)
          : ada.put(`${path(id)}/acme/api`, { settings: { 'ext.n': index } }),
      ),
    ),
  )
  t.ok(replies.every(({ status }) => status === 200 || status === 404))
  await ada.put(`${path(id)}/acme/api`, { settings: { 'ext.n': 'last' } })
  hasProperties(t, (await ada.get(path(id))).body.overrides, [{ settings: { 'ext.n': 'last' } }])
})
