/** The system user that the server runs as, and what it can reach. */
import { execFile, spawnSync } from 'node:child_process'
import { lstat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { OperatorError } from '../../process/operator-error.js'

const run = promisify(execFile)

/** The ids to run the server as, because PostgreSQL doesn't run as root. Undefined for ordinary users. */
export type Account = { uid: number; gid: number } | undefined

export const ACCOUNT = 'postgres'
/** The folder for root's files that `ACCOUNT` has to reach. */
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

/**
 * The environment of PostgreSQL's programs. The service's own environment has secrets, and `/proc` shows a process's
 * environment to its account. Only what the loader and the clock may need is passed on. Without a locale, macOS doesn't
 * let the server start.
 */
const INHERITED_VARIABLES = ['LD_LIBRARY_PATH', 'TZ']

/**
 * How much freed memory glibc keeps in a process, and the size from which a block is outside it, in bytes. By default,
 * planning a dashboard's statements can give memory back to the system and get it again each time: 12 to 14 ms of a
 * dashboard's CPU time, and 7 to 10 with these (`bench/versions`, where page faults are slow).
 */
const MALLOC_SETTINGS = { MALLOC_TRIM_THRESHOLD_: '8388608', MALLOC_MMAP_THRESHOLD_: '1048576' }

export const serverEnvironment = (): Record<string, string> => ({
  LC_ALL: 'C',
  ...MALLOC_SETTINGS,
  ...Object.fromEntries(
    INHERITED_VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  ),
})

/** Receives the server's events. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}

export const pathExists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
