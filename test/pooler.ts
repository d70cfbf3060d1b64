/** The pooler of `ops/` in front of a test server. Needs `pgbouncer`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'
import { freePort, temporaryFolder } from './process.js'
import { until } from './until.js'

/** The user to run it as, because it doesn't run as root. */
const ACCOUNT = 'postgres'

const ops = (name: string) => readFile(join(projectRoot, 'ops', name), 'utf8')
const quoted = (text: string) => text.replaceAll("'", "''")

/**
 * Only the places are others than in `ops/pgbouncer.ini`; and there are many databases, whose connections must not stay,
 * so that the server has room for all of them. What `ops/pgbouncer.sql` gives the role is set for each connection,
 * because the tests share that role.
 * @returns where it listens
 */
export const startPooler = async (
  test: { teardown(end: () => unknown): void },
  serverUrl: string,
): Promise<string> => {
  const { hostname, port, username, password } = new URL(serverUrl)
  const front = await freePort()
  const folder = await temporaryFolder(test)
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'userlist.txt')]
  const settings = (await ops('pgbouncer.sql')).matchAll(/^alter role service (set .*;)$/gm)
  const onConnect = quoted(Array.from(settings, ([, setting]) => setting).join(' '))
  const example = (await ops('pgbouncer.ini'))
    .replace(
      /^service = .*$/m,
      `* = host=${decodeURIComponent(hostname)} port=${port} connect_query='${onConnect}'`,
    )
    .replace(/^listen_port = .*$/m, `listen_port = ${front}`)
    .replace(/^auth_file = .*$/m, `auth_file = ${users}`)
  await writeFile(file, `${example}\nunix_socket_dir =\nserver_idle_timeout = 5\n`)
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  for (const each of [file, users]) await chmod(each, 0o644)
  const isRoot = process.getuid?.() === 0
  const pooler = spawn('pgbouncer', ['-q', ...(isRoot ? ['-u', ACCOUNT] : []), file], { stdio: 'ignore' })
  const gone = once(pooler, 'exit')
  test.teardown(async () => {
    pooler.kill('SIGKILL')
    await gone
  })
  await until(() => listens(front), 'the pooler listens')
  return `127.0.0.1:${front}`
}

const listens = async (port: number): Promise<boolean> => {
  const probe = connect(port, '127.0.0.1')
  try {
    await once(probe, 'connect')
    return true
  } catch {
    return false
  } finally {
    probe.destroy()
  }
}
