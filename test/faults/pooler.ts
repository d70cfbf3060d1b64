/** All tests, with PgBouncer in transaction mode between every service and its database. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { projectRoot } from '../../src/platform/process/root.js'
import { startPooler } from '../pooler.js'
import type { Fault } from './fault.js'

export const pooled: Fault = {
  name: 'pooler',
  needs: ['pgbouncer'],
  play: async (scope) => {
    const url = process.env.TEST_DATABASE_URL ?? ''
    const pooler = await startPooler(scope, url)
    const tests = spawn(process.execPath, [join(projectRoot, 'build/test/run.js')], {
      cwd: projectRoot,
      env: { ...process.env, TEST_DATABASE_URL: url, TEST_POOLER: pooler },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(tests, 'exit')
    const lines = (await text(tests.stdout)).trim().split('\n')
    const failures = lines.filter((line) => line.startsWith('FAIL'))
    const [code, signal] = await exited
    if (code !== 0 && failures.length === 0) failures.push(`the tests ended with ${code ?? signal}`)
    // The failures, and the totals.
    const details = lines.filter((line) => !/^(PASS|\{)/.test(line))
    return { did: 'all tests through PgBouncer', details, broken: failures }
  },
}
