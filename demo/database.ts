import { chmod, lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseFromFormerOwner } from '../src/platform/database/embedded/former-owner.js'
import { startEmbedded } from '../src/platform/database/embedded/index.js'
import type { EmbeddedOptions } from '../src/platform/database/embedded/server.js'

const PREFIX = 'team-settings-'
/**
 * A socket in the folder, on which the process that created the folder listens while it runs. Once that process has ended,
 * the system rejects connections to it. A process number would be less certain, because the system reuses it.
 */
const SIGN_OF_LIFE = 'owner'

/**
 * A PostgreSQL in a new `folder`, below that for temporary ones or `parent`, with an empty database. Other files may be
 * kept in the folder as well: `stop` removes all of it. Folders that killed runs have left in the same place are removed
 * first.
 */
export const startThrowAwayDatabase = async (
  options: Omit<EmbeddedOptions, 'dataDir'>,
  parent = tmpdir(),
): Promise<{ url: string; folder: string; stop(forceSignal?: AbortSignal): Promise<void> }> => {
  await clearLeftDatabases(parent)
  const dataDir = await mkdtemp(join(parent, PREFIX))
  // Root runs the server under another account, which needs access.
  await chmod(dataDir, 0o711)
  const signOfLife = await showLife(join(dataDir, SIGN_OF_LIFE))
  const end = async (location = dataDir) => {
    signOfLife.close()
    await remove(location)
    await remove(dataDir)
  }
  try {
    const server = await startEmbedded({ ...options, dataDir })
    const stop = async (forceSignal?: AbortSignal) => {
      await server.stop(forceSignal)
      await end(server.location)
    }
    return { url: server.url, folder: dataDir, stop }
  } catch (error) {
    await end()
    throw error
  }
}

/** Stops and removes the databases of runs that were killed. Databases of running programs stay. */
export const clearLeftDatabases = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name)
    if (name.startsWith(PREFIX) && (await isLeft(folder))) await clearAway(folder)
  }
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 })

const showLife = (path: string) =>
  new Promise<Server>((resolve, reject) => {
    const server = createServer((visitor) => visitor.destroy())
    server.on('error', reject)
    server.listen(path, () => resolve(server.unref()))
  })

/** Whether an earlier run created the folder and has ended. */
const isLeft = async (folder: string): Promise<boolean> => {
  const found = await lstat(folder).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false
  return new Promise((resolve) => {
    const visit = connect(join(folder, SIGN_OF_LIFE))
    visit.on('connect', () => resolve(false))
    visit.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
    visit.on('close', () => visit.destroy())
    visit.end()
  })
}

const clearAway = async (folder: string) => {
  const cluster = join(folder, 'postgresql')
  const location = await readlink(cluster).catch(() => cluster)
  const password = await readFile(join(folder, 'postgresql-password'), 'utf8').catch(() => '')
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  try {
    await releaseFromFormerOwner(location, password, quiet)
  } catch {
    // Another run is removing the folder too, or its database can't be stopped, in which case it stays.
    return
  }
  await remove(location)
  await remove(folder)
}
