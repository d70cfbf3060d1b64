import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { freePort, launch, ready, type ServiceProcess, temporaryFolder } from './process.js'
import { until } from './until.js'

const signIn = async (service: ServiceProcess, token: string) => {
  const reply = await fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token: token }),
  })
  return ((await reply.json()) as { token: string }).token
}

const push = async (service: ServiceProcess, session: string, hostToken: string, repo: string, n: number) => {
  const reply = await fetch(`${service.url}/api/settings/ada/${repo}`, {
    method: 'PUT',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${session}`,
      'X-Repohost-Token': hostToken,
    },
    body: JSON.stringify({ settings: { 'ext.n': n } }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  return ((await reply.json()) as { version: number }).version
}

const pull = async (service: ServiceProcess, session: string, repo: string) => {
  const headers = { Authorization: `Bearer ${session}` }
  const reply = await fetch(`${service.url}/api/settings/ada/${repo}`, { headers })
  return (await reply.json()) as { version: number; settings: { 'ext.n': number } }
}

/** The folder in which the embedded database of a service listens. */
const socketOf = async (dataDir: string) =>
  (await readFile(join(dataDir, 'postgresql/postmaster.pid'), 'utf8')).split('\n')[4] ?? ''

t.test('the service starts in a new folder, survives kill -9 and keeps acknowledged writes', async (t) => {
  // Too long for a socket's path, so the socket is elsewhere.
  const DATA_DIR = join(await temporaryFolder(t), 'long-'.repeat(30))
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { token } = repohost.addUser('ada')
  const env = { DATA_DIR, REPOHOST_API_URL: repohost.url }
  const port = await freePort()

  const first = await ready(launch(t, port, env))
  // The service answers before it has printed where it is.
  const reference = `The reference is at http://127.0.0.1:${port}/api/docs`
  await until(() => first.output().includes(reference), 'the service says where its reference is')
  const session = await signIn(first, token)

  const second = launch(t, await freePort(), env)
  t.not(await second.ended, 0, 'a second process on the same folder does not start')
  t.match(
    second.output(),
    /Another process of this service is using .*Stop it first, or give this one another DATA_DIR/,
  )
  t.equal((await fetch(`${first.url}/api/ready`)).status, 200, 'and does not disturb the first')

  const acknowledged = [0, 0, 0, 0]
  let killed = false
  const writers = acknowledged.map(async (_, index) => {
    // A failed push is sent again, as it was.
    for (let n = 1; !killed; ) {
      acknowledged[index] = await push(first, session, token, `r${index}`, n).catch(() => n - 1)
      n = (acknowledged[index] ?? 0) + 1
    }
  })
  await until(() => acknowledged.every((version) => version >= 3), 'each writer has written thrice')
  const socket = await socketOf(DATA_DIR)
  first.child.kill('SIGKILL')
  killed = true
  await Promise.all(writers)
  await first.ended

  const again = await ready(launch(t, port, env))
  t.not(await socketOf(DATA_DIR), socket)
  await t.rejects(stat(socket), { code: 'ENOENT' }, 'the folder of the former socket is gone')
  for (const [index, version] of acknowledged.entries()) {
    t.ok(version > 0)
    const kept = await pull(again, session, `r${index}`)
    t.ok(
      kept.version === version || kept.version === version + 1,
      `version ${version} of r${index} was acknowledged`,
    )
    t.equal(kept.settings['ext.n'], kept.version)
  }
  t.equal((await stat(join(DATA_DIR, 'jwt-secret'))).mode & 0o777, 0o600)
  t.equal((await stat(join(DATA_DIR, 'postgresql-password'))).mode & 0o777, 0o600)

  again.child.kill('SIGINT')
  t.equal(await again.ended, 0)
  const log = await readFile(join(DATA_DIR, 'postgresql.log'), 'utf8')
  t.match(log, /database system is shut down\n$/, 'the database was stopped with the service')
})
