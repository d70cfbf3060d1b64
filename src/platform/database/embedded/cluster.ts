/** The folder with the database's files. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  chown,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError } from '../../process/operator-error.js'
import { nameOfUser } from '../../process/users.js'
import type { Log } from './account.js'
import { ACCOUNT, type Account, canEnter, pathExists, SHARED_FOLDER, serverEnvironment } from './account.js'
import { explainStartFailure } from './server.js'

const run = promisify(execFile)

/**
 * The cluster's folder: `DATA_DIR/postgresql`, or wherever a link of that name points. The link is made when the
 * service runs as root in a place where the account has no access, such as a home folder.
 */
export const placeCluster = async (dataDir: string, account: Account, log: Log): Promise<string> => {
  const wanted = join(dataDir, 'postgresql')
  const linked = await readlink(wanted).catch(() => undefined)
  if (linked !== undefined) {
    await mkdir(linked, { recursive: true, mode: 0o711 })
    return linked
  }
  if (canEnter(dataDir, account)) return wanted
  const elsewhere = join(SHARED_FOLDER, `data-${randomBytes(8).toString('hex')}`)
  await mkdir(elsewhere, { recursive: true, mode: 0o711 })
  await chmod(SHARED_FOLDER, 0o755)
  await symlink(elsewhere, wanted)
  log.warn(`the user "${ACCOUNT}" can’t reach ${dataDir}; the database is in ${elsewhere}, linked from there`)
  return elsewhere
}

/**
 * Creates the cluster next to its final place and moves it there, so that an interrupted start leaves nothing half
 * done. @throws {OperatorError} if there's one that can't be used
 */
export const ensureCluster = async (
  native: string,
  cluster: string,
  password: string,
  account: Account,
  stopped: AbortSignal | undefined,
): Promise<void> => {
  await requireOwner(cluster, account)
  const { stdout } = await run(join(native, 'bin', 'postgres'), ['--version'], { env: serverEnvironment() })
  const binaryMajor = stdout.match(/([0-9]+)/)?.[1]
  const clusterMajor = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined))?.trim()
  if (clusterMajor === binaryMajor) return
  if (clusterMajor !== undefined) {
    throw new OperatorError(
      `The database in ${cluster} was created by PostgreSQL ${clusterMajor}, and this version includes ${binaryMajor}. Back it up with the previous version, and restore it into an empty DATA_DIR.`,
    )
  }
  const unfinished = `${cluster}.${randomBytes(4).toString('hex')}`
  const passwordFile = `${unfinished}.password`
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  try {
    if (account) {
      await chown(unfinished, account.uid, account.gid)
      await chown(passwordFile, account.uid, account.gid)
    }
    await initialize(native, unfinished, passwordFile, account, stopped)
    // An empty folder (of a link) may be in the way. If another start has already put its cluster there, this fails.
    await rename(unfinished, cluster)
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 })
    stopped?.throwIfAborted()
    if (!(await pathExists(join(cluster, 'PG_VERSION')))) {
      throw await explainStartFailure(
        cluster,
        `The database couldn’t be created in ${cluster}: `,
        reason(cause),
        cause,
      )
    }
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** The server rejects another user's folder, and says so only in its log. */
const requireOwner = async (cluster: string, account: Account) => {
  const uid = account?.uid ?? process.getuid?.()
  const found = await stat(cluster).catch(() => undefined)
  if (found === undefined || found.uid === uid || !(await pathExists(join(cluster, 'PG_VERSION')))) return
  const [owner, user] = await Promise.all([found.uid, uid ?? 0].map(nameOfUser))
  throw new OperatorError(
    `The database in DATA_DIR (${cluster}) belongs to ${owner}, but this start would run it as ${user}: start the service as ${owner}, or set DATA_DIR to another folder.`,
  )
}

/** Settles when no `initdb` process is running any more. */
const initialize = async (
  native: string,
  folder: string,
  passwordFile: string,
  account: Account,
  stopped: AbortSignal | undefined,
) => {
  stopped?.throwIfAborted()
  const initdb = run(
    join(native, 'bin', 'initdb'),
    [
      '-D',
      folder,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
    ],
    { ...account, cwd: '/', env: serverEnvironment() },
  )
  // A running initdb would keep writing to the folder that is about to be removed.
  const kill = () => initdb.child.kill('SIGKILL')
  stopped?.addEventListener('abort', kill)
  try {
    await initdb
  } finally {
    stopped?.removeEventListener('abort', kill)
  }
}

const reason = (error: unknown) => {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr || message).trim()
}
