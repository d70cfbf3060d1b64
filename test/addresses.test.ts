/** Commits whose author a payload names only by an e-mail address. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { deliveryShapes, signedDelivery } from '../demo/host-deliveries.js'
import type { RepohostKind } from '../schemas/common.js'
import { projectRoot } from '../src/platform/process/root.js'
import { addDays } from '../src/platform/time/days.js'
import { type Caller, type Service, startService } from './service.js'
import { commitOf, startWebhook, type Webhook } from './webhooks.js'

const REPO = 'acme/api-gateway'
const NO_REASON = { not_a_member: 0, unknown_author: 0, outside_patterns: 0, not_delivered: 0 }
const CONFIRMED = '2021-03-26T19:07:56.248Z'

/** Pushes a commit of each address. @returns what the delivery list says */
const pushOf = async (webhook: Webhook, today: string, addresses: (string | null)[], more: object = {}) => {
  const commits = addresses.map((email) => {
    const { id } = commitOf('', today)
    const author = { name: 'Someone', email, ...(webhook.kind === 'forgejo' && { username: '' }) }
    return { id, timestamp: `${today}T09:30:00+00:00`, message: 'Change something', author }
  })
  const { event, payload } = deliveryShapes[webhook.kind].push(REPO, [])
  const reply = await webhook.send({ event, payload: { ...payload, user_email: '', commits, ...more } })
  if (reply.status !== 200) throw new Error(reply.text)
  const { counted, skipped, skipped_because } = (await webhook.deliveries())[0]
  return { counted, skipped, skipped_because }
}

const result = (counted: number, because: object = {}) => ({
  counted,
  skipped: Object.values(because).reduce((sum: number, count: number) => sum + count, 0),
  skipped_because: { ...NO_REASON, ...because },
})

const signInAgain = (service: Service, { repohostToken }: Caller) =>
  service.request('POST', '/api/auth/verify', { body: { repohost_token: repohostToken } })

const hmacsOf = async ({ database }: Service) =>
  database.hot.statement<{ login: string; day: string }>(
    'select u.login, a.confirmed_day::text as day from addresses a join users u on u.id = a.user_id order by 1, 2',
    [],
  )

t.test('the guide states which addresses count on each kind of host', async (t) => {
  const guide = await readFile(join(projectRoot, 'docs/guides/08-webhooks.md'), 'utf8')
  const [, table = ''] = guide.split(/\n(?=\| In the payload )/)
  const [head = [], , ...rows] = table
    .slice(0, table.indexOf('\n\n'))
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
  t.same(head, ['In the payload', 'GitHub', 'GitLab', 'Forgejo, Gitea'])
  const kinds: RepohostKind[] = ['github', 'gitlab', 'forgejo']
  const seen = await Promise.all(
    kinds.map(async (kind) => {
      const { service, webhook, today, bob } = await startWebhook(t, kind)
      const known = { email: 'bob@confirmed.example', confirmed_at: CONFIRMED }
      service.repohost.addresses.set(bob.repohostId, [known])
      await signInAgain(service, bob)
      const id = bob.repohostId
      const noreply = 'users.noreply.127.0.0.1'
      const privateOf = (of: number) => ({ email: `${of}${kind === 'gitlab' ? '-' : '+'}bob@${noreply}` })
      const at = `${today}T09:30:00Z`
      const commit = (author: object, timestamp = at) => ({ ...commitOf('', today), author, timestamp })
      const push = (commits: object[], more: object = {}, repo = REPO, branch = 'main') => {
        const { event, payload } = deliveryShapes[kind].push(repo, [], branch)
        return webhook.send({ event, payload: { ...payload, user_email: '', commits, ...more } })
      }
      const counting = {
        github: commit({ username: 'bob' }),
        gitlab: commit(privateOf(id)),
        forgejo: commit({ username: 'bob' }),
      }[kind]
      const issue = (login: string) => webhook.issue(REPO, { number: 1, closed: true, at, login })
      const total = { size: 1, total_commits: 1, total_commits_count: 1 }
      const cases: Record<string, () => Promise<{ status: number }>> = {
        "A member's login as the author": () => push([commit({ username: 'bob' })]),
        "The pusher's public address": () =>
          push([commit({ email: 'bob@public.example' })], {
            user_email: 'bob@public.example',
            user_username: 'bob',
            pusher: { name: 'bob', email: 'bob@public.example' },
          }),
        "A private address with a member's id": () => push([commit(privateOf(id))]),
        "A private address with a member's login": () => push([commit({ email: 'bob@noreply.127.0.0.1' })]),
        "An address that the host confirmed at the member's sign-in": () =>
          push([commit({ email: known.email })]),
        'Any other address, or none': () => push([commit({ email: 'bob@other.example' })]),
        "A login or an id that isn't a member's": () =>
          push([commit(kind === 'gitlab' ? privateOf(99) : { username: 'stranger' })]),
        'A repository outside the patterns': () => push([counting], {}, 'other/repo'),
        'More commits in the push than in the delivery': () => push([], total),
        'A commit on another branch': () => push([{ ...counting, id: 'branch' }], {}, REPO, 'topic'),
        'A commit that was reported before': async () => {
          await push([counting])
          return push([counting])
        },
        'A commit that is too old': () =>
          push([{ ...counting, id: 'old', timestamp: `${addDays(today, -410)}T09:30:00Z` }]),
        'An issue that a member closed': () => issue('bob'),
        'An issue that someone else closed': () => issue('stranger'),
      }
      t.same(
        rows.map(([name]) => name),
        Object.keys(cases),
      )
      const found: string[] = []
      for (const send of Object.values(cases)) {
        t.equal((await send()).status, 200)
        const [{ counted, skipped_because }] = await webhook.deliveries()
        const reasons = Object.entries(skipped_because).flatMap(([name, count]) =>
          count ? [`\`${name}\``] : [],
        )
        found.push([...(counted ? ['counts'] : []), ...reasons].join() || 'nothing')
      }
      return found
    }),
  )
  t.same(
    rows.map((cells) => cells.slice(1)),
    rows.map((_, row) => seen.map((found) => found[row])),
  )
})

t.test('private addresses are recognized by the id in them, or by the login', async (t) => {
  const kinds: Record<RepohostKind, (id: number, login: string) => string[]> = {
    github: (id, login) => [
      `${id}+${login}@users.noreply.127.0.0.1`,
      `${id}+FORMER-NAME@Users.NoReply.127.0.0.1`,
    ],
    gitlab: (id, login) => [
      `${id}-${login}@users.noreply.127.0.0.1`,
      `${id}-former-name@Users.NoReply.127.0.0.1`,
    ],
    forgejo: (_, login) => [`${login}@noreply.127.0.0.1`, `${login.toUpperCase()}@NoReply.127.0.0.1`],
  }
  for (const [kind, addressesOf] of Object.entries(kinds))
    await t.test(kind, async (t) => {
      const { service, webhook, today, bob } = await startWebhook(t, kind as RepohostKind)
      const own = addressesOf(bob.repohostId, 'bob')
      t.same(await pushOf(webhook, today, own), result(own.length))
      t.same(await webhook.counts(), {
        [`bob ${today} ${REPO}`]: { commits: own.length, closed_issues: 0 },
      })
      const stranger = await service.signIn('carol')
      const others = [...addressesOf(stranger.repohostId, 'carol'), ...addressesOf(987_654_321, 'nobody')]
      t.same(
        await pushOf(webhook, today, others),
        result(0, { not_a_member: others.length }),
        'with an account or without',
      )
      const id = bob.repohostId
      const unlike = [
        `${id}+bob@users.noreply.example.com`,
        `${id}-bob@users.noreply.gitlab.com`,
        `${id}+bob@users.noreply.github.com`,
        `${id}@users.noreply.127.0.0.1`,
        `+bob@users.noreply.127.0.0.1`,
        `0${id}+bob@users.noreply.127.0.0.1`,
        `0${id}-bob@users.noreply.127.0.0.1`,
        `${id}+@users.noreply.127.0.0.1`,
        `${id}-@users.noreply.127.0.0.1`,
        `99999999999999999999+bob@users.noreply.127.0.0.1`,
        `99999999999999999999-bob@users.noreply.127.0.0.1`,
        `${id}-bob@x@users.noreply.127.0.0.1`,
        `bob@x@noreply.127.0.0.1`,
        '@noreply.127.0.0.1',
        'bob@noreply.example.com',
        'bob@example.com',
        'bob',
        '',
        null,
      ]
      t.same(await pushOf(webhook, today, unlike), result(0, { unknown_author: unlike.length }))
    })
})

t.test('github.com’s private addresses count when github.com is the host', async (t) => {
  const { service, webhook, today, bob } = await startWebhook(t, 'github')
  const beside = await startService(t, { beside: service, env: { REPOHOST_URL: 'https://github.com' } })
  const { event, payload } = deliveryShapes.github.push(REPO, [])
  const countedFor = async (email: string) => {
    const commits = [{ ...commitOf('', today), author: { email } }]
    const delivery = signedDelivery('github', { event, payload: { ...payload, commits } }, webhook.secret)
    t.equal((await beside.request('POST', webhook.path, delivery)).status, 200)
    return (await webhook.deliveries())[0].counted
  }
  t.equal(await countedFor(`${bob.repohostId}+bob@users.noreply.github.com`), 1)
  t.equal(await countedFor(`${bob.repohostId}+Bob@Users.NoReply.GitHub.com`), 1)
  t.equal(await countedFor(`${bob.repohostId}+bob@users.noreply.127.0.0.1`), 0)
})

t.test('on GitLab, confirmed addresses count', async (t) => {
  const { service, webhook, today, bob } = await startWebhook(t, 'gitlab')
  const { addresses } = service.repohost
  t.same(await pushOf(webhook, today, ['bob@work.example']), result(0, { unknown_author: 1 }))
  addresses.set(bob.repohostId, [
    { email: 'Bob@Work.example', confirmed_at: CONFIRMED },
    { email: 'bob@home.example', confirmed_at: '2022-01-01T00:30:00.000+02:00' },
    { email: 'bob@new.example', confirmed_at: null },
    { email: 'bob@odd.example', confirmed_at: 'yes' },
  ])
  t.equal((await signInAgain(service, bob)).status, 200)
  t.same(
    await pushOf(webhook, today, [
      'Bob@Work.example',
      'bob@work.example',
      'BOB@WORK.EXAMPLE',
      'BOB@home.example',
      'bob@new.example',
      'bob@odd.example',
    ]),
    result(4, { unknown_author: 2 }),
  )
  t.same(await webhook.counts(), { [`bob ${today} ${REPO}`]: { commits: 4, closed_issues: 0 } })
  const exported = (await bob.get('/api/me/export')).body
  t.same(
    exported.addresses_recognized.map(({ confirmed_day }: { confirmed_day: string }) => confirmed_day).sort(),
    ['2021-03-26', '2021-12-31'],
  )

  const carol = await service.signIn('carol')
  addresses.set(carol.repohostId, [{ email: 'carol@work.example', confirmed_at: CONFIRMED }])
  await signInAgain(service, carol)
  t.same(
    await pushOf(webhook, today, ['carol@work.example', 'nobody@work.example']),
    result(0, { unknown_author: 2 }),
    'an admin does not learn whose address has an account',
  )
})

t.test('the host’s latest report decides who owns an address', async (t) => {
  const { service, webhook, today, ada, bob } = await startWebhook(t, 'gitlab')
  const { addresses } = service.repohost
  const shared = { email: 'shared@work.example', confirmed_at: CONFIRMED }
  const own = { email: 'bob@work.example', confirmed_at: CONFIRMED }
  const state = async (caller: Caller, ...stated: { email: string; confirmed_at: string | null }[]) => {
    addresses.set(caller.repohostId, stated)
    t.equal((await signInAgain(service, caller)).status, 200)
  }
  const countedFor = async (address: string) => {
    await service.database.write.statement('delete from daily_activity', [])
    await pushOf(webhook, today, [address])
    return Object.keys(await webhook.counts()).map((key) => key.split(' ')[0])
  }
  await state(bob, own, shared)
  t.same(await countedFor(shared.email), ['bob'])
  await state(ada, { ...shared, confirmed_at: null })
  t.same(await countedFor(shared.email), ['bob'], 'an unconfirmed address takes it from no one')
  await state(ada, shared)
  t.same(await countedFor(shared.email), ['ada'])
  await state(bob, own, { ...shared, confirmed_at: null })
  t.same(await countedFor(shared.email), ['ada'])
  service.repohost.addressesFault = 403
  await state(bob, own)
  await state(ada, own)
  t.same(await countedFor(shared.email), ['ada'], 'a hidden list confirms nothing')
  t.same(await countedFor(own.email), ['ada'], 'but the profile does')
  service.repohost.addressesFault = undefined
  await state(ada)
  t.same(await countedFor(shared.email), [])
  t.same(await hmacsOf(service), [])
})

t.test('sign-in succeeds whatever the host reports about addresses', async (t) => {
  const { service, bob } = await startWebhook(t, 'gitlab')
  const { addresses } = service.repohost
  addresses.set(bob.repohostId, [
    { email: 'bob@work.example', confirmed_at: CONFIRMED },
    { email: 'bob@home.example', confirmed_at: CONFIRMED },
  ])
  await signInAgain(service, bob)
  const known = [
    { login: 'bob', day: '2021-03-26' },
    { login: 'bob', day: '2021-03-26' },
  ]
  for (const fault of [401, 403, 404, 429, 500, 503]) {
    service.repohost.addressesFault = fault
    t.equal((await signInAgain(service, bob)).status, 200, `${fault}`)
    t.same(await hmacsOf(service), known, `${fault}`)
  }
  service.repohost.addressesFault = undefined
  const odd = [
    { email: 7, confirmed_at: CONFIRMED },
    { email: 'no address', confirmed_at: CONFIRMED },
    { email: 'a@b.example', confirmed_at: '9'.repeat(400) },
    { email: 'a@c.example', confirmed_at: '+020000-01-01T00:00:00Z' },
    { email: `${'a'.repeat(100_000)}@d.example`, confirmed_at: CONFIRMED },
    { email: 'nul\0@e.example', confirmed_at: CONFIRMED },
  ]
  addresses.set(bob.repohostId, odd as { email: string; confirmed_at: string }[])
  t.equal((await signInAgain(service, bob)).status, 200)
})

t.test('addresses stay recognized as long as the secret they were stored with is configured', async (t) => {
  const { service, webhook, today, bob } = await startWebhook(t, 'gitlab')
  service.repohost.addresses.set(bob.repohostId, [{ email: 'bob@work.example', confirmed_at: CONFIRMED }])
  await signInAgain(service, bob)
  const { body: workspace } = await webhook.admin.get('/api/team/me')
  t.ok(workspace.workspaces.length > 0)
  const before = service.config.jwtSecrets[0] ?? ''
  const newSecret = 'another-session-secret-of-more-than-32-bytes'
  const counts = async (secrets: string) => {
    const beside = await startService(t, { beside: service, env: { JWT_SECRETS: secrets } })
    const { id } = commitOf('', today)
    const { event, payload } = deliveryShapes.gitlab.push(REPO, [])
    const commits = [{ id, timestamp: `${today}T09:30:00Z`, author: { email: 'bob@work.example' } }]
    await beside.request('POST', webhook.path, {
      body: JSON.stringify({ ...payload, commits }),
      headers: {
        'Content-Type': 'application/json',
        ...deliveryShapes.gitlab.headers(event, '', webhook.secret, id),
      },
    })
    return (await webhook.deliveries())[0].counted
  }
  t.equal(await counts(`${newSecret},${before}`), 1)
  t.equal(await counts(newSecret), 0)
})

t.test('no address is stored, logged or shown, and none is left of a deleted account', async (t) => {
  const { service, webhook, today, bob } = await startWebhook(t, 'gitlab')
  const marks = ['bob.secret@work.example', 'commit.secret@home.example', 'pusher.secret@public.example']
  const [own = '', other = '', pusher = ''] = marks
  service.repohost.addresses.set(bob.repohostId, [
    { email: own, confirmed_at: CONFIRMED },
    { email: other, confirmed_at: CONFIRMED },
  ])
  const signedIn = await signInAgain(service, bob)
  t.same(
    await pushOf(webhook, today, [own, other, pusher, 'someone.secret@else.example'], {
      user_email: pusher,
      user_username: 'bob',
    }),
    result(3, { unknown_author: 1 }),
  )
  const tables = await service.database.hot.statement<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'`,
    [],
  )
  t.ok(tables.some(({ name }) => name === 'addresses'))
  const shown = [
    signedIn.text,
    (await bob.get('/api/me/export')).text,
    JSON.stringify(await webhook.deliveries()),
    ...service.logs,
  ]
  for (const { name } of tables) {
    const rows = await service.database.hot.statement<{ row: string }>(
      `select t::text as row from "${name}" t`,
      [],
    )
    shown.push(...rows.map(({ row }) => row))
  }
  t.ok(shown.length > 20)
  for (const text of shown) t.notMatch(text, /\.secret|@(work|home|public|else)\.example/)
  t.equal((await hmacsOf(service)).length, 2)
  const line = service.logs.map((text) => JSON.parse(text)).find(({ delivery }) => delivery)
  t.same(
    { level: line?.level, delivery: line?.delivery },
    {
      level: 20,
      delivery: {
        counted: 3,
        notAMember: 0,
        unknownAuthor: 1,
        outsidePatterns: 0,
        notDelivered: 0,
        countedBefore: 0,
        uploadDecides: 0,
        outOfRange: 0,
        unreadable: 0,
      },
    },
  )
  t.equal((await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })).status, 200)
  await service.app.jobs.erasures.run()
  t.same(await hmacsOf(service), [])
})
