/** Large requests in a service that has little memory. */
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { readToday } from '../src/platform/time/clock.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { startService } from './service.js'

t.test('large requests wait for memory, and none ends the service', async (t) => {
  const service = await startService(t)
  const today = await readToday(service.database)
  const people = await Promise.all(['ada', 'bob', 'cy', 'dan'].map((login) => service.signIn(login)))
  const teams = await Promise.all(people.map((person) => service.workspace(person)))
  const small = await ready(
    launch(t, await freePort(), {
      ...onDatabase(service.databaseUrl),
      REPOHOST_URL: service.repohost.url,
      REPOHOST_API_URL: service.repohost.url,
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      // V8 adds about 48 MB, and requests get 1.2 times the sum.
      NODE_OPTIONS: '--max-old-space-size=64',
    }),
  )
  const send = async (index: number, method: string, path: string, body: string) => {
    const reply = await fetch(`${small.url}/api/team${path}`, {
      method,
      headers: { Authorization: `Bearer ${people[index]?.token}`, 'Content-Type': 'application/json' },
      body,
    })
    return { status: reply.status, body: (await reply.json()) as { code?: string; detail?: string } }
  }

  const replies = await Promise.all(
    teams.map(({ id }, index) => {
      const repos = [{ repo: 'acme/web', count: index + 1 }]
      const upload = { workspace: id, day: today, members: [{ login: people[index]?.login, repos }] }
      return send(index, 'POST', '/commits', JSON.stringify(upload).padEnd(limits.counts_body_bytes))
    }),
  )
  t.same(
    [...new Set(replies.map(({ status }) => status))].filter((status) => status !== 503),
    [200],
  )
  t.same(
    replies.filter(({ status }) => status === 503).map(({ body }) => body.code),
    replies.filter(({ status }) => status === 503).map(() => 'unavailable'),
  )

  const projects = Object.fromEntries(
    Array.from({ length: 32 }, (_, n) => [
      `acme/repo-${n}`,
      { settings: { 'ext.a': 'x'.repeat(limits.settings_bytes - 12) } },
    ]),
  )
  const path = `/workspaces/${teams[0]?.id}/configuration`
  const { status, body } = await send(0, 'PUT', path, JSON.stringify({ projects }))
  t.same([status, body.code], [503, 'unavailable'])
  t.equal(
    body.detail,
    'This service has too little memory for a request of 9 MiB. Send less at once, or give it more memory.',
  )
  const large = await people[0]?.put(`/api/team${path}`, { projects })
  t.equal(large?.status, 200, 'another instance has enough')
  t.equal((await send(0, 'PUT', path, '{"projects":{}}')).status, 503, 'what is stored counts, too')
  t.equal((await fetch(`${small.url}/api/health`)).status, 200)
})
