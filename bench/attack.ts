/**
 * Hostile values for every string, number, array, object and header of the OpenAPI document: the pause of the event loop
 * for each, and the response. `node build/bench/attack.js pushSettings` attacks one operation.
 */
import { ATTACK_SIZES, type Attack, attack, attacksOn, type Document, type Outcome } from '../test/attack.js'
import { benchmark, createWorkspace, expectOk, METRICS_PORT, prepare, say, send } from './harness.js'

/** How long a request may block the event loop, in milliseconds. */
const BOUND = 50
const MAX_LISTED = 25

/** These delete what the other attacks need. */
const LAST = ['deleteWorkspace', 'leaveWorkspace', 'logout']

await benchmark(async (cleanUp) => {
  const nowhere = 'http://127.0.0.1:1'
  const { service, signIn } = await prepare(cleanUp, {
    METRICS_PORT: String(METRICS_PORT),
    ADMIN_KEYS: 'an-admin-key',
    ASSISTANT_A_URL: nowhere,
    ASSISTANT_B_URL: nowhere,
    LOG_LEVEL: 'error',
  })
  const ada = await signIn('ada')
  const id = await createWorkspace(service.url, [ada])
  const document = JSON.parse(await expectOk(send(service.url, 'GET', '/api/openapi.json'))) as Document
  const credentials = {
    authorization: `Bearer ${ada.token}`,
    'x-repohost-token': ada.repohostToken,
    'x-service-admin-key': 'an-admin-key',
  }
  const today = new Date().toISOString().slice(0, 10)
  const values = { id, workspace: id, owner: 'acme', repo: 'a', day: today, version: 1, patterns: ['acme/*'] }

  const only = process.argv.slice(2)
  const isAsked = ({ operation }: Attack) => only.length === 0 || only.includes(operation)
  const all = [...attacksOn(document, values, credentials, ATTACK_SIZES)].filter(isAsked)
  all.sort((a, b) => LAST.indexOf(a.operation) - LAST.indexOf(b.operation))
  say(`${all.length} attacks`)
  const target = { url: service.url, metricsPort: METRICS_PORT }
  const found: (Outcome & Attack)[] = []
  for (const hostile of all) found.push({ ...hostile, ...(await attack(target, hostile, BOUND)) })

  const statuses = new Map<number, number>()
  for (const { status } of found) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  say(
    `answers by status (0: none): ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  )
  for (const { status, operation, place, filling, bytes } of found) {
    if (status === 0 || status === 500) say(`${status}: ${operation}, ${place}, ${bytes} of ${filling}`)
  }
  found.sort((a, b) => b.stall - a.stall)
  say(`beyond ${BOUND} ms: ${found.filter(({ stall }) => stall > BOUND).length}; the worst:`)
  say('| stall | operation | place | filling | bytes | status |\n|---|---|---|---|---|---|')
  for (const { stall, operation, place, filling, bytes, status } of found.slice(0, MAX_LISTED)) {
    say(`| ${stall.toFixed(0)} ms | ${operation} | ${place} | \`${filling}\` | ${bytes} | ${status} |`)
  }
})
