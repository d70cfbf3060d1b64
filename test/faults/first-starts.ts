/** Many instances start at once on an empty database. One of them migrates, and all become ready. */
import postgres from 'postgres'
import { startThrowAwayDatabase } from '../../demo/database.js'
import { FIRST_MIGRATION, migrations } from '../../src/platform/database/migrations.js'
import { freePort, launch, onDatabase, ready } from '../process.js'
import { type Fault, quiet } from './fault.js'

const AT_ONCE = 8
const ROUNDS = 20

export const firstStarts: Fault = {
  name: 'first-starts',
  play: async (scope, { rounds = ROUNDS }) => {
    const server = await startThrowAwayDatabase({ maxConnections: 200, durable: true, log: quiet })
    scope.teardown(() => server.stop())
    const expected = [FIRST_MIGRATION, ...migrations.map(({ when }) => when)].join()
    const admin = postgres(server.url, { max: 1, onnotice: () => {} })
    scope.teardown(() => admin.end())
    const broken: string[] = []
    let longestMs = 0
    for (let round = 0; round < rounds; round++) {
      const name = `first_${round}`
      await admin.unsafe(`create database ${name}`)
      const url = new URL(`/${name}`, server.url).href
      const began = performance.now()
      const started = await Promise.allSettled(
        Array.from({ length: AT_ONCE }, async () => {
          const instance = launch(scope, await freePort(), { ...onDatabase(url), LOG_LEVEL: 'error' })
          await ready(instance)
          return instance
        }),
      )
      longestMs = Math.max(longestMs, performance.now() - began)
      const sql = postgres(url, { max: 1, onnotice: () => {} })
      const rows = await sql`select created_at::float8 as when from drizzle.__drizzle_migrations order by id`
      await sql.end()
      if (rows.map((row) => row.when).join() !== expected) broken.push(`${name}: not migrated once`)
      for (const start of started) {
        if (start.status === 'rejected') broken.push(String(start.reason))
        else start.value.child.kill('SIGKILL')
      }
      for (const start of started) if (start.status === 'fulfilled') await start.value.ended
      await admin.unsafe(`drop database ${name} with (force)`)
    }
    const did = `${rounds} × ${AT_ONCE} starts on an empty database`
    return {
      did,
      failed: broken.length,
      broken,
      details: [`the last was ready after ${Math.round(longestMs)} ms`],
    }
  },
}
