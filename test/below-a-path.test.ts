/** An installation whose repository host is below a path, such as `https://git.example.com/gitlab`. */
import t from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { send } from './send.js'
import { startService } from './service.js'
import { addWebhook, commitOf } from './webhooks.js'

const ACME = 9_919
const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'

for (const [kind, below] of [
  ['gitlab', '/gitlab'],
  ['gitlab', '/tools/gitlab'],
  ['forgejo', '/git'],
] as const) {
  t.test(`${kind} below ${below}: its pages, its API, its remotes and its addresses count`, async (t) => {
    // Its API follows from its address.
    const service = await startService(t, { kind, below, env: { REPOHOST_API_URL: '' } })
    const { repohost, config } = service
    const { host, hostname } = new URL(repohost.url)
    t.equal(config.repohost.apiUrl, repohost.apiUrl)
    const { ada, bob, id, webhook, today } = await addWebhook(service)

    await t.test('people sign in in the browser', async (t) => {
      repohost.browserUser = ada.repohostId
      const start = await service.request('GET', '/api/auth/repohost')
      const consent = start.headers.get('location') ?? ''
      t.ok(consent.startsWith(`${repohost.url}${kind === 'gitlab' ? '/oauth' : '/login/oauth'}/authorize?`))
      const back = new URL(
        (await send(consent, { method: 'GET', headers: {} })).headers.get('location') ?? '',
      )
      const Cookie = start.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
      const end = await service.request('GET', back.pathname + back.search, { headers: { Cookie } })
      t.equal(end.status, 302)
      t.ok(end.headers.getSetCookie().some((line) => /^svc_token=./.test(line)))
    })

    await t.test('memberships follow an organization', async (t) => {
      const asks = { mayAskOrganizations: true }
      const acme = { id: ACME, name: 'acme', members: new Map<number, 'member' | 'admin'>() }
      repohost.organizations.push(acme)
      const owner = await service.signIn('ada', asks)
      acme.members.set(owner.repohostId, 'admin')
      const path = `/api/team/workspaces/${id}`
      const linked = await owner.request('PUT', `${path}/organization`, {
        body: { organization: 'acme', join: 'member', leave: 'remove' },
        headers: { 'X-Repohost-Token': owner.repohostToken },
      })
      t.equal(linked.status, 200, linked.text)
      acme.members.set(repohost.addUser('cyd').id, 'member')
      const cyd = await service.signIn('cyd', asks)
      t.equal((await cyd.get(`${path}/members`)).status, 200)
      acme.members.delete(cyd.repohostId)
      await service.signIn('cyd', asks)
      t.equal((await cyd.get(`${path}/members`)).status, 404)
    })

    await t.test('a repository that was moved redirects below the path', async (t) => {
      repohost.renameRepo('acme/old', 'acme/new', 'redirect')
      const reply = await ada.push('acme/old', { 'ext.a': 1 })
      t.hasStrict(reply, { status: 409, body: { code: 'repo_renamed', renamed_to: 'acme/new' } })
      t.equal((await ada.push('acme/new', { 'ext.a': 1 })).status, 200)
    })

    await t.test('remotes count with the path on pages, and without it by SSH', async (t) => {
      const folder = below.slice(1)
      const counting = [
        `http://${host}${below}/acme/a.git`,
        `//${host}${below}/acme/b`,
        `//bob:token@${host}${below}/acme/c`,
        `git@${hostname}:acme/d.git`,
        `ssh://git@${hostname}/acme/e.git`,
        `ssh://git@${hostname}:2222/acme/f.git`,
        `//git@${hostname}:2222/acme/g`,
        'acme/h',
      ]
      // As sent, and as listed: without ports, and as a repository of the host where it is one.
      const nested = `${folder}/acme/web`
      const waiting = {
        [`http://${host}/acme/web.git`]: `http://${hostname}/acme/web.git`,
        [`http://${host}${below}x/acme/web`]: `http://${hostname}${below}x/acme/web`,
        [`//${host}/acme/web`]: `//${hostname}/acme/web`,
        [`http://${hostname}:1${below}/acme/web`]: `http://${hostname}${below}/acme/web`,
        [`http://git.example.com${below}/acme/web`]: `http://git.example.com${below}/acme/web`,
        [`git@${hostname}:${nested}.git`]: kind === 'gitlab' ? nested : `${hostname}:${nested}.git`,
      }
      await service.database.write.statement(
        `update members set joined_at = now() - interval '3 days' where workspace_id = $1::uuid`,
        [id],
      )
      const yesterday = Date.parse(`${today}T00:00:00Z`) / 1_000 - 86_400
      const beats = [...counting, ...Object.keys(waiting)].map((project, index) => ({
        project,
        time: yesterday + (index + 1) * 3_600,
        category: 'coding',
      }))
      t.equal((await bob.post(BULK, beats)).status, 202)
      const { activity } = (await bob.get('/api/me/export')).body
      t.strictSame(
        activity.map(({ repo }: { repo: string }) => repo).sort(),
        [...'abcdefgh'].map((name) => `acme/${name}`),
      )
      const { projects } = (await bob.get('/api/me/editor-projects')).body
      t.strictSame(
        projects.map(({ name, state }: Record<string, string>) => `${name} ${state}`).sort(),
        Object.values(waiting)
          .map((name) => `${name} waiting`)
          .sort(),
      )
    })

    await t.test('a delivery counts by private addresses, which have no path', async (t) => {
      const address =
        kind === 'gitlab' ? `${bob.repohostId}-bob@users.noreply.${hostname}` : `bob@noreply.${hostname}`
      const { event, payload } = deliveryShapes[kind].push('acme/web', [])
      const author = { name: 'Bob', email: address, username: '' }
      const commits = [{ ...commitOf('', today), author }]
      t.equal((await webhook.send({ event, payload: { ...payload, user_email: '', commits } })).status, 200)
      t.strictSame(await webhook.counts(), { [`bob ${today} acme/web`]: { commits: 1, closed_issues: 0 } })
    })

    await t.test('an address of another host is assigned in full', async (t) => {
      const name = `git@git-work:${below.slice(1)}/web.git`
      const reply = await bob.put('/api/me/editor-projects', { name, repo: 'acme/web' })
      t.equal(reply.status, 200, reply.text)
    })
  })
}
