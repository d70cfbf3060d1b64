/** Counts that fill themselves: what the repository host reports to a workspace. */
import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import t from 'tap'
import { deliveryShapes, signedDelivery } from '../demo/host-deliveries.js'
import { repohostKinds } from '../schemas/common.js'
import { addDays } from '../src/platform/time/days.js'
import { type Service, startService, startTeam, WEBHOOK_KEY } from './service.js'
import { until } from './until.js'
import { addWebhook, commitOf, createWebhook, startWebhook, Webhook, webhookOf } from './webhooks.js'

const REPO = 'acme/api-gateway'
const NO_REASON = { not_a_member: 0, unknown_author: 0, outside_patterns: 0, not_delivered: 0 }

t.test('pushes and closed issues count for members, exactly once', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { service, webhook, today, ada } = await startWebhook(t, kind)
      const yesterday = addDays(today, -1)
      const own = [commitOf('ada', today), commitOf('ada', yesterday, '23:30:00-02:00')]
      t.equal((await webhook.push(REPO, own)).status, 200)
      t.equal((await webhook.push('ACME/API-Gateway', own)).status, 200)
      await webhook.push(REPO, [commitOf('bob', today)], 'topic')
      await webhook.push(REPO, [commitOf('stranger', today)])
      await webhook.push('other/repo', [commitOf('ada', today)])
      await webhook.issue(REPO, { number: 7, closed: true, at: `${today}T10:00:00Z`, login: 'bob' })
      await webhook.issue(REPO, { number: 7, closed: true, at: `${today}T10:00:00Z`, login: 'bob' })
      t.same(await webhook.counts(), {
        [`ada ${yesterday} ${REPO}`]: { commits: 1, closed_issues: 0 },
        [`ada ${today} ${REPO}`]: { commits: 1, closed_issues: 0 },
        [`bob ${today} ${REPO}`]: { commits: 0, closed_issues: 1 },
      })
      const names = {
        push: kind === 'gitlab' ? 'Push Hook' : 'push',
        issues: kind === 'gitlab' ? 'Issue Hook' : 'issues',
      }
      const deliveries = await webhook.deliveries()
      t.same(
        deliveries.map(({ at, ...delivery }: { at: string }) => delivery),
        [
          { event: names.issues, repo: REPO, counted: 0 },
          { event: names.issues, repo: REPO, counted: 1 },
          {
            event: names.push,
            repo: 'other/repo',
            counted: 0,
            because: { outside_patterns: 1 },
            author: null,
          },
          { event: names.push, repo: REPO, counted: 0, because: { not_a_member: 1 }, author: 'stranger' },
          { event: names.push, repo: REPO, counted: 0 },
          { event: names.push, repo: 'ACME/API-Gateway', counted: 0 },
          { event: names.push, repo: REPO, counted: 2 },
        ].map(({ because, author, ...delivery }) => ({
          ...delivery,
          status: 200,
          skipped: because ? 1 : 0,
          skipped_because: { ...NO_REASON, ...because },
          skipped_commits: Object.keys(because ?? {}).map((because) => ({
            hash: '0'.repeat(10),
            author,
            because,
          })),
        })),
      )
      const query = `?workspace=${webhook.workspace}&from=${yesterday}&to=${today}`
      const dashboard = await ada.get(`/api/team/dashboard${query}`)
      t.equal(dashboard.status, 200)
      t.equal(dashboard.body.totals.commits, 2)
      t.equal(dashboard.body.totals.closed_issues, 1)
      await service.app.jobs.rollups.run()
      t.same(
        (await ada.get(`/api/team/dashboard${query}`)).body.totals,
        dashboard.body.totals,
        'even once it is rolled up',
      )
    })
})

t.test('deliveries without a valid signature are rejected', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { service, webhook, today } = await startWebhook(t, kind)
      const event = deliveryShapes[kind].push(REPO, [commitOf('ada', today)])
      const wrong = await webhook.send(event, { secret: 'wrong' })
      t.hasStrict(wrong, { status: 400, body: { code: 'signature_invalid' } })
      const { body } = signedDelivery(kind, event, webhook.secret)
      const unsigned = { body, headers: { 'Content-Type': 'application/json' } }
      t.hasStrict(await service.request('POST', webhook.path, unsigned), {
        status: 400,
        body: { code: 'signature_invalid' },
      })
      const { headers } = signedDelivery(kind, event, webhook.secret)
      t.hasStrict(
        await service.request('POST', webhook.path, { headers }),
        { status: 400, body: { code: 'signature_invalid' } },
        'nor without a body',
      )
      for (const other of repohostKinds) {
        const foreign = signedDelivery(other, event, webhook.secret)
        const accepted =
          other === kind ||
          (kind === 'github' && other === 'forgejo') ||
          (kind === 'forgejo' && other === 'github')
        t.equal(
          (await service.request('POST', webhook.path, foreign)).status,
          accepted ? 200 : 400,
          `headers of ${other}`,
        )
      }
      const unknown = webhook.path.replace(/[^/]*$/, randomUUID())
      t.hasStrict(await service.request('POST', unknown, signedDelivery(kind, event, webhook.secret)), {
        status: 404,
        body: { code: 'webhook_not_found' },
      })
      t.same(Object.values(await webhook.counts()), [{ commits: 1, closed_issues: 0 }])
    })
})

const postForm = (service: Service, webhook: Webhook, body: string) =>
  service.request('POST', webhook.path, {
    body,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      ...deliveryShapes.github.headers('push', body, webhook.secret, 'x'),
    },
  })

const formOf = (payload: object) => new URLSearchParams({ payload: JSON.stringify(payload) }).toString()

t.test('a form with the payload counts too, small or large', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const { payload } = deliveryShapes.github.push(REPO, [commitOf('ada', today)])
  t.equal((await postForm(service, webhook, formOf({ ...payload, note: 'ä & ü' }))).status, 200)
  const large = deliveryShapes.github.push(REPO, [commitOf('ada', today)]).payload
  t.equal((await postForm(service, webhook, formOf({ ...large, note: 'ü'.repeat(200_000) }))).status, 200)
  t.same(await webhook.counts(), { [`ada ${today} ${REPO}`]: { commits: 2, closed_issues: 0 } })
})

t.test('a form counts whether its host signs the form or the JSON in it', async (t) => {
  const { service, webhook, today } = await startWebhook(t, 'forgejo')
  const send = async (payload: object, signed: 'form' | 'payload', change = (form: string) => form) => {
    const form = formOf(payload)
    const covered = signed === 'form' ? form : JSON.stringify(payload)
    const { status } = await service.request('POST', webhook.path, {
      body: change(form),
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...deliveryShapes.forgejo.headers('push', covered, webhook.secret, 'x'),
      },
    })
    return status
  }
  const push = (note = 'ä+b & 100 %') => ({
    ...deliveryShapes.forgejo.push(REPO, [commitOf('ada', today)]).payload,
    note,
  })
  t.equal(await send(push(), 'payload'), 200)
  t.equal(await send(push(), 'form'), 200)
  t.equal(await send(push('ü%'.repeat(200_000)), 'payload'), 200, 'in many pieces')
  t.equal(await send(push(), 'payload', (form) => `a=1&${form}&payload=x`), 200, 'as it is read')
  t.equal(await send(push(), 'payload', (form) => `payload=x&${form}`), 400)
  t.equal(await send(push(), 'payload', (form) => `${form}%20`), 400)
  t.equal(await send(push(), 'payload', (form) => form.replace('ada', 'bob')), 400)
  t.same(await webhook.counts(), { [`ada ${today} ${REPO}`]: { commits: 4, closed_issues: 0 } })

  const github = await startWebhook(t, 'github')
  const json = JSON.stringify(push())
  const { status } = await github.service.request('POST', github.webhook.path, {
    body: formOf(JSON.parse(json)),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      ...deliveryShapes.github.headers('push', json, github.webhook.secret, 'x'),
    },
  })
  t.equal(status, 400, 'GitHub signs the form')
})

t.test('events of kinds that never count are neither listed nor limited', async (t) => {
  const quiet = {
    github: [
      'ping',
      'workflow_run',
      'check_suite',
      'issue_comment',
      'pull_request',
      'create',
      'no_such_event',
    ],
    gitlab: ['Pipeline Hook', 'Job Hook', 'Note Hook', 'Merge Request Hook', 'Tag Push Hook', 'System Hook'],
    forgejo: ['ping', 'pull_request', 'issue_comment', 'workflow_run', 'create'],
  }
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const env = {
        RATE_LIMITS: 'on',
        LIMITS: 'delivered_rows_per_workspace=3,rate_deliveries_per_workspace=3',
      }
      const { webhook, today } = await addWebhook(await startService(t, { env, kind }))
      const { event, payload } = deliveryShapes[kind].push(REPO, [commitOf('ada', today)])
      t.equal((await webhook.send({ event, payload })).status, 200)
      for (const quietEvent of quiet[kind])
        for (let n = 0; n < 8; n++)
          t.equal(
            (await webhook.send({ event: quietEvent, payload: { action: 'completed', n } })).status,
            200,
          )
      for (const quietEvent of kind === 'github' ? ['repository', 'organization'] : [])
        for (let n = 0; n < 8; n++)
          t.equal((await webhook.send({ event: quietEvent, payload: { action: 'edited', n } })).status, 200)
      for (let n = 0; n < (kind === 'gitlab' ? 8 : 0); n++) {
        const { event, payload } = deliveryShapes.gitlab.issue(REPO, {
          number: n,
          closed: true,
          at: `${today}T08:00:00Z`,
          login: 'ada',
        })
        t.equal(
          (await webhook.send({ event, payload: { ...payload, project: null } })).status,
          200,
          'an epic',
        )
      }
      t.equal((await webhook.push(REPO, [commitOf('ada', today)], 'topic')).status, 200)
      t.same(
        (await webhook.deliveries()).map(({ event, counted }: Record<string, unknown>) => [event, counted]),
        [
          [event, 0],
          [event, 1],
        ],
      )
      const wrong = await webhook.send({ event: quiet[kind][0] as string, payload: {} }, { secret: 'wrong' })
      t.equal(wrong.status, 400, 'the signature counts for every event')
    })
})

t.test('a form is decoded as browsers and hosts encode it, and its first payload counts', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const json = () => JSON.stringify(deliveryShapes.github.push(REPO, [commitOf('ada', today)]).payload)
  const encoded = () => encodeURIComponent(json())
  const readable: Record<string, string> = {
    'after others': `a=1&&b&=&payload=${encoded()}`,
    'the first of two': `payload=${encoded()}&payload=x`,
    'an encoded name': `%70%61%79%6C%6f%61%64=${encoded()}`,
    'blanks as plus': `payload=${encoded().replace(/^%7B/, '%7b++%20')}+`,
    'every byte encoded': `payload=${Buffer.from(json()).toString('hex').replace(/../g, '%$&')}`,
    'nothing encoded': `payload=${json()}`,
    'a percent sign that encodes nothing': `payload=${json().replace('{', '{"note":"%zz%4",')}&%&%f`,
    'an equals sign in the value': `payload=${json().replace('{', '{"note":"a=b",')}`,
  }
  for (const [name, body] of Object.entries(readable)) {
    t.equal(new URLSearchParams(body).get('payload')?.includes(REPO), true, name)
    t.equal((await postForm(service, webhook, body)).status, 200, name)
  }
  const commits = Object.keys(readable).length
  t.same(await webhook.counts(), { [`ada ${today} ${REPO}`]: { commits, closed_issues: 0 } })
  for (const body of [
    'a=1',
    'payload',
    'payload=',
    `payloads=${encoded()}`,
    `payload=x&payload=${encoded()}`,
    '%',
    '=',
  ])
    t.hasStrict(await postForm(service, webhook, body), { status: 400, body: { code: 'invalid_json' } }, body)
})

t.test('the day’s last event decides whether a closed issue counts, and for whom', async (t) => {
  const { webhook, today } = await startWebhook(t)
  const issue = (time: string, login: string, closed = true) =>
    webhook.issue(REPO, { number: 1, closed, at: `${today}T${time}Z`, login })
  const closed = (login: string) => ({ [`${login} ${today} ${REPO}`]: { commits: 0, closed_issues: 1 } })
  await issue('12:00:00', 'ada')
  t.same(await webhook.counts(), closed('ada'))
  await issue('11:00:00', 'bob', false)
  t.same(await webhook.counts(), closed('ada'), 'an earlier event changes nothing')
  await issue('13:00:00', 'bob', false)
  t.same(await webhook.counts(), {})
  await issue('14:00:00', 'bob')
  t.same(await webhook.counts(), closed('bob'))
  await issue('14:00:00', 'ada', false)
  t.same(await webhook.counts(), closed('bob'), 'on equal times it is closed')
  await issue('15:00:00', 'stranger')
  t.same(await webhook.counts(), {}, 'someone who is not a member closed it last')
})

t.test('a commit that is too old or from the future doesn’t count', async (t) => {
  const { webhook, today } = await startWebhook(t)
  await webhook.push(
    REPO,
    [401, 400, 0, -1, -2].map((days) => commitOf('ada', addDays(today, -days))),
  )
  t.same(
    Object.keys(await webhook.counts()),
    [400, 0, -1].map((days) => `ada ${addDays(today, -days)} ${REPO}`),
  )
})

t.test('an uploaded count replaces earlier and later reported ones', async (t) => {
  const { webhook, today, ada, id } = await startWebhook(t)
  const upload = (url: string, count: number, login = 'ada') =>
    ada.post(`/api/team/${url}`, {
      workspace: id,
      day: today,
      members: [{ login, repos: [{ repo: REPO, count }] }],
    })
  const closed = (number: number, login: string) =>
    webhook.issue(REPO, { number, closed: true, at: `${today}T10:00:00Z`, login })
  await webhook.push(REPO, [commitOf('ada', today), commitOf('ada', today)])
  await closed(1, 'bob')
  t.same((await upload('commits', 2)).body, { upserted: 0, unchanged: 1, skipped: [] })
  await webhook.push(REPO, [commitOf('ada', today)])
  t.equal((await webhook.deliveries())[0].counted, 0)
  t.equal((await upload('closed-issues', 5, 'bob')).body.upserted, 1)
  await closed(2, 'bob')
  await webhook.issue(REPO, { number: 1, closed: false, at: `${today}T11:00:00Z`, login: 'bob' })
  const expected = {
    [`ada ${today} ${REPO}`]: { commits: 2, closed_issues: 0 },
    [`bob ${today} ${REPO}`]: { commits: 0, closed_issues: 5 },
  }
  t.same(await webhook.counts(), expected)
  t.same((await upload('commits', 0, 'bob')).body, { upserted: 0, unchanged: 1, skipped: [] })
  await webhook.push(REPO, [commitOf('bob', today)])
  t.same(await webhook.counts(), expected, 'a 0 is a count, too')
  await closed(3, 'ada')
  t.same(
    (await webhook.counts())[`ada ${today} ${REPO}`],
    { commits: 2, closed_issues: 1 },
    'each of the two on its own',
  )
  t.equal((await upload('commits', 0)).body.upserted, 1)
  await webhook.push(REPO, [commitOf('ada', today)])
  t.same((await webhook.counts())[`ada ${today} ${REPO}`], { commits: 0, closed_issues: 1 })
})

t.test('a count uploaded before there was a webhook is kept', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const day = addDays(new Date().toISOString().slice(0, 10), -3)
  const members = [{ login: 'ada', repos: [{ repo: REPO, count: 4 }] }]
  await ada.post('/api/team/commits', { workspace: id, day, members })
  // As an earlier version left it.
  await service.database.write.statement('update daily_activity set commits_uploaded = null', [])
  const webhook = await createWebhook(service, ada, id)
  await webhook.push(REPO, [commitOf('ada', day)])
  t.same(await webhook.counts(), { [`ada ${day} ${REPO}`]: { commits: 4, closed_issues: 0 } })
})

t.test('rotating a secret keeps the URL, and old secrets work for a day', async (t) => {
  const { service, webhook, today, ada, id } = await startWebhook(t)
  const first = webhook.secret
  await webhook.rotate()
  const second = webhook.secret
  await webhook.rotate()
  const { path } = webhook
  t.equal(new Set([first, second, webhook.secret]).size, 3)
  const statusWith = async (secret: string) =>
    (await webhook.send(deliveryShapes.github.push(REPO, [commitOf('ada', today)]), { secret })).status
  t.same(await Promise.all([first, second, webhook.secret].map(statusWith)), [200, 200, 200])
  const age = async (hours: number) => {
    const rows = await service.database.read.statement<{ at: string }>(
      `select (r.at - make_interval(hours => $1::int))::text as at
       from webhooks, unnest(replaced_at) with ordinality as r (at, n) order by r.n`,
      [hours],
    )
    await service.database.write.statement('update webhooks set replaced_at = $1::timestamptz[]', [
      rows.map(({ at }) => at),
    ])
  }
  await age(23)
  t.same(await Promise.all([first, second, webhook.secret].map(statusWith)), [200, 200, 200])
  await age(2)
  t.same(await Promise.all([first, second, webhook.secret].map(statusWith)), [400, 400, 200])
  const { body: read } = await ada.get(webhookOf(id))
  t.equal(new URL(read.url).pathname, path)
  t.same((await ada.get(`${webhookOf(id)}s`)).body, { webhooks: [read] })
  t.same((await ada.delete(webhookOf(id))).body, { ok: true })
  t.hasStrict(await ada.delete(webhookOf(id)), { status: 404, body: { code: 'webhook_not_found' } })
  t.hasStrict(await ada.get(webhookOf(id)), { status: 404, body: { code: 'webhook_not_found' } })
  t.same((await ada.get(`${webhookOf(id)}s`)).body, { webhooks: [] })
  t.equal(await statusWith(webhook.secret), 404)
  const another = await createWebhook(service, ada, id)
  t.not(another.path, path)
  t.same(await another.deliveries(), [], 'deliveries to another webhook aren’t listed')
  const { body } = await ada.get(`/api/team/workspaces/${id}/audit`)
  t.same(
    body.entries
      .map(({ action }: { action: string }) => action)
      .filter((action: string) => action.startsWith('webhook')),
    [
      'webhook.created',
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.secret_rotated',
      'webhook.created',
    ],
  )
})

t.test('a new key gives new secrets, and the old key’s secrets work while it’s configured', async (t) => {
  const { service, webhook, today, ada, id } = await startWebhook(t)
  const newKey = 'another-webhook-key-for-tests-of-more-than-32-bytes'
  const status = async (env: Record<string, string>, secret: string) => {
    const beside = await startService(t, { beside: service, env })
    const event = deliveryShapes.github.push(REPO, [commitOf('ada', today)])
    return (await beside.request('POST', webhook.path, signedDelivery('github', event, secret))).status
  }
  t.equal(await status({ WEBHOOK_KEYS: `${newKey},${WEBHOOK_KEY}` }, webhook.secret), 200)
  t.equal(await status({ WEBHOOK_KEYS: newKey }, webhook.secret), 400)
  const off = await startService(t, { beside: service, env: { WEBHOOK_KEYS: '' } })
  const headers = { Authorization: `Bearer ${ada.token}` }
  const notConfigured = { status: 503, body: { code: 'webhooks_not_configured' } }
  t.hasStrict(await off.request('POST', webhookOf(id), { headers }), notConfigured)
  t.equal((await off.request('GET', webhookOf(id), { headers })).status, 200)
  t.hasStrict(await off.request('POST', webhook.path, { body: {} }), notConfigured)
  t.equal(
    (await webhook.push(REPO, [commitOf('ada', today)])).status,
    200,
    'a rejected rotation changes nothing',
  )
})

t.test('neither the database nor the log contains a secret', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  await webhook.push(REPO, [commitOf('ada', today)])
  const rows = await service.database.hot.statement<{ row: string }>(
    `select w::text as row from webhooks w union all select d::text from deliveries d union all select a::text from audit_entries a`,
    [],
  )
  t.ok(rows.length > 2)
  for (const text of [...rows.map(({ row }) => row), ...service.logs]) t.notOk(text.includes(webhook.secret))
})

t.test('at level “team”, deliveries don’t show who worked when', async (t) => {
  const { webhook, today, ada, id } = await startWebhook(t)
  await webhook.push(REPO, [commitOf('ada', today)])
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'team' })
  const [delivery] = await webhook.deliveries()
  t.same(Object.keys(delivery).sort(), ['at', 'event', 'status'])
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'named' })
  t.same(Object.keys((await webhook.deliveries())[0]).sort(), ['at', 'event', 'status'], 'nor afterwards')
})

t.test('at level “team”, an upload doesn’t reveal what deliveries counted', async (t) => {
  const { webhook, today, ada, id } = await startWebhook(t)
  const upload = async (count: number) => {
    const members = [{ login: 'bob', repos: [{ repo: REPO, count }] }]
    return (await ada.post('/api/team/commits', { workspace: id, day: today, members })).body
  }
  await webhook.push(REPO, [commitOf('bob', today), commitOf('bob', today)])
  const response = { upserted: 1, unchanged: 0, skipped: [] }
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'team' })
  for (const guess of [2, 2, 1, 0, 0]) t.same(await upload(guess), response, `${guess}`)
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'named' })
  t.same(await upload(0), response, 'nor afterwards')
})

t.test('an unreadable signed body is listed with its status', async (t) => {
  const { service, webhook } = await startWebhook(t)
  const send = (body: string) =>
    service.request('POST', webhook.path, {
      body,
      headers: {
        'Content-Type': 'application/json',
        ...deliveryShapes.github.headers('push', body, webhook.secret, 'x'),
      },
    })
  t.hasStrict(await send('{"ref":'), { status: 400, body: { code: 'invalid_json' } })
  t.hasStrict(await send(`{"ref":${' '.repeat(200_000)}`), { status: 400, body: { code: 'invalid_json' } })
  const commits = Array.from({ length: 10_001 }, (_, n) => ({
    id: `${n}`,
    timestamp: '2026-01-01T00:00:00Z',
    author: {},
  }))
  const repository = { full_name: REPO, default_branch: 'main' }
  t.hasStrict(await send(JSON.stringify({ ref: 'refs/heads/main', repository, commits })), {
    status: 413,
    body: { code: 'payload_too_large' },
  })
  t.same(
    (await webhook.deliveries()).map(({ at, ...delivery }: { at: string }) => delivery),
    [413, 400, 400].map((status) => ({
      event: 'push',
      status,
      repo: null,
      counted: 0,
      skipped: 0,
      skipped_because: NO_REASON,
      skipped_commits: [],
    })),
  )
})

t.test('a commit counts on its author’s local date', async (t) => {
  const { webhook, today } = await startWebhook(t)
  const [day, before, after] = [-10, -11, -9].map((days) => addDays(today, days))
  const countedOn = async (timestamp: string) => {
    await webhook.service.database.write.statement('delete from daily_activity', [])
    const { id, login } = commitOf('bob', today)
    await webhook.push(REPO, [{ id, login, timestamp }])
    return Object.keys(await webhook.counts()).map((key) => key.split(' ')[1])
  }
  const setZone = (timezone: string | null) =>
    webhook.service.database.write.statement(`update users set timezone = $1 where login = 'bob'`, [timezone])
  for (const timezone of [null, 'Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata']) {
    await setZone(timezone)
    for (const time of [
      '23:30:00-08:00',
      '00:30:00+14:00',
      '23:59:59+00:00',
      '00:00:00-00:00',
      '12:00:00.5+0530',
    ])
      t.same(await countedOn(`${day}T${time}`), [day], `${time}, ${timezone}`)
  }
  const inZone: [string, string, string][] = [
    ['UTC', '23:59:59Z', day ?? ''],
    ['America/Los_Angeles', '06:30:00Z', before ?? ''],
    ['America/Los_Angeles', '08:00:00Z', day ?? ''],
    ['Asia/Kolkata', '18:29:59Z', day ?? ''],
    ['Asia/Kolkata', '18:30:00Z', after ?? ''],
    ['Pacific/Kiritimati', '10:00:00.000Z', after ?? ''],
    ['No/Such_Zone', '10:00:00Z', day ?? ''],
  ]
  for (const [timezone, time, expected] of inZone) {
    await setZone(timezone)
    t.same(await countedOn(`${day}T${time}`), [expected], `${time}, ${timezone}`)
  }
})

t.test('a closed issue counts on its closer’s local day until it’s reopened', async (t) => {
  const { webhook, today } = await startWebhook(t)
  const [day, before, after] = [-10, -11, -9].map((days) => addDays(today, days)) as [string, string, string]
  const setZone = (timezone: string | null) =>
    webhook.service.database.write.statement(`update users set timezone = $1 where login = 'bob'`, [timezone])
  await webhook.service.database.write.statement(
    `update users set timezone = 'Pacific/Kiritimati' where login = 'ada'`,
    [],
  )
  let number = 0
  const change = (login: string, closed: boolean, at: string) =>
    webhook.issue(REPO, { number, login, closed, at })
  const daysOf = async () =>
    Object.entries(await webhook.counts()).map(([key, { closed_issues }]) => [
      ...key.split(' ').slice(0, 2),
      closed_issues,
    ])
  const cases: [string, string, string, string, string][] = [
    ['America/Los_Angeles', `${day}T02:00:00Z`, before, `${day}T07:30:00Z`, `${day}T20:00:00Z`],
    ['America/Los_Angeles', `${day}T22:00:00Z`, day, `${after}T02:00:00Z`, `${after}T20:00:00Z`],
    ['Australia/Sydney', `${day}T20:00:00Z`, after, `${after}T10:00:00Z`, `${after}T20:00:00Z`],
    ['Asia/Kolkata', `${before}T20:00:00Z`, day, `${day}T18:00:00Z`, `${day}T19:00:00Z`],
    ['No/Such_Zone', `${day}T20:00:00Z`, day, `${day}T21:00:00Z`, `${after}T01:00:00Z`],
  ]
  for (const [zone, closedAt, counted, reopenedThatDay, reopenedLater] of cases) {
    await setZone(zone)
    const on = (...names: string[]) => names.map((name) => ['bob', name, 1])
    number++
    await change('bob', true, closedAt)
    t.same(await daysOf(), on(counted), `${zone}: closed`)
    await change('ada', false, reopenedLater)
    t.same(await daysOf(), on(counted), `${zone}: opened again on another day of the closer`)
    await change('stranger', false, reopenedThatDay)
    t.same(await daysOf(), [], `${zone}: opened again on the same day of the closer`)
    for (const again of [
      () => change('bob', true, closedAt),
      () => change('ada', false, reopenedThatDay),
      () => change('ada', false, reopenedLater),
    ]) {
      await again()
      t.same(await daysOf(), [], `${zone}: delivered again`)
    }
    number++
    await change('ada', false, reopenedThatDay)
    await change('bob', true, closedAt)
    t.same(await daysOf(), [], `${zone}: the closing is delivered last`)
    number++
    await change('bob', true, closedAt)
    await setZone('Pacific/Kiritimati')
    await change('bob', true, closedAt)
    t.same(await daysOf(), on(counted), `${zone}: delivered again from another zone`)
    await setZone(zone)
    await change('ada', false, reopenedThatDay)
    t.same(await daysOf(), [], `${zone}: taken back`)
  }
})

t.test('a delivery reports how many commits the host left out', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { webhook, today } = await startWebhook(t, kind)
      const name = { github: 'size', gitlab: 'total_commits_count', forgejo: 'total_commits' }[kind]
      const notDelivered = async (total: unknown, branch = 'main') => {
        const { event, payload } = deliveryShapes[kind].push(
          REPO,
          [commitOf('ada', today), commitOf('ada', today)],
          branch,
        )
        await webhook.send({ event, payload: { ...payload, [name]: total } })
        const [{ counted, skipped, skipped_because }] = await webhook.deliveries()
        return { counted, skipped, not_delivered: skipped_because.not_delivered }
      }
      t.same(await notDelivered(12), { counted: 2, skipped: 0, not_delivered: 10 })
      for (const total of [2, 1, 0, -1, 2.5, '12', null, undefined, [12]])
        t.same(await notDelivered(total), { counted: 2, skipped: 0, not_delivered: 0 })
      t.same(await notDelivered(1e15), { counted: 2, skipped: 0, not_delivered: 2_147_483_647 })
      t.same(await notDelivered(12, 'topic'), { counted: 0, skipped: 0, not_delivered: 0 })
    })
})

t.test('properties that aren’t read can contain any JSON', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { service, webhook, today } = await startWebhook(t, kind)
      const send = async (more: string) => {
        const { event, payload } = deliveryShapes[kind].push(REPO, [commitOf('ada', today)])
        const body = JSON.stringify(payload).replace('"Change something"', more)
        const headers = deliveryShapes[kind].headers(event, body, webhook.secret, randomUUID())
        return (
          await service.request('POST', webhook.path, {
            body,
            headers: { 'Content-Type': 'application/json', ...headers },
          })
        ).status
      }
      const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
      const accepted = [
        '"\\u0000"',
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '"a quote \\" and a backslash \\\\"',
        '12345678901234567890',
        '-0.12345678901234567890e999',
        '{"__proto__":{"commits":[]},"constructor":{"prototype":{"id":"x"}}}',
        // The payload, its commits and the commit are three levels.
        deep(997),
        `"${'x'.repeat(200_000)}\\u0000"`,
      ]
      for (const text of accepted) t.equal(await send(text), 200, text.slice(0, 70))
      for (const text of [deep(998), '"\\x"', '01', '"\u0000"', '[}'])
        t.equal(await send(text), 400, text.slice(0, 70))
      t.same(await webhook.counts(), {
        [`ada ${today} ${REPO}`]: { commits: accepted.length, closed_issues: 0 },
      })
    })
})

t.test('properties that are read are validated', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const send = (payload: object, event = 'push') => webhook.send({ event, payload })
  const at = `${today}T09:30:00Z`
  const push = (full_name: unknown, ...commits: object[]) =>
    send({ ref: 'refs/heads/main', repository: { full_name, default_branch: 'main' }, commits })
  const author = { username: 'ada' }
  const issues = (number: unknown, login: unknown) =>
    send(
      {
        action: 'closed',
        issue: { number, closed_at: at },
        repository: { full_name: REPO },
        sender: { login },
      },
      'issues',
    )
  const replies = await Promise.all([
    push(`${REPO}\0`, { id: 'a', timestamp: at, author }),
    push(`${REPO}\ud800`, { id: 'b', timestamp: at, author }),
    push(
      REPO,
      { id: 'c', timestamp: at, author: { username: 'ada\0' } },
      { id: 'd', timestamp: at, author: { username: 'ada\ud800' } },
      { id: 'e\0', timestamp: at, author },
      { id: 'f', timestamp: `${at}\0`, author },
      { id: 'g', timestamp: `${today.slice(0, 4)}-02-31T09:30:00+01:00`, author },
      { id: 'h'.repeat(65), timestamp: at, author },
      { id: 'i', timestamp: at, author: { username: 'a'.repeat(10_000) } },
    ),
    issues(1e20, 'ada'),
    issues(1, 'ada\0'),
  ])
  t.same(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  t.same(await webhook.counts(), {})
  const names = (await webhook.deliveries()).map(({ repo }: { repo: string | null }) => repo)
  t.same(names.filter((name: string | null) => name !== REPO).length, 2)
  t.equal((await service.request('GET', '/api/health')).status, 200)
})

t.test('the same commits in two concurrent deliveries count once', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const beside = await startService(t, { beside: service })
  for (let round = 0; round < 2; round++) {
    const commits = Array.from({ length: 40 }, (_, n) =>
      commitOf(n % 2 ? 'ada' : 'bob', addDays(today, -(n % 7))),
    )
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, n) => {
        const order = n % 2 ? commits : commits.toReversed()
        const delivery = signedDelivery('github', deliveryShapes.github.push(REPO, order), webhook.secret)
        return (n % 3 ? service : beside).request('POST', webhook.path, delivery)
      }),
    )
    t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
    const total = Object.values(await webhook.counts()).reduce((sum, { commits }) => sum + commits, 0)
    t.equal(total, 40 * (round + 1))
  }
})

t.test('an upload concurrent with deliveries wins', async (t) => {
  const { webhook, today, ada, id } = await startWebhook(t)
  for (let round = 0; round < 3; round++) {
    const day = addDays(today, -round)
    const members = ['ada', 'bob'].map((login) => ({ login, repos: [{ repo: REPO, count: 3 }] }))
    const deliver = () => webhook.push(REPO, [commitOf('bob', day), commitOf('ada', day)])
    const replies = await Promise.all([
      deliver(),
      ada.post('/api/team/commits', { workspace: id, day, members }),
      deliver(),
      deliver(),
    ])
    t.same(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const counts = await webhook.counts()
    for (const login of ['ada', 'bob'])
      t.same(counts[`${login} ${day} ${REPO}`], { commits: 3, closed_issues: 0 }, `round ${round}`)
  }
})

t.test('with concurrent deliveries and rotations, a secret works once it’s shown', async (t) => {
  const { webhook, today, ada, id } = await startWebhook(t)
  const statuses: number[] = []
  let rotating = true
  const deliver = async () => {
    while (rotating) statuses.push((await webhook.push(REPO, [commitOf('ada', today)])).status)
  }
  const delivering = deliver()
  for (let n = 0; n < 3; n++) webhook.secret = (await ada.post(webhookOf(id))).body.secret
  rotating = false
  await delivering
  t.same(new Set(statuses), new Set([200]))
})

t.test('nothing is left of a workspace that is deleted while deliveries arrive', async (t) => {
  const { service, webhook, today, ada, id } = await startWebhook(t)
  let isOver = false
  const statuses = new Set<number>()
  const deliver = async () => {
    while (!isOver) statuses.add((await webhook.push(REPO, [commitOf('ada', today)])).status)
  }
  const delivering = [deliver(), deliver()]
  await until(() => statuses.has(200), 'a delivery has counted')
  t.equal((await ada.delete(`/api/team/workspaces/${id}`)).status, 200)
  await until(() => statuses.has(404), 'the webhook is gone')
  isOver = true
  await Promise.all(delivering)
  t.same([...statuses].sort(), [200, 404])
  await service.app.housekeeping.run()
  for (const table of ['webhooks', 'deliveries', 'reported_commits', 'reported_issues', 'activity']) {
    const [row] = await service.database.hot.statement<{ total: number }>(
      `select count(*)::int as total from ${table} where workspace_id = $1::uuid`,
      [id],
    )
    t.equal(row?.total, 0, table)
  }
})

t.test('an issue that a deleted account closed counts once when it’s closed again', async (t) => {
  const { service, webhook, ada, bob, id, today } = await startWebhook(t)
  const issue = (number: number, closed: boolean, hour: number, login: string) =>
    webhook.issue(REPO, { number, closed, at: `${today}T${hour}:00:00Z`, login })
  const other = 'acme/other'
  await webhook.push(REPO, [commitOf('bob', today)])
  await issue(3, true, 10, 'bob')
  await issue(4, true, 10, 'bob')
  await webhook.issue(other, { number: 5, closed: true, at: `${today}T10:00:00Z`, login: 'bob' })
  const uploaded = await ada.post('/api/team/closed-issues', {
    workspace: id,
    day: today,
    members: [{ login: 'bob', repos: [{ repo: other, count: 7 }] }],
  })
  t.equal(uploaded.status, 200)
  t.equal((await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })).status, 200)
  await service.app.jobs.erasures.run()

  await issue(3, false, 11, 'ada')
  await issue(3, true, 12, 'ada')
  await webhook.issue(other, { number: 5, closed: true, at: `${today}T12:00:00Z`, login: 'ada' })
  t.same(await webhook.counts(), {
    [`ada ${today} ${other}`]: { commits: 0, closed_issues: 1 },
    [`ada ${today} ${REPO}`]: { commits: 0, closed_issues: 1 },
    [`deleted user ${today} ${other}`]: { commits: 0, closed_issues: 7 },
    [`deleted user ${today} ${REPO}`]: { commits: 1, closed_issues: 1 },
  })
  await issue(4, false, 11, 'ada')
  t.same((await webhook.counts())[`deleted user ${today} ${REPO}`], { commits: 1, closed_issues: 0 })
})

t.test('a deleted account’s login is in no skipped commit', async (t) => {
  const { service, webhook, bob, ada, id, today } = await startWebhook(t)
  t.equal((await ada.delete(`/api/team/workspaces/${id}/members?login=bob`)).status, 200)
  await webhook.push(REPO, [commitOf('Bob', today)])
  const skippedOf = async () => (await webhook.deliveries())[0].skipped_commits
  t.hasStrict(await skippedOf(), [{ author: 'Bob', because: 'not_a_member' }])
  t.equal((await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })).status, 200)
  await service.app.jobs.erasures.run()
  t.same(await skippedOf(), [])
})

t.test('a delivery lists its first 100 skipped commits', async (t) => {
  const { webhook, today } = await startWebhook(t)
  await webhook.push(
    REPO,
    Array.from({ length: 101 }, () => commitOf('stranger\0\ud800', today)),
  )
  const [{ skipped, skipped_commits }] = await webhook.deliveries()
  t.equal(skipped, 101)
  t.equal(skipped_commits.length, 100)
  t.equal(skipped_commits[0].author, 'stranger\ufffd')
})

/** Begins a delivery and keeps the rest of it back. */
const beginDelivery = (url: string, path: string, secret: string) => {
  const { hostname, port } = new URL(url)
  const sending = request({
    hostname,
    port,
    path,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': 1_000_000,
      'X-GitHub-Event': 'push',
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update('?').digest('hex')}`,
    },
  })
  sending.on('error', () => {})
  sending.write(' '.repeat(200_000))
  return sending
}

t.test('slow senders who know a webhook’s URL don’t delay anyone else', async (t) => {
  const { service, webhook, today, ada } = await startWebhook(t)
  const { id } = await service.workspace(ada, { name: 'Other', patterns: ['other/*'] })
  const other = await createWebhook(service, ada, id)
  const slow = Array.from({ length: 12 }, () => beginDelivery(service.url, webhook.path, 'wrong'))
  const large = deliveryShapes.github.push('other/repo', [commitOf('ada', today)])
  const reply = await other.send({ ...large, payload: { ...large.payload, note: 'x'.repeat(300_000) } })
  t.equal(reply.status, 200)
  t.equal((await webhook.push(REPO, [commitOf('ada', today)])).status, 200, 'nor an ordinary delivery there')
  for (const sending of slow) sending.destroy()
})

t.test('deliveries have rate limits per workspace and per webhook creator', async (t) => {
  const env = {
    RATE_LIMITS: 'on',
    LIMITS:
      'delivered_rows_per_workspace=30,delivered_rows_per_person=40,rate_deliveries_per_workspace=8,rate_deliveries_per_person=12',
  }
  const { service, webhook, today, ada, bob, id } = await addWebhook(await startService(t, { env }))
  /** The webhooks at another instance, which has counted nothing yet. */
  const later = async (...hooks: Webhook[]) => {
    const beside = await startService(t, { env, beside: service })
    return hooks.map(
      ({ kind, admin, workspace, path, secret }) => new Webhook(beside, kind, admin, workspace, path, secret),
    ) as [Webhook, Webhook, Webhook]
  }
  const { id: otherId } = await service.workspace(ada, { name: 'Other' })
  const other = await createWebhook(service, ada, otherId)
  const { id: bobsId } = await service.workspace(bob, { name: 'Of Bob' })
  const bobs = await createWebhook(service, bob, bobsId)
  const commitsOf = (count: number) => Array.from({ length: count }, () => commitOf('ada', today))

  const first = commitsOf(20)
  t.equal((await webhook.push(REPO, first)).status, 200)
  const second = commitsOf(10)
  const tooMany = await webhook.push(REPO, second)
  t.hasStrict(tooMany, { status: 429, body: { code: 'rate_limited' } })
  t.match(tooMany.headers.get('retry-after'), /^[1-9][0-9]*$/)
  t.same(
    await webhook.counts(),
    { [`ada ${today} ${REPO}`]: { commits: 20, closed_issues: 0 } },
    'all or nothing',
  )
  t.equal((await webhook.push(REPO, second.slice(0, 8))).status, 200, 'rejected deliveries use no space')
  t.equal((await other.push(REPO, commitsOf(12))).status, 429, 'two workspaces give a person no more space')
  t.equal((await other.push(REPO, commitsOf(9))).status, 200)
  t.equal((await bobs.push(REPO, [commitOf('bob', today)])).status, 200, 'others are not affected')

  // Once there is space again, a redelivery brings the counts of the model.
  const [webhook2, other2, bobs2] = await later(webhook, other, bobs)
  t.equal((await webhook2.push(REPO, second)).status, 200)
  t.same(await webhook.counts(), { [`ada ${today} ${REPO}`]: { commits: 30, closed_issues: 0 } })
  const ping = deliveryShapes.github.push(REPO, [], 'topic')
  const statuses: number[] = []
  for (let n = 0; n < 9; n++) statuses.push((await webhook2.send(ping)).status)
  t.same(statuses, [...Array(7).fill(200), 429, 429])
  const elsewhere: number[] = []
  for (let n = 0; n < 6; n++) elsewhere.push((await other2.send(ping)).status)
  t.same(elsewhere, [200, 200, 200, 200, 429, 429])
  t.equal((await bobs2.send(ping)).status, 200)

  // A webhook is paid for by who can remove it.
  const [webhook3, other3, bobs3] = await later(webhook, other, bobs)
  await ada.patch(`/api/team/workspaces/${id}/members`, { login: 'bob', role: 'admin' })
  await ada.post(`/api/team/workspaces/${id}/leave`)
  for (let n = 0; n < 8; n++) t.equal((await webhook3.send(ping)).status, 200)
  const now: number[] = []
  for (let n = 0; n < 5; n++) now.push((await bobs3.send(ping)).status)
  t.same(now, [200, 200, 200, 200, 429], 'bob pays now')
  t.equal((await other3.send(ping)).status, 200, 'and ada no longer')
})
