import t from 'tap'
import { cpuTime } from '../bench/harness.js'
import { startRepohost } from '../demo/repohost.js'
import { ATTACK_SIZES, type Attack, attacksOn, type Document, send } from './attack.js'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready } from './process.js'

type Test = Parameters<typeof launch>[0]

/**
 * A hostile request may cost as much CPU time as this many ordinary ones of the same size. Work that isn't linear costs
 * far more.
 */
const ORDINARY = 20

/** The service in its own process. */
const startTarget = async (t: Test) => {
  const { url: databaseUrl, drop } = await createTestDatabase()
  t.teardown(drop)
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { token: hostToken } = repohost.addUser('ada')
  const service = await ready(
    launch(t, await freePort(), {
      ...onDatabase(databaseUrl),
      REPOHOST_API_URL: repohost.url,
      LOG_LEVEL: 'error',
    }),
  )
  return { url: service.url, pid: service.child.pid ?? 0, hostToken }
}

t.test('no request costs much more than an ordinary one of its size, whatever it contains', async (t) => {
  const service = await startTarget(t)
  const { hostToken } = service
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

  // `bench/attack.ts` sends all of them. This is a selection of each kind. Each of these has blocked the service
  // before.
  const fillings = ['new keys', ' ', ',', '" ']
  const isChosen = ({ operation, method, place, filling }: Attack) =>
    fillings.includes(filling) &&
    ((operation === 'pushSettings' && ['body', 'body/settings'].includes(place)) ||
      (method === 'GET' && ['header authorization', 'header accept-encoding'].includes(place)))
  const asked = ['/api/projects', '/api/auth/verify', '/api/settings/{owner}/{repo}']
  const paths = Object.fromEntries(asked.map((path) => [path, document.paths[path] ?? {}]))
  const all = [...attacksOn({ ...document, paths }, values, credentials, largest)]
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
  const costOf = async (requests: Attack[]) => {
    const before = await cpuTime(service.pid)
    const statuses: number[] = []
    for (const request of requests) statuses.push(await send(service.url, request))
    return { statuses, cpu: (await cpuTime(service.pid)) - before }
  }
  const words = Array.from({ length: 80_000 }, (_, n) => `"word ${n}"`)
  const push = attacks.find(({ operation }) => operation === 'pushSettings') as Attack
  const ordinary = { ...push, body: `{"settings":{"ext.a":[${words}]}}` }
  // A warm-up, which compiles the code.
  await costOf([ordinary, ordinary])
  const { cpu: most } = await costOf(Array.from({ length: ORDINARY }, () => ordinary))
  for (const hostile of attacks) {
    const { statuses, cpu } = await costOf([hostile])
    const what = `${hostile.operation}, ${hostile.place}, ${hostile.filling}`
    t.ok(cpu <= most, `${what}: ${(cpu / (most / ORDINARY)).toFixed(1)} times an ordinary request`)
    t.ok((statuses[0] ?? 0) > 0 && (statuses[0] ?? 0) < 500, `${what}: ${statuses}`)
  }
})
