/** The differences between kinds of repository host. A database stays with its host. */
import t from 'tap'
import { repohostKinds } from '../schemas/common.js'
import { readConfig } from '../src/config.js'
import { checkHost } from '../src/features/accounts/index.js'
import { problemsOf } from './config-problems.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { startService } from './service.js'

t.test('a renamed, missing or forbidden repository gives no access', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await startService(t, { kind })
      const ada = await service.signIn('ada')
      await service.workspace(ada)
      const denied = { status: 403, body: { code: 'repo_access_denied' } }
      service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
      t.hasStrict(await ada.push('acme/old', {}), denied, 'renamed')
      service.repohost.renameRepo('acme/older', 'acme/new', 'new name')
      t.hasStrict(await ada.push('acme/older', {}), denied, 'answered under its new name')
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

t.test('GitLab subgroups are rejected with a message that says so', async (t) => {
  const service = await startService(t, { kind: 'gitlab' })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const says = /GitLab subgroups have no `owner\/repo`/
  const patterns = await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/backend/*'] })
  t.equal(patterns.status, 400)
  t.match(patterns.body.errors[0].message, says)
  const push = await ada.push('acme%2Fbackend/api', {})
  t.equal(push.status, 400)
  t.match(push.body.errors[0].message, says)
  const entries = [{ repo: 'acme/backend/api', day: '2026-11-21', minutes: 1 }]
  t.match((await ada.post('/api/team/active-minutes', { entries })).body.errors[0].message, says)
  const github = await startService(t)
  const bob = await github.signIn('bob')
  const elsewhere = await bob.post('/api/team/active-minutes', { entries })
  t.equal(elsewhere.status, 400)
  t.notOk(says.test(elsewhere.body.errors[0].message), 'elsewhere nothing is said of them')
})

t.test('addresses follow from the kind', async (t) => {
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
  t.same(problemsOf({ REPOHOST_KIND: 'forgejo' }), [
    'REPOHOST_URL is required: every Forgejo has its own address',
    'REPOHOST_API_URL is required: every Forgejo has its own address',
  ])
  t.same(problemsOf({ REPOHOST_KIND: 'bitbucket' }), ['REPOHOST_KIND must be one of github, gitlab, forgejo'])
})

t.test('the page calls the host by its name', async (t) => {
  const service = await startService(t, { kind: 'gitlab' })
  const { status, text } = await service.request('GET', '/')
  if (status !== 200) return t.comment('the dashboard was not built')
  t.match(text, /"repohost_kind":"gitlab","repohost_name":"GitLab"/)
})

t.test('a database stays with its host, unless the operator says that the host has moved', async (t) => {
  const { database, databaseUrl } = await startService(t)
  const own = { REPOHOST_URL: 'https://git.example.com', REPOHOST_API_URL: 'https://git.example.com/api/v3' }
  const moved = { ...own, REPOHOST_MOVED: 'https://github.com' }
  const asksForMove =
    /GitHub host https:\/\/github\.com, .*GitHub host https:\/\/git\.example\.com.* REPOHOST_MOVED=https:\/\/github\.com/
  const warns = /Remove REPOHOST_MOVED: the database records the (\w+) host (\S+) already\./
  // Real starts show what becomes of the check.
  const starts = async (env: Record<string, string>) => {
    const service = await ready(launch(t, await freePort(), { ...onDatabase(databaseUrl), ...env }))
    service.child.kill('SIGTERM')
    t.equal(await service.ended, 0)
    return service.output().match(warns)?.slice(1)
  }
  t.same(await starts({}), undefined)
  const service = launch(t, await freePort(), { ...onDatabase(databaseUrl), ...own })
  t.equal(await service.ended, 1)
  t.match(service.output(), asksForMove)

  const check = (env: Record<string, string>) =>
    checkHost(database, readConfig({ ...onDatabase(databaseUrl), ...env }).repohost)
  const rejected = async (env: Record<string, string>, says: RegExp) => {
    const error = await check(env).then(
      () => t.fail(`${JSON.stringify(env)} is accepted`),
      (error) => error,
    )
    t.match(error.message, says)
    return error.message as string
  }
  const warningOf = async (env: Record<string, string>) => (await check(env))?.match(warns)?.slice(1)
  await rejected(own, asksForMove)
  await rejected({ REPOHOST_KIND: 'gitlab' }, /GitLab host https:\/\/gitlab\.com/)
  await rejected(
    { ...own, REPOHOST_MOVED: 'https://elsewhere.example.com' },
    /REPOHOST_MOVED=https:\/\/github\.com/,
  )
  const gitlab = { REPOHOST_KIND: 'gitlab', REPOHOST_MOVED: 'https://github.com' }
  t.notOk((await rejected(gitlab, /GitLab host https:\/\/gitlab\.com/)).includes('REPOHOST_MOVED'))
  t.same(await starts({ ...own, REPOHOST_MOVED: 'https://github.com/' }), undefined)
  t.same(await starts(moved), ['GitHub', own.REPOHOST_URL])
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
