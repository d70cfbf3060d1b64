/** The differences between kinds of repository host. A database stays with its host. */
import t from 'tap'
import { repohostKinds } from '../schemas/common.js'
import { readConfig } from '../src/config.js'
import { checkHost } from '../src/features/accounts/index.js'
import { problemsOf } from './config-problems.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { reuseService, startTeam } from './service.js'

t.test('a missing, forbidden or renamed repository gives no access under its old name', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const ada = await service.signIn('ada')
      await service.workspace(ada)
      const denied = { status: 403, body: { code: 'repo_access_denied' } }
      const renamed = { status: 409, body: { code: 'repo_renamed', renamed_to: 'acme/new' } }
      service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
      t.hasStrict(await ada.push('acme/old', {}), renamed)
      service.repohost.renameRepo('acme/older', 'acme/new', 'new name')
      t.hasStrict(await ada.push('acme/older', {}), renamed, 'answered under its new name')
      service.repohost.removeRepo('acme/none')
      t.hasStrict(await ada.push('acme/none', {}), denied, 'missing')
      const rejected = { status: 401, body: { code: 'repohost_token_invalid' } }
      const useless = service.repohost.addTokenWithoutScope(ada.repohostId)
      t.hasStrict(
        await ada.push('acme/api', {}, { 'X-Repohost-Token': useless }),
        rejected,
        'without a scope',
      )
      service.repohost.fault = 'rate-limited'
      const limited = await ada.push('acme/api', {})
      t.hasStrict(limited, { status: 502, body: { code: 'upstream_failed' } })
      t.equal(limited.headers.get('retry-after'), '17')
      service.repohost.fault = undefined
      t.equal((await ada.push('acme/api', {})).status, 200)
    })
})

t.test('on GitLab, a repository’s owner is its whole group path', async (t) => {
  const service = await reuseService(t, 'gitlab')
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const repo = 'Acme/platform/web'
  const suggested = (await ada.push(repo, {})).body
  t.hasStrict(suggested, { code: 'workspace_required', suggested_pattern: 'Acme/platform/*' })
  const { id } = await service.workspace(ada, { patterns: [suggested.suggested_pattern], members: [bob] })
  t.hasStrict(await ada.push(repo, { 'ext.a': 1 }), {
    status: 200,
    body: { owner: 'Acme/platform', repo: 'web' },
  })
  const settings = '/api/settings/acme%2fPLATFORM/web'
  t.same((await bob.get(settings)).body.settings, { 'ext.a': 1 })
  t.equal((await ada.get(`${settings}/versions/1`)).status, 200)
  const override = `/api/team/workspaces/${id}/project-settings/acme%2Fplatform/web`
  t.equal((await ada.put(override, { settings: { 'ext.b': 2 } })).status, 200)
  const effective = (await bob.get('/api/team/effective-config?repo=acme/platform/web')).body
  t.hasStrict(effective, { matched_pattern: 'Acme/platform/*', settings: { 'ext.b': 2 } })
  const [project] = (await bob.get('/api/projects')).body.projects
  t.hasStrict(project, { owner: 'Acme/platform', repo: 'web', synced: true, has_override: true })

  const day = new Date().toISOString().slice(0, 10)
  const entries = [repo, 'acme/web', 'acme/platform/deep/web'].map((repo) => ({ repo, day, minutes: 2 }))
  const flush = async () => (await bob.post('/api/team/active-minutes', { entries })).body.notes
  const outside = (index: number) => ({ index, status: 'ignored', code: 'repo_not_matched' })
  t.same(await flush(), [outside(1), outside(2)], 'one star matches the repositories of this group alone')
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/**'] })
  t.same(await flush(), [], 'and two those of all subgroups')
  const recording = { paused: false, repos_off: ['acme/platform/*'], hours: null }
  await bob.put('/api/me/recording', recording)
  t.same(await flush(), [{ index: 0, status: 'ignored', code: 'recording_off' }])
  await bob.put('/api/me/recording', { ...recording, repos_off: ['acme/platform/**'] })
  t.same(
    await flush(),
    [0, 2].map((index) => ({ index, status: 'ignored', code: 'recording_off' })),
  )
  const members = [
    {
      login: 'bob',
      repos: [
        { repo, count: 3 },
        { repo: 'other/x', count: 1 },
      ],
    },
  ]
  t.same((await ada.post('/api/team/commits', { workspace: id, day, members })).body, {
    upserted: 1,
    unchanged: 0,
    skipped: [{ login: 'bob', repo: 'other/x', code: 'repo_outside_patterns' }],
  })
  const dashboard = await ada.get(`/api/team/dashboard?workspace=${id}&from=${day}&to=${day}&repo=${repo}`)
  t.hasStrict(dashboard.body.totals, { active_minutes: 4, commits: 3 })
  const csv = await ada.get(
    `/api/team/dashboard?workspace=${id}&from=${day}&to=${day}&repo=${repo}&format=csv`,
  )
  t.equal(csv.text, `day,login,active_minutes,commits,closed_issues\n${day},bob,4,3,0\n`)
  t.equal((await ada.delete(override)).status, 200)
  t.equal((await ada.delete(settings)).status, 200)
})

t.test('heartbeats can name repositories in groups using any GitLab URL form', async (t) => {
  for (const kind of ['gitlab', 'github'] as const) {
    const service = await reuseService(t, kind)
    const ada = await service.signIn('ada')
    const { host: address, hostname: host } = new URL(service.config.repohost.url)
    const at = Math.floor(Date.now() / 86_400_000) * 86_400
    await service.workspace(ada, { patterns: ['acme/**'] })
    const beats = [
      'acme/platform/web',
      `git@${host}:acme/platform/web.git`,
      `http://${address}/acme/platform/web.git`,
      `//user:secret@${host}:2222/Acme/Platform/Web`,
      `ssh://git@${host}/acme/platform/web`,
    ].map((project, index) => ({ time: at + index * 60, project }))
    await ada.post('/api/wakatime/v1/users/current/heartbeats.bulk', beats)
    const { projects } = (await ada.get('/api/me/editor-projects')).body
    t.equal(projects.length, kind === 'gitlab' ? 0 : 5, kind)
    const { data } = (await ada.get('/api/wakatime/v1/users/current/statusbar/today')).body
    if (kind === 'gitlab') t.equal(data.grand_total.total_seconds, 300, 'five minutes of one repository')
  }
})

t.test('on other hosts, an owner with a slash is an error', async (t) => {
  const { ada, id } = await startTeam(t)
  const entries = [{ repo: 'acme/backend/api', day: '2026-11-21', minutes: 1 }]
  const patterns = { patterns: ['acme/backend/*'] }
  for (const reply of [
    await ada.push('acme/backend/api', {}),
    await ada.put(`/api/team/workspaces/${id}/patterns`, patterns),
    await ada.post('/api/team/active-minutes', { entries }),
    await ada.get('/api/team/effective-config?repo=acme/backend/api'),
  ])
    t.hasStrict(reply, { status: 400, body: { code: 'validation_failed' } })
})

t.test('a GitLab owner has at most 20 groups and 255 characters, and no group is a dot', async (t) => {
  const service = await reuseService(t, 'gitlab')
  const ada = await service.signIn('ada')
  const status = async (owner: string, repo = 'x') =>
    (await ada.get(`/api/settings/${encodeURIComponent(owner)}/${repo}`)).status
  const [most, longest] = [
    Array(20).fill('g').join('/'),
    `${'a'.repeat(85)}/${'b'.repeat(85)}/${'c'.repeat(83)}`,
  ]
  t.equal(await status(most), 403)
  t.equal(await status(`${most}/g`), 400)
  t.equal(await status(longest), 403)
  t.equal(await status(`${longest}c`), 400)
  for (const owner of ['a//b', '/a', 'a/', 'a/../b', './a', 'a/b c', `a/${'b'.repeat(101)}`])
    t.equal(await status(owner), 400, owner)
  t.equal(await status('a', 'b%2Fc'), 400, 'a name of a repository has no slash')
  const asked = await ada.push(`${longest}/x`, {})
  t.same(
    asked.body.suggested_pattern,
    `${'a'.repeat(85)}/${'b'.repeat(85)}/**`,
    'a pattern is never too long',
  )
  for (const repo of [`${most}/x`, `${longest}/x`])
    t.equal((await ada.get(`/api/team/effective-config?repo=${repo}`)).status, 403, repo)
  for (const repo of [`${most}/g/x`, `${longest}c/x`, 'x'])
    t.equal((await ada.get(`/api/team/effective-config?repo=${repo}`)).status, 400, repo)
  const document = await service.request('GET', '/api/openapi.json')
  t.ok(document.text.includes('{0,19}'), 'and the document says so')
})

t.test('the host’s kind determines its default URLs', async (t) => {
  const addressesOf = (env: Record<string, string>) => {
    const { kind, url, apiUrl } = readConfig(env).repohost
    return { kind, url, apiUrl }
  }
  t.same(addressesOf({}), { kind: 'github', url: 'https://github.com', apiUrl: 'https://api.github.com' })
  t.same(addressesOf({ REPOHOST_KIND: 'gitlab' }), {
    kind: 'gitlab',
    url: 'https://gitlab.com',
    apiUrl: 'https://gitlab.com/api/v4',
  })
  for (const [kind, url, apiUrl] of [
    ['github', 'https://github.com/', 'https://api.github.com'],
    ['github', 'https://www.github.com', 'https://api.github.com'],
    ['github', 'https://git.example.com', 'https://git.example.com/api/v3'],
    ['github', 'https://acme.ghe.com', 'https://api.acme.ghe.com'],
    ['github', 'https://ghe.com.example.com', 'https://ghe.com.example.com/api/v3'],
    ['gitlab', 'https://gitlab.com/', 'https://gitlab.com/api/v4'],
    ['gitlab', 'https://git.example.com', 'https://git.example.com/api/v4'],
    [
      'gitlab',
      'https://git.example.com:8443/tools/gitlab/',
      'https://git.example.com:8443/tools/gitlab/api/v4',
    ],
    ['forgejo', 'https://codeberg.org', 'https://codeberg.org/api/v1'],
    ['forgejo', 'http://git.example.com/git', 'http://git.example.com/git/api/v1'],
  ] as const)
    t.same(
      addressesOf({ REPOHOST_KIND: kind, REPOHOST_URL: url }),
      { kind, url: url.replace(/\/$/, ''), apiUrl },
      `tokens for ${url} go to its own API`,
    )
  t.equal(
    addressesOf({ REPOHOST_URL: 'https://git.example.com', REPOHOST_API_URL: 'http://git.internal/api/' })
      .apiUrl,
    'http://git.internal/api',
  )
  t.same(problemsOf({ REPOHOST_KIND: 'forgejo' }), [
    'REPOHOST_URL is required: every Forgejo has its own address',
  ])
  for (const kind of ['bitbucket', 'constructor', '__proto__'])
    t.same(
      problemsOf({ REPOHOST_KIND: kind }),
      ['REPOHOST_KIND must be one of github, gitlab, forgejo'],
      kind,
    )
})

t.test('the page uses the host’s name', async (t) => {
  const service = await reuseService(t, 'gitlab')
  const { status, text } = await service.request('GET', '/')
  if (status !== 200) return t.comment('the dashboard was not built')
  t.match(text, /"repohost_kind":"gitlab","repohost_name":"GitLab"/)
})

t.test('a database stays with its host, unless the operator declares that the host has moved', async (t) => {
  const { database, databaseUrl } = await reuseService(t)
  const own = { REPOHOST_URL: 'https://git.example.com', REPOHOST_API_URL: 'https://git.example.com/api/v3' }
  const moved = { ...own, REPOHOST_MOVED: 'https://github.com' }
  const asksForMove =
    /GitHub host https:\/\/github\.com, .*GitHub host https:\/\/git\.example\.com.* REPOHOST_MOVED=https:\/\/github\.com/
  const warns = /Remove REPOHOST_MOVED: the database records the (\w+) host (\S+) already\./
  const check = (env: Record<string, string>) =>
    checkHost(database, readConfig({ ...onDatabase(databaseUrl), ...env }).repohost)
  const rejected = async (env: Record<string, string>, message: RegExp) => {
    const error = await check(env).then(
      () => t.fail(`${JSON.stringify(env)} is accepted`),
      (error) => error,
    )
    t.match(error.message, message)
    return error.message as string
  }
  const warningOf = async (env: Record<string, string>) => (await check(env))?.match(warns)?.slice(1)
  t.same(await warningOf({}), undefined)
  await rejected(own, asksForMove)
  // Real starts show what becomes of the check.
  const start = async (env: Record<string, string>) =>
    launch(t, await freePort(), { ...onDatabase(databaseUrl), ...env })
  const stopped = await start(own)
  t.equal(await stopped.ended, 1)
  t.match(stopped.output(), asksForMove)
  await rejected({ REPOHOST_KIND: 'gitlab' }, /GitLab host https:\/\/gitlab\.com/)
  await rejected(
    { ...own, REPOHOST_MOVED: 'https://elsewhere.example.com' },
    /REPOHOST_MOVED=https:\/\/github\.com/,
  )
  const gitlab = { REPOHOST_KIND: 'gitlab', REPOHOST_MOVED: 'https://github.com' }
  t.notOk((await rejected(gitlab, /GitLab host https:\/\/gitlab\.com/)).includes('REPOHOST_MOVED'))
  t.same(await warningOf({ ...own, REPOHOST_MOVED: 'https://github.com/' }), undefined)
  const service = await ready(await start(moved))
  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.same(service.output().match(warns)?.slice(1), ['GitHub', own.REPOHOST_URL])
  t.same(await warningOf(own), undefined)
  await rejected({}, /REPOHOST_MOVED=https:\/\/git\.example\.com/)
  const forgejo = { ...own, REPOHOST_KIND: 'forgejo' }
  const corrects = /REPOHOST_KIND was wrong before, set REPOHOST_MOVED=github\./
  await rejected(forgejo, corrects)
  await rejected({ ...forgejo, REPOHOST_MOVED: own.REPOHOST_URL }, corrects)
  t.same(await warningOf({ ...forgejo, REPOHOST_MOVED: 'github' }), undefined)
  t.same(await warningOf({ ...forgejo, REPOHOST_MOVED: 'github' }), ['Forgejo', own.REPOHOST_URL])
  for (const kind of ['github', 'gitlab'])
    for (const before of ['github', own.REPOHOST_URL])
      await rejected({ ...own, REPOHOST_KIND: kind, REPOHOST_MOVED: before }, /set REPOHOST_MOVED=forgejo\./)
  t.same(await warningOf(forgejo), undefined)
  t.same(problemsOf({ REPOHOST_MOVED: 'bitbucket' }), [
    'REPOHOST_MOVED must be an http or https URL without query, fragment or user, or one of github, gitlab, forgejo',
  ])
})
