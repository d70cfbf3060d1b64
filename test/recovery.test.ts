/** Point-in-time recovery as the handbook has it: an accident, then a lost disk, on a real archive. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { freePort, launch, launchProgram, onDatabase, ready, temporaryFolder } from './process.js'
import { findPrograms, readRecipe, startServer } from './recovery.js'
import { until } from './until.js'

const bin = await findPrograms()
const skip = bin === undefined && 'pg_basebackup is not installed'

/** Prepares a service on a database that will be restored, and ada, who counts minutes there. */
const prepare = async (t: Test, url: string) => {
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const port = await freePort()
  const start = () =>
    ready(
      launch(t, port, {
        ...onDatabase(url),
        REPOHOST_URL: repohost.url,
        REPOHOST_API_URL: repohost.url,
        LOG_LEVEL: 'silent',
      }),
    )
  let service = await start()
  const { token: repohostToken } = repohost.addUser('ada')
  let token = ''
  const call = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`${service.url}/api${path}`, {
      method,
      headers: {
        ...(body && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return text ? JSON.parse(text) : undefined
  }
  token = (await call('POST', '/auth/verify', { repohost_token: repohostToken })).token
  const create = async (name: string): Promise<string> =>
    (await call('POST', '/team/workspaces/create', { name, patterns: [`${name}/*`] })).workspace.id
  const [acme, other] = [await create('acme'), await create('other')]
  const today = new Date().toISOString().slice(0, 10)
  let flushes = 0
  return {
    ready: () => ready(service),
    stop: () => {
      service.child.kill('SIGTERM')
      return service.ended
    },
    start: async () => {
      service = await start()
    },
    /** Acknowledged minutes, one after the other. */
    flush: async (owner: 'acme' | 'other', count: number) => {
      for (let n = 0; n < count; n++)
        await call('POST', '/team/active-minutes', {
          flush_id: `flush-${flushes++}`,
          entries: [{ repo: `${owner}/repo`, day: today, minutes: 1 }],
        })
    },
    deleteAcme: () => call('DELETE', `/team/workspaces/${acme}`),
    /** The minutes of both workspaces; undefined for one that isn't there. */
    read: async () => {
      const { workspaces } = (await call('GET', `/team/active-minutes?day=${today}`)) as {
        workspaces: { workspace_id: string; minutes: number }[]
      }
      const minutesOf = (id: string) => workspaces.find(({ workspace_id }) => workspace_id === id)?.minutes
      return { acme: minutesOf(acme), other: minutesOf(other) }
    },
  }
}

const at = (restore: string, target: string) =>
  restore.replace(/^MOMENT=.*$/m, '').replace(/^recovery_target_time = .*$/m, target)

t.test(
  'the documented steps restore the moment before an accident, and the archived changes from a lost disk',
  { skip },
  async (t) => {
    const recipe = await readRecipe()
    t.equal(recipe.count, 4, 'the blocks that are run here')
    const server = await startServer(t, await temporaryFolder(t), bin ?? '')
    const service = await prepare(t, server.url)
    await service.flush('acme', 10)
    await server.shell(recipe.setUp)
    await service.ready()
    await Promise.all([server.shell(recipe.backUp), service.flush('acme', 30)])
    const moment = await server.psql('select clock_timestamp()')
    await sleep(50)
    await service.deleteAcme()
    await service.flush('other', 7)
    t.strictSame(await service.read(), { acme: undefined, other: 7 })
    await service.stop()
    await server.shell(at(recipe.restore, `recovery_target_time = '${moment}'`))
    await service.start()
    t.strictSame(await service.read(), { acme: 40, other: 0 }, 'what was there before, and nothing else')

    await server.shell(recipe.backUp)
    await service.flush('other', 3)
    const wal = await server.psql('select pg_walfile_name(pg_switch_wal())')
    const archived = () => server.psql('select last_archived_wal from pg_stat_archiver')
    await until(async () => (await archived()) >= wal, 'the archive has it')
    await service.flush('other', 2)
    await server.lose()
    await service.stop()
    const [, , , ...withoutOldServer] = recipe.restore.split('\n')
    await server.shell(at(withoutOldServer.join('\n'), ''))
    await service.start()
    t.strictSame(await service.read(), { acme: 40, other: 3 }, 'what the archive had')
  },
)

const hasCitus = existsSync(join(bin ?? '', '../lib/citus.so'))

t.test(
  'the documented steps restore all cluster nodes to the same moment',
  { skip: skip || (!hasCitus && 'Citus is not installed') },
  async (t) => {
    const recipe = await readRecipe()
    const settings = `shared_preload_libraries = 'citus'\nwal_level = logical\nmax_connections = 200`
    const nodes = await Promise.all(
      Array.from({ length: 3 }, async () => startServer(t, await temporaryFolder(t), bin ?? '', settings)),
    )
    const onAll = (work: (server: (typeof nodes)[number]) => Promise<string>) => Promise.all(nodes.map(work))
    await onAll((server) => server.psql('create extension citus'))
    const [coordinator, ...workers] = nodes as [(typeof nodes)[number], ...typeof nodes]
    await coordinator.psql(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
    for (const { port } of workers) await coordinator.psql(`select citus_add_node('127.0.0.1', ${port})`)
    const service = await prepare(t, coordinator.url)
    const distributing = launchProgram(t, 'src/bin/distribute', onDatabase(coordinator.url))
    t.equal(await distributing.ended, 0, distributing.output())

    await onAll((server) => server.shell(recipe.setUp))
    await service.ready()
    await Promise.all([onAll((server) => server.shell(recipe.backUp)), service.flush('acme', 30)])
    const name = await coordinator.psql(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD HH24:MI')`)
    await coordinator.shell(recipe.restorePoint.replace('psql service', 'psql'))
    await service.deleteAcme()
    await service.flush('other', 7)
    await service.stop()
    await onAll((server) => server.shell('systemctl stop postgresql'))
    const restore = at(recipe.restore, `recovery_target_name = '${name}'`)
    await onAll((server) => server.shell(restore.replace('sudo systemctl stop postgresql', '')))
    await service.start()
    t.strictSame(await service.read(), { acme: 30, other: 0 }, 'what was there before, and nothing else')
  },
)
