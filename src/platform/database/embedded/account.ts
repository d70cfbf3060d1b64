/** The system user under whom the server runs, and what it can reach. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { OperatorError } from '../../process/operator-error.js'
import { serverEnvironment } from './environment.js'

const run = promisify(execFile)

/** Ids to run the server under, because PostgreSQL doesn't run as root; undefined for ordinary users. */
export type Account = { uid: number; gid: number } | undefined

export const ACCOUNT = 'postgres'
/** Where root keeps files in a place that `ACCOUNT` can reach. */
export const SHARED_FOLDER = '/var/lib/team-settings-cloud'

export const findAccount = async (): Promise<Account> => {
  if (process.getuid?.() !== 0) return undefined
  const lookUp = async (flag: string) => Number((await run('id', [flag, ACCOUNT])).stdout)
  try {
    return { uid: await lookUp('-u'), gid: await lookUp('-g') }
  } catch {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      ACCOUNT,
    ])
      .catch(() => run('adduser', ['-S', '-D', '-H', ACCOUNT]))
      .catch((cause) => {
        throw new OperatorError(
          `PostgreSQL refuses to run as root, and the system user "${ACCOUNT}" couldn’t be created. Create it, start the service as an ordinary user, or set DATABASE_URL.`,
          { cause },
        )
      })
    return { uid: await lookUp('-u'), gid: await lookUp('-g') }
  }
}

/** Whether the account can enter a folder, with all its parents. */
export const canEnter = (folder: string, account: Account): boolean =>
  account === undefined ||
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', env: serverEnvironment() })
    .status === 0
