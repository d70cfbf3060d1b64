import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import Stripe from 'stripe'
import t from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { isSignedBy } from '../src/features/billing/billing-signature.js'
import {
  DASHBOARD,
  faultsByBudget,
  reuseService,
  type Service,
  startProviders,
  startService,
} from './service.js'

const WEBHOOK = '/api/billing-provider/webhook'
const now = () => Math.floor(Date.now() / 1_000)

interface Notification {
  id?: string
  kind?: 'created' | 'updated' | 'deleted'
  subscription?: string
  customer: string
  status?: string
  created?: number
}

let nextId = 1
const notification = ({ id, kind = 'updated', subscription, customer, status, created }: Notification) =>
  JSON.stringify({
    id: id ?? `evt_${nextId++}`,
    object: 'event',
    api_version: '2026-10-01',
    type: `customer.subscription.${kind}`,
    created: created ?? now(),
    data: {
      object: {
        id: subscription ?? `sub_${customer}`,
        object: 'subscription',
        customer,
        status: status ?? 'active',
      },
    },
  })

const deliver = (service: Service, payload: string, headers: Record<string, string> = {}) =>
  service.request('POST', WEBHOOK, {
    body: payload,
    headers: { 'Content-Type': 'application/json', 'Billing-Signature': signatureOf(payload), ...headers },
  })

const stored = async (service: Service) => {
  const [row] = await service.database.hot.statement<{ events: number; subscriptions: number }>(
    'select (select count(*)::int from billing_events) events, (select count(*)::int from subscriptions) subscriptions',
    [],
  )
  return row
}

const shared = await startProviders(t)

/** A service with a billing provider; `subscriber` signs in and becomes a customer there. */
const startBilling = async (t: Parameters<typeof startService>[0], env: Record<string, string> = {}) => {
  const { billing } = shared.providers
  for (const known of [billing.customers, billing.checkouts]) known.clear()
  const service = await reuseService(t, 'github', { ...shared.env, ...env })
  const subscriber = async (login: string) => {
    const caller = await service.signIn(login)
    const before = new Set(billing.customers.keys())
    const started = await caller.post('/api/billing/checkout')
    if (started.status !== 200) throw new Error(started.text)
    const customer = [...billing.customers.keys()].find((id) => !before.has(id)) ?? ''
    const status = async () => (await caller.get('/api/me')).body.status as string
    return { caller, customer, status }
  }
  return { service, billing, subscriber }
}

t.test('checkout returns the provider’s URL, and return URLs come from the configuration', async (t) => {
  const { service, billing } = await startBilling(t)
  const ada = await service.signIn('ada')
  t.hasStrict((await ada.get('/api/me')).body, { plan: 'pro', status: 'none' })
  const portalBefore = await ada.post('/api/billing/portal')
  t.hasStrict(portalBefore.body, { status: 409, code: 'no_subscription' })

  const reply = await ada.request('POST', '/api/billing/checkout', {
    headers: { 'X-Forwarded-Host': 'evil.example' },
  })
  t.equal(reply.status, 200)
  t.match(reply.body.url, new RegExp(`^${billing.url}/pay/cs_`))
  const [form] = [...billing.checkouts.values()]
  t.equal(form?.get('mode'), 'subscription')
  t.equal(form?.get('line_items[0][price]'), BILLING.priceMonth)
  t.ok(form?.get('success_url')?.startsWith(`${DASHBOARD}/`))
  t.ok(form?.get('cancel_url')?.startsWith(`${DASHBOARD}/`))

  await ada.post('/api/billing/checkout', { interval: 'year' })
  t.equal([...billing.checkouts.values()][1]?.get('line_items[0][price]'), BILLING.priceYear)
  t.equal(billing.customers.size, 1)
  t.equal((await ada.post('/api/billing/checkout', { interval: 'week' })).body.code, 'validation_failed')
  t.match((await ada.post('/api/billing/portal')).body.url, /\/portal\/bps_/)
})

t.test('a customer that belongs to someone else is reported as the provider’s fault', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const ada = await service.signIn('ada')
  const { caller: bob, customer } = await subscriber('bob')
  // Asked again within minutes, the provider gives the same customer.
  const move = 'update billing_customers set user_id = (select id from users where login = $1) where id = $2'
  await service.database.hot.statement(move, ['ada', customer])
  t.hasStrict(await bob.post('/api/billing/checkout'), {
    status: 502,
    body: { code: 'upstream_failed', upstream: 'billing-provider' },
  })
  t.hasStrict((await bob.post('/api/billing/portal')).body, { code: 'no_subscription' })
  t.equal((await ada.post('/api/billing/portal')).status, 200)
})

t.test('concurrent clicks create one customer, on one instance and on two', async (t) => {
  const { service, billing } = await startBilling(t)
  const other = await startService(t, { env: shared.env, beside: service })
  billing.delay = 100
  t.teardown(() => Object.assign(billing, { delay: 0 }))
  const ada = await service.signIn('ada')
  const elsewhere = (n: number) =>
    (n % 2 ? service : other).request('POST', '/api/billing/checkout', {
      headers: { Authorization: `Bearer ${ada.token}` },
    })
  const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => elsewhere(n)))
  t.ok(
    replies.every(({ status }) => status === 200),
    String(replies.map(({ status }) => status)),
  )
  t.equal(billing.customers.size, 1)
  t.equal(new Set([...billing.checkouts.values()].map((form) => form.get('customer'))).size, 1)
})

t.test('a subscriber gets the portal, and checkout again once the subscription has ended', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const { caller, customer } = await subscriber('ada')
  const urlAfter = async (status: string, created: number) => {
    await deliver(service, notification({ customer, status, created }))
    return (await caller.post('/api/billing/checkout')).body.url as string
  }
  for (const [index, status] of ['trialing', 'active', 'past_due'].entries()) {
    t.match(await urlAfter(status, now() + index), /\/portal\//, status)
  }
  t.match(await urlAfter('canceled', now() + 10), /\/pay\//)
})

t.test('a paid checkout updates the profile through the provider’s own notification', async (t) => {
  const { service, billing } = await startBilling(t)
  billing.webhookUrl = service.url + WEBHOOK
  t.teardown(() => Object.assign(billing, { webhookUrl: undefined }))
  const ada = await service.signIn('ada')
  const { url } = (await ada.post('/api/billing/checkout')).body
  const paid = await fetch(url, { redirect: 'manual' })
  t.equal(paid.headers.get('location'), `${DASHBOARD}/?billing=success`)
  t.equal((await ada.get('/api/me')).body.status, 'active')
})

t.test('notifications identify a customer that the service didn’t create', async (t) => {
  const { service } = await startBilling(t)
  const ada = await service.signIn('ada')
  const { id } = (await ada.get('/api/me')).body
  await deliver(service, notification({ customer: 'cus_foreign', status: 'trialing' }))
  t.equal((await ada.get('/api/me')).body.status, 'none')
  const completed = JSON.stringify({
    id: 'evt_completed',
    type: 'checkout.session.completed',
    created: now(),
    data: { object: { id: 'cs_1', customer: 'cus_foreign', client_reference_id: id } },
  })
  t.equal((await deliver(service, completed)).status, 200)
  t.equal((await ada.get('/api/me')).body.status, 'trialing')
})

t.test('subscription statuses are translated', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const { customer, status } = await subscriber('ada')
  const expected: Record<string, string> = {
    incomplete: 'none',
    trialing: 'trialing',
    active: 'active',
    past_due: 'past_due',
    unpaid: 'past_due',
    paused: 'past_due',
    canceled: 'canceled',
    incomplete_expired: 'canceled',
  }
  for (const [index, [theirs, ours]] of Object.entries(expected).entries()) {
    await deliver(service, notification({ customer, status: theirs, created: now() + index }))
    t.equal(await status(), ours, theirs)
  }
  await deliver(service, notification({ customer, status: 'invented_later', created: now() + 100 }))
  t.equal(await status(), 'canceled', 'an unknown status changes nothing')
})

t.test('of several subscriptions, the best one applies', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const { customer, status } = await subscriber('ada')
  const say = (subscription: string, theirs: string, created: number) =>
    deliver(service, notification({ customer, subscription, status: theirs, created }))
  await say('sub_old', 'active', 1_000)
  await say('sub_new', 'incomplete', 2_000)
  t.equal(await status(), 'active')
  await say('sub_old', 'canceled', 3_000)
  t.equal(await status(), 'canceled')
  await say('sub_new', 'active', 4_000)
  t.equal(await status(), 'active')
})

t.test('twenty concurrent copies of a notification take effect once', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const { customer, status } = await subscriber('ada')
  const payload = notification({ id: 'evt_copied', customer, status: 'active', created: 1_000 })
  const replies = await Promise.all(Array.from({ length: 20 }, () => deliver(service, payload)))
  t.ok(replies.every((reply) => reply.status === 200 && reply.body.received === true))
  t.same(await stored(service), { events: 1, subscriptions: 1 })
  t.equal(await status(), 'active')

  await deliver(service, notification({ id: 'evt_after', customer, status: 'past_due', created: 1_000 }))
  t.equal(await status(), 'past_due', 'of two events at the same time, the one received later wins')
  await deliver(service, payload)
  t.equal(await status(), 'past_due', 'a late copy changes nothing')
})

const permutations = <T>(items: T[]): T[][] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))

t.test('four notifications end in the same state in any order', async (t) => {
  const { service } = await startBilling(t)
  const story: { kind: 'created' | 'updated' | 'deleted'; status: string; created: number }[] = [
    { kind: 'created', status: 'incomplete', created: 1_000 },
    { kind: 'updated', status: 'active', created: 1_001 },
    { kind: 'updated', status: 'past_due', created: 1_002 },
    { kind: 'deleted', status: 'active', created: 1_002 },
  ]
  for (const end of [story.length, 3]) {
    const orders = permutations(story.slice(0, end))
    const replay = async (order: typeof story, index: number) => {
      for (const event of order) {
        const reply = await deliver(service, notification({ customer: `cus_${end}_${index}`, ...event }))
        if (reply.status !== 200) t.fail(reply.text)
      }
    }
    // A few at a time, because a test's database accepts few transactions at once.
    for (let from = 0; from < orders.length; from += 12) {
      await Promise.all(orders.slice(from, from + 12).map((order, index) => replay(order, from + index)))
    }
    const states = await service.database.hot.statement<{ status: string; n: number }>(
      'select status, count(*)::int n from subscriptions where customer_id like $1 group by status',
      [`cus\\_${end}\\_%`],
    )
    t.same(states, [{ status: end === 4 ? 'canceled' : 'past_due', n: orders.length }])
  }
})

t.test('a notification is accepted only with a valid signature over its exact bytes', async (t) => {
  const { service, subscriber } = await startBilling(t)
  const { customer } = await subscriber('ada')
  const payload = notification({ customer })
  const signed = (time: number, secret?: string) => signatureOf(payload, { time, ...(secret && { secret }) })
  const rejected: Record<string, Record<string, string>> = {
    missing: {},
    empty: { 'Billing-Signature': '' },
    rubbish: { 'Billing-Signature': 'v1' },
    'of another secret': { 'Billing-Signature': signed(now(), 'whsec_other') },
    old: { 'Billing-Signature': signed(now() - 310) },
    future: { 'Billing-Signature': signed(now() + 3_600) },
    'without a time': { 'Billing-Signature': signed(now()).replace(/^t=\d+,/, '') },
    'with two times': { 'Billing-Signature': `t=${now() - 1},${signed(now())}` },
    'of another scheme': { 'Billing-Signature': signed(now()).replace('v1=', 'v0=') },
    'a wrong one beside a good one of the other name': {
      'Billing-Signature': signed(now(), 'whsec_other'),
      'Stripe-Signature': signed(now()),
    },
  }
  const send = (body: string, headers: Record<string, string>) =>
    service.request('POST', WEBHOOK, { body, headers: { 'Content-Type': 'application/json', ...headers } })
  for (const [name, headers] of Object.entries(rejected)) {
    const reply = await send(payload, headers)
    t.hasStrict(reply.body, { status: 400, code: 'signature_invalid' }, name)
  }
  const reserialized = JSON.stringify(JSON.parse(payload), null, 1)
  t.equal((await send(reserialized, { 'Billing-Signature': signed(now()) })).body.code, 'signature_invalid')
  t.equal((await send('', { 'Billing-Signature': signatureOf('') })).body.code, 'signature_invalid')
  t.same(await stored(service), { events: 0, subscriptions: 0 })

  const rolled = `${signed(now(), 'whsec_old')},v1=${signed(now()).split('v1=')[1]}`
  t.equal((await send(payload, { 'Billing-Signature': rolled })).status, 200, 'several v1 in one header')
  const again = notification({ customer })
  const byStripe = Stripe.webhooks.generateTestHeaderString({ payload: again, secret: BILLING.webhookSecret })
  t.equal((await send(again, { 'Stripe-Signature': byStripe })).status, 200)
  t.same(await stored(service), { events: 2, subscriptions: 1 })
})

t.test('irrelevant notifications are accepted, whatever they contain', async (t) => {
  const { service } = await startBilling(t)
  const send = (event: object) => deliver(service, JSON.stringify(event))
  for (const event of [
    { id: 'evt_1', type: 'invoice.paid', created: 1, livemode: false, unknown: { deep: [1] } },
    { id: 'evt_2', type: 'toString' },
    { id: 'evt_3', type: 'customer.subscription.updated', created: 1, data: { object: {} } },
    {
      id: 'evt_4',
      type: 'customer.subscription.updated',
      created: 1,
      data: { object: { id: 'sub\0', customer: 7 } },
    },
  ]) {
    const reply = await send(event)
    t.same([reply.status, reply.body], [200, { received: true }], event.id)
  }
  t.equal((await send({ type: 'customer.subscription.updated' })).body.code, 'validation_failed')
  t.equal((await deliver(service, 'not json')).body.code, 'invalid_json')
  t.equal((await deliver(service, ' '.repeat(1_048_577))).body.code, 'payload_too_large')
  t.same(await stored(service), { events: 0, subscriptions: 0 })
})

t.test('without billing, all of its routes return an error', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (const path of ['/api/billing/checkout', '/api/billing/portal']) {
    const reply = await ada.post(path)
    t.hasStrict(reply.body, { status: 503, code: 'billing_not_configured' })
    t.equal(reply.headers.get('retry-after'), null, 'waiting does not help')
    t.equal((await service.request('POST', path)).status, 401)
  }
  const payload = notification({ customer: 'cus_1' })
  t.equal((await deliver(service, payload)).body.code, 'billing_not_configured')
  const partly = await startService(t, {
    env: { BILLING_SECRET_KEY: 'sk', BILLING_PRICE_MONTH: 'price', BILLING_API_URL: 'http://127.0.0.1:9' },
  })
  const bob = await partly.signIn('bob')
  t.equal((await bob.post('/api/billing/checkout', { interval: 'year' })).body.code, 'billing_not_configured')
  t.equal((await bob.post('/api/billing/checkout')).body.code, 'upstream_failed')
})

for (const { budgetMs, status, faults } of faultsByBudget)
  t.test(
    `if the provider misbehaves, checkout gets ${status} in time, and other requests succeed`,
    async (t) => {
      const setup = await startProviders(t, { budgetMs })
      const service = await startService(t, setup)
      const ada = await service.signIn('ada')
      for (const fault of faults) {
        setup.providers.billing.fault = fault
        const [reply, me] = await Promise.all([ada.post('/api/billing/checkout'), ada.get('/api/me')])
        t.hasStrict(reply.body, { status, upstream: 'billing-provider' }, fault)
        t.equal(me.status, 200)
      }
      setup.providers.billing.fault = undefined
      t.equal((await ada.post('/api/billing/checkout')).status, 200, 'and leaves nothing behind')
    },
  )

t.test('with billing required, Pro starts and ends with the subscription', async (t) => {
  const { service, subscriber } = await startBilling(t, { BILLING_DORMANT: 'false' })
  const { caller: ada, customer } = await subscriber('ada')
  const profile = async () => (await ada.get('/api/me')).body
  t.hasStrict(await profile(), { plan: 'free', status: 'none' })

  // Every route below /api/team but one requires Pro, and checks it right after the session.
  const { body: document } = await service.request('GET', '/api/openapi.json')
  let gated = 0
  for (const [path, operations] of Object.entries(document.paths as Record<string, object>)) {
    if (!path.startsWith('/api/team/')) continue
    for (const method of Object.keys(operations)) {
      const url = path.replace(/\{[^}]+\}/g, 'not-valid')
      const name = `${method} ${path}`
      const open = path === '/api/team/workspaces/join'
      t.equal((await service.request(method.toUpperCase(), url)).status, 401, name)
      const reply = await ada.request(method.toUpperCase(), url)
      t.equal(reply.status, open ? 400 : 402, name)
      if (!open) gated++
    }
  }
  const operations = Object.values(document.paths as Record<string, object>).flatMap(Object.values)
  const promised = operations.filter(({ responses }) => '402' in responses)
  t.equal(gated, promised.length, 'the document says so for these routes only')

  let created = 1_000
  for (const [status, allowed] of [
    ['trialing', true],
    ['active', true],
    ['past_due', true],
    ['canceled', false],
    ['active', true],
    ['incomplete', false],
  ] as const) {
    await deliver(service, notification({ customer, status, created: created++ }))
    t.equal((await ada.get('/api/team/me')).status, allowed ? 200 : 402, status)
    t.equal((await profile()).plan, allowed ? 'pro' : 'free', status)
  }
})

t.test('signatures match the provider’s library, and no altered payload is accepted', (t) => {
  const secret = BILLING.webhookSecret
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.integer({ min: 1, max: 2_000_000_000 }),
      fc.nat(600),
      (payload, time, age) => {
        const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: time })
        const bytes = Buffer.from(payload)
        const withTimeout = age <= 300
        return (
          isSignedBy(secret, header, bytes, time + age) === withTimeout &&
          isSignedBy(secret, header, bytes, time - age) === withTimeout &&
          !isSignedBy(secret, header, Buffer.concat([bytes, Buffer.from(' ')]), time) &&
          !isSignedBy(`${secret}x`, header, bytes, time)
        )
      },
    ),
  )
  const bare = createHmac('sha256', secret).update('1.x').digest('hex')
  t.notOk(isSignedBy(secret, `t=1,v1=${bare.slice(1)}`, Buffer.from('x'), 1), 'a shorter signature')
  t.ok(isSignedBy(secret, `t=1, v1=${bare}`, Buffer.from('x'), 1))
  t.end()
})
