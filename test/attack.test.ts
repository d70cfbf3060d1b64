import t from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { ATTACK_SIZES, type Attack, attack, attacksOn, type Document } from './attack.js'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready } from './process.js'

/** Three times what is promised: other tests run on the machine meanwhile. */
const BOUND = 150

t.test('no request makes others wait, whatever is in it', async (t) => {
  const { url: databaseUrl, drop } = await createTestDatabase()
  t.teardown(drop)
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { token: hostToken } = repohost.addUser('ada')
  const metricsPort = await freePort()
  const service = await ready(
    launch(t, await freePort(), {
      ...onDatabase(databaseUrl),
      REPOHOST_API_URL: repohost.url,
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'error',
    }),
  )
  const verified = await fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token: hostToken }),
  })
  const { token } = (await verified.json()) as { token: string }
  const document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as Document
  const credentials = { authorization: `Bearer ${token}`, 'x-repohost-token': hostToken }
  const values = { owner: 'ada', repo: 'a' }
  const largest = ATTACK_SIZES.slice(-1)

  // `bench/attack.ts` sends all of them. These are of each kind, and each has held the service up once.
  const fillings = [
    '1.00…01',
    '99…9',
    '16 digits',
    '{}',
    'own keys',
    'new keys',
    '1.5e308',
    '\\"',
    ' ',
    ',',
    '" ',
  ]
  const isChosen = ({ operation, method, place, filling }: Attack) =>
    fillings.includes(filling) &&
    ((operation === 'pushSettings' && ['body', 'body/settings'].includes(place)) ||
      (method === 'GET' && ['header authorization', 'header accept-encoding'].includes(place)))
  const all = [...attacksOn(document, values, credentials, largest)]
  const verify = all.find(({ operation }) => operation === 'verifyRepohostToken') as Attack
  const attacks = all.filter(isChosen)
  t.ok(attacks.length > 5)
  for (const [place, body] of [
    ['number', `{"repohost_token":"x","a":1.${'0'.repeat(1_000_000)}1}`],
    ['numbers', `{"repohost_token":"x","a":[${'1234567890123456,'.repeat(60_000)}1]}`],
    ['own keys', `{"settings":{"ext.a":[${Array.from({ length: 90_000 }, (_, n) => `{"${n}a":1}`)}]}}`],
  ] as const) {
    attacks.push({ ...verify, place, filling: place, body, headers: { 'content-type': 'application/json' } })
  }
  const target = { url: service.url, metricsPort }
  for (const hostile of attacks) {
    const { stall, status } = await attack(target, hostile, BOUND)
    const what = `${hostile.operation}, ${hostile.place}, ${hostile.filling}`
    t.ok(stall <= BOUND, `${what}: ${stall.toFixed(0)} ms`)
    t.ok(status > 0 && status < 500, `${what}: ${status}`)
  }
})
