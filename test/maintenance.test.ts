import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'
import { until } from './until.js'

t.test('during maintenance, reads continue and writes get the operator’s message', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'maintenance')
  const service = await startService(t, { env: { MAINTENANCE_FILE: file } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const workspace = `/api/team/workspaces/${id}`
  const change = (minutes = 7) => ada.patch(`${workspace}/settings`, { idle_window_minutes: minutes })
  const rejected = (detail: string) => ({
    status: 503,
    headers: { 'retry-after': '60' },
    body: { code: 'maintenance', detail },
  })
  const wholeOf = async (reply: ReturnType<typeof change>) => {
    const { status, headers, body } = await reply
    return {
      status,
      headers: { 'retry-after': headers.get('retry-after') },
      body: { code: body.code, detail: body.detail },
    }
  }

  await writeFile(file, 'The database moves. Back at 14:00 UTC.\n')
  await until(async () => (await change()).status === 503, 'the file is seen')
  const expected = rejected('The database moves. Back at 14:00 UTC.')
  t.strictSame(await wholeOf(change(9)), expected)
  t.strictSame(await wholeOf(ada.push('acme/api', { 'ext.a': 1 })), expected)
  t.strictSame(
    await wholeOf(service.request('POST', '/api/auth/verify', { body: { repohost_token: 'any' } })),
    expected,
  )
  t.strictSame((await ada.get(`${workspace}/settings`)).body.idle_window_minutes, 7)
  t.equal((await ada.get('/api/me')).status, 200)
  t.equal((await service.request('GET', '/api/ready')).status, 200)
  t.equal((await ada.post('/api/nothing')).status, 404)

  await rm(file)
  await until(async () => (await change()).status === 200, 'maintenance has ended')
  await writeFile(file, '')
  await until(async () => (await change()).status === 503, 'an empty file begins it as well')
  t.strictSame(
    await wholeOf(change()),
    rejected('The service is under maintenance and accepts no changes. Try again later.'),
  )
})

t.test('during maintenance, heartbeat imports wait', async (t) => {
  const file = join(await temporaryFolder(t), 'maintenance')
  const service = await startService(t, { env: { MAINTENANCE_FILE: file } })
  const ada = await service.signIn('ada')
  const path = '/api/wakatime/v1/users/current/import'
  const yesterday = Math.floor(Date.now() / 86_400_000) * 86_400 - 86_400
  const days = Array.from({ length: 5 }, (_, ago) => ({ time: yesterday - ago * 86_400, project: 'a/b' }))
  // None of them is counted before maintenance has begun.
  const { lifecycle } = service.app
  const { isClosing } = lifecycle
  lifecycle.isClosing = () => true
  t.equal((await ada.request('POST', path, { body: JSON.stringify(days) })).status, 202)
  await writeFile(file, '')
  await until(async () => (await ada.post('/api/me/keys', {})).status === 503, 'maintenance has begun')
  lifecycle.isClosing = isClosing
  await service.app.jobs.imports.run()
  const { state, days_done } = (await ada.get(path)).body
  t.same([state, days_done], ['running', 0])
  await rm(file)
  await until(async () => (await ada.post('/api/me/keys', {})).status === 400, 'maintenance has ended')
  await service.app.jobs.imports.run()
  t.equal((await ada.get(path)).body.state, 'done')
})

t.test('MAINTENANCE turns maintenance on at startup', async (t) => {
  const service = await startService(t, { env: { MAINTENANCE: 'Soon.' } })
  const reply = await service.request('POST', '/api/auth/verify', { body: { repohost_token: 'any' } })
  t.hasStrict(reply, { status: 503, body: { code: 'maintenance', detail: 'Soon.' } })
})

t.test('each rate limit has a variable, and exempt addresses have none', async (t) => {
  const env = { RATE_LIMITS: 'on', LIMITS: 'rate_per_caller=7,rate_verify_per_address=2' }
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  const limits = (await ada.get('/api/limits')).body
  t.strictSame([limits.rate_per_caller, limits.rate_verify_per_address], [7, 2])
  const statuses = async (count: number, call: () => Promise<{ status: number }>) => {
    const found: number[] = []
    for (let n = 0; n < count; n++) found.push((await call()).status)
    return found
  }
  t.strictSame(await statuses(7, () => ada.get('/api/me')), [200, 200, 200, 200, 200, 200, 429])
  const signIn = () => service.request('POST', '/api/auth/verify', { body: { repohost_token: 'unknown' } })
  t.strictSame(await statuses(2, signIn), [401, 429])

  const exempt = await startService(t, {
    beside: service,
    env: { ...env, LIMIT_EXEMPT: '10.1.0.0/16,2001:db8::/32', TRUST_PROXY: '127.0.0.1' },
  })
  const from = (address: string) => () =>
    exempt.request('GET', '/api/me', {
      headers: { Authorization: `Bearer ${ada.token}`, 'X-Forwarded-For': address },
    })
  t.strictSame(new Set(await statuses(20, from('10.1.200.3'))), new Set([200]))
  t.strictSame(new Set(await statuses(20, from('2001:db8::7'))), new Set([200]))
  t.strictSame((await statuses(9, from('10.2.0.1'))).at(-1), 429)
})
