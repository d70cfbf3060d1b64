/**
 * Pulls and effective configurations with locks and a schema, against another version without them. The argument is a
 * checkout of that version, installed and built.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bearer,
  benchmark,
  createWorkspace,
  expectOk,
  type Load,
  medianLoads,
  prepare,
  push,
  type SignedIn,
  type Started,
  say,
  send,
  wrk,
} from './harness.js'

const KEYS = 40
const LOCKED = 5
const ROUNDS = 9
const SECONDS = 3

const [root] = process.argv.slice(2)
if (root === undefined) throw new Error('The argument is a checkout of the other version')

const keys = Array.from({ length: KEYS }, (_, n) => `ext.setting${n}`)
/** 2 KB. */
const settings = Object.fromEntries(keys.map((key) => [key, 'x'.repeat(30)]))
const override = Object.fromEntries(keys.slice(-LOCKED).map((key) => [key, 'y'.repeat(30)]))
const locked = keys.slice(0, LOCKED)
const schema = {
  properties: Object.fromEntries(keys.map((key) => [key, { type: 'string', maxLength: 100 }])),
}

const fill = async ({ url }: Started, admin: SignedIn, policy: object) => {
  const { token } = admin
  const workspace = `/api/team/workspaces/${await createWorkspace(url, [admin])}`
  await expectOk(send(url, 'PATCH', `${workspace}/settings`, token, { settings, ...policy }))
  await expectOk(send(url, 'PUT', `${workspace}/project-settings/acme/api`, token, { settings: override }))
  await push(url, admin, 'acme/api', settings)
}

await benchmark(async (cleanUp) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const file = join(folder, 'schema.json')
  await writeFile(file, JSON.stringify(schema))
  const env = { SETTINGS_SCHEMA: file, EXTENSION_PREFIX: 'ext', SETTINGS_VALIDATION: 'enforce' }
  const { service, signIn, startOther } = await prepare(cleanUp, env)
  const other = await startOther(root)
  const [ada, adaThere] = [await signIn('ada'), await signIn('ada', other)]
  await fill(service, ada, { locked })
  await fill(other, adaThere, {})

  const read =
    ({ url, pid }: Started, { token }: SignedIn, path: string) =>
    () =>
      wrk({ pid, url: url + path }, bearer(token), { seconds: SECONDS })
  const paths = {
    pull: '/api/settings/acme/api',
    'effective configuration': '/api/team/effective-config?repo=acme/api',
  }
  for (const [name, path] of Object.entries(paths)) {
    const results = await medianLoads<'other' | 'this'>(
      { other: read(other, adaThere, path), this: read(service, ada, path) },
      ROUNDS,
    )
    for (const [version, { perSecond, p99, cpu }] of Object.entries<Load>(results))
      say(
        `${name}, ${version}: ${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms, ${cpu.toFixed(0)} µs of CPU`,
      )
    say(`${name}, this / other: rate ${(results.this.perSecond / results.other.perSecond).toFixed(2)}`)
    say(`${name}, other / this: CPU ${(results.other.cpu / results.this.cpu).toFixed(2)}`)
  }
})
