/** All tests, with PgBouncer in transaction mode between every service and its database. */
import { spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { projectRoot } from '../../src/runtime/root.js'
import { freePort, temporaryFolder } from '../process.js'
import type { Fault, Scope } from './fault.js'

/** The role that a pooler needs to run as: it refuses to be root. */
const ACCOUNT = 'postgres'

/** @returns where it listens */
export const startPooler = async (scope: Scope, databaseUrl: string): Promise<string> => {
  const { hostname, port, username, password } = new URL(databaseUrl)
  const front = await freePort()
  const folder = await temporaryFolder(scope)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)} connect_query='set statement_timeout = 5000; set lock_timeout = 2000; set idle_in_transaction_session_timeout = 10000'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${front}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 20
server_idle_timeout = 5
server_login_retry = 1
`,
  )
  await chmod(file, 0o644)
  const isRoot = process.getuid?.() === 0
  const pooler = spawn('pgbouncer', ['-q', ...(isRoot ? ['-u', ACCOUNT] : []), file], { stdio: 'ignore' })
  scope.teardown(() => pooler.kill('SIGKILL'))
  return `127.0.0.1:${front}`
}

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
    const lines = (await text(tests.stdout)).trim().split('\n')
    const failures = lines.filter((line) => line.startsWith('FAIL'))
    // What failed, and the sums.
    const details = lines.filter((line) => !/^(PASS|\{)/.test(line))
    return { did: 'all tests through PgBouncer', details, broken: failures }
  },
}
