import t from 'tap'
import type { AuditEntry } from '../schemas/audit.js'
import { hasProperties } from './has-properties.js'
import { retryWhileUnavailable, reuseService, startTeam } from './service.js'

const team = '/api/team/workspaces'

t.test('the audit trail lists changes with their authors, newest first, without secrets', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('Ada', 'bob', 'cyd')
  const { id, code } = await service.workspace(ada, { name: 'Acme' })
  const invite = (await ada.post(`${team}/${id}/invites`, { role: 'admin', max_uses: 5 })).body
  await bob.post(`${team}/join`, { code: invite.code })
  await cyd.post(`${team}/join`, { code })
  await bob.patch(`${team}/${id}`, { name: 'Acme 2' })
  await ada.patch(`${team}/${id}/members`, { login: 'CYD', role: 'admin' })
  await ada.patch(`${team}/${id}/settings`, { idle_window_minutes: 6, settings: { 'ext.secret': 'canary' } })
  await ada.put(`${team}/${id}/patterns`, { patterns: ['acme/*', 'beta/*'] })
  await ada.put(`${team}/${id}/project-settings/Acme/Api`, { settings: { 'ext.secret': 'canary' } })
  await ada.delete(`${team}/${id}/project-settings/acme/api`)
  await ada.push('acme/Api', { 'ext.secret': 'canary' })
  await ada.delete('/api/settings/acme/api')
  await ada.delete(`${team}/${id}/invites/${invite.id}`)
  await ada.delete(`${team}/${id}/members?login=cyd`)
  await bob.post(`${team}/${id}/leave`)

  const reply = await ada.get(`${team}/${id}/audit`)
  t.equal(reply.status, 200)
  const { entries, next_cursor } = reply.body
  t.equal(next_cursor, null)
  hasProperties(
    t,
    entries
      .map(({ actor, action, target, details }: AuditEntry) => [actor, action, target, details])
      .reverse(),
    [
      ['Ada', 'workspace.created', null, { name: 'Acme', patterns: ['acme/*'] }],
      ['Ada', 'invite.created', invite.id, { role: 'admin', max_uses: 5 }],
      ['bob', 'member.joined', 'bob', { role: 'admin', invite: invite.id }],
      ['cyd', 'member.joined', 'cyd', { role: 'member' }],
      ['bob', 'workspace.renamed', null, { before: 'Acme', after: 'Acme 2' }],
      ['Ada', 'member.role_changed', 'cyd', { before: 'member', after: 'admin' }],
      [
        'Ada',
        'workspace_settings.changed',
        null,
        { version: 2, idle_window_minutes: { before: 5, after: 6 }, size_bytes: 23 },
      ],
      ['Ada', 'patterns.replaced', null, { before: ['acme/*'], after: ['acme/*', 'beta/*'] }],
      ['Ada', 'override.set', 'Acme/Api', { size_bytes: 23 }],
      ['Ada', 'override.removed', 'Acme/Api', {}],
      ['Ada', 'settings.pushed', 'acme/Api', { version: 1 }],
      ['Ada', 'settings.deleted', 'acme/Api', {}],
      ['Ada', 'invite.revoked', invite.id, {}],
      ['Ada', 'member.removed', 'cyd', { role: 'admin' }],
      ['bob', 'member.left', 'bob', { role: 'admin' }],
    ],
  )
  for (const secret of [code, invite.code, 'canary', ada.token, ada.repohostToken]) {
    t.notOk(reply.text.includes(secret))
  }
})

t.test('rejected requests and requests that change nothing leave no entry', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { name: 'Acme', members: [bob] })
  const before = (await ada.get(`${team}/${id}/audit`)).text
  await ada.patch(`${team}/${id}`, { name: 'Acme' })
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'member' })
  await ada.patch(`${team}/${id}/members`, { login: 'ada', role: 'member' })
  await ada.patch(`${team}/${id}/settings`, { idle_window_minutes: 5 })
  await ada.put(`${team}/${id}/patterns`, { patterns: ['acme/*'] })
  await bob.put(`${team}/${id}/patterns`, { patterns: [] })
  t.equal((await ada.get(`${team}/${id}/audit`)).text, before)
})

t.test('audit trail pages list changes in the order they were made', async (t) => {
  const { ada, id } = await startTeam(t)
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      retryWhileUnavailable(() => ada.patch(`${team}/${id}/settings`, { settings: { 'ext.n': index } })),
    ),
  )
  const seen: AuditEntry[] = []
  let cursor = ''
  do {
    const page = (await ada.get(`${team}/${id}/audit?limit=7${cursor && `&cursor=${cursor}`}`)).body
    seen.push(...page.entries)
    cursor = page.next_cursor ?? ''
  } while (cursor)
  const versions = seen
    .filter(({ action }) => action === 'workspace_settings.changed')
    .map(({ details }) => details.version)
  t.same(
    versions,
    Array.from({ length: 30 }, (_, index) => 31 - index),
  )
  t.equal(new Set(seen.map((entry) => entry.id)).size, 31)
})

t.test('a page with large entries is cut short, and the pages together are complete', async (t) => {
  const { service, ada, id } = await startTeam(t)
  await service.database.hot.statement(
    `insert into audit_entries (workspace_id, id, at, actor, action, details)
    select $1::uuid, gen_random_uuid(), now() + n * interval '1 ms', 'ada', 'patterns.replaced',
      jsonb_build_object('n', n, 'before', repeat('x', 20000))
    from generate_series(1, 130) n`,
    [id],
  )
  const seen: number[] = []
  let pages = 0
  let cursor = ''
  do {
    const page = await ada.get(`${team}/${id}/audit?limit=500${cursor && `&cursor=${cursor}`}`)
    t.ok(page.text.length < 1_200_000)
    seen.push(...page.body.entries.flatMap(({ details }: AuditEntry) => details.n ?? []))
    cursor = page.body.next_cursor ?? ''
    pages++
  } while (cursor)
  t.same(
    seen,
    Array.from({ length: 130 }, (_, index) => 130 - index),
  )
  t.equal(pages, 3)
})
