import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from './code-of.js'
import { ConfigError } from './config-error.js'
import { nameOfUser } from './users.js'

/** Creates the folder for the embedded database and the secret. @throws {ConfigError} */
export const makeDataDir = async (folder: string): Promise<void> => {
  try {
    await makeFolder(folder)
  } catch (error) {
    throw new ConfigError([`DATA_DIR isn’t a folder and can’t be created: ${(error as Error).message}`])
  }
  const fault = await ownerFaultOf(folder)
  if (fault) throw new ConfigError([`${fault.message} ${fault.remedy}`])
  await access(folder, ALL).catch(() => {
    throw new ConfigError([
      `DATA_DIR is a folder of this user, who has no right to write to ${folder}: run chmod u+rwx on it, or set DATA_DIR to another folder`,
    ])
  })
}

const ALL = constants.R_OK | constants.W_OK | constants.X_OK

/** The entries of DATA_DIR that the service needs, if they exist. PostgreSQL uses only a folder of its own user. */
const needed: [name: string, rights: number][] = [
  ['.', ALL],
  ['postgresql', ALL],
  ['postgresql.log', constants.W_OK],
  ['postgresql-password', constants.R_OK],
  ['jwt-secret', constants.R_OK],
  ['webhook-key', constants.R_OK],
]

/**
 * The first entry of DATA_DIR that belongs to another user and can't be used, for example after a command was run as
 * root. Undefined for root, who can use all files.
 */
export const ownerFaultOf = async (
  dataDir: string,
): Promise<{ message: string; remedy: string } | undefined> => {
  const uid = process.getuid?.()
  if (uid === undefined || uid === 0) return undefined
  for (const [name, rights] of needed) {
    const path = join(dataDir, name)
    const found = await stat(path).catch(() => undefined)
    if (found === undefined || found.uid === uid) continue
    const isUsable =
      name !== 'postgresql' &&
      (await access(path, rights).then(
        () => true,
        () => false,
      ))
    if (isUsable) continue
    const [owner, user] = await Promise.all([found.uid, uid].map(nameOfUser))
    // Root's database can be elsewhere, behind a link that chown doesn't follow.
    const place = await realpath(path)
    const folders = place.startsWith(resolve(dataDir)) ? dataDir : `${dataDir} ${place}`
    return {
      message: `DATA_DIR: ${path} belongs to ${owner}, and ${user} can’t use it.`,
      remedy: `Stop the service and run: chown -R ${user}: ${folders}`,
    }
  }
  return undefined
}

/** Reads a file; if there is none, creates it from this many random bytes, for its owner only. @throws {ConfigError} */
export const readOrCreate = async (file: string, bytes: number): Promise<string> => {
  try {
    await writeFile(file, randomBytes(bytes).toString('base64url'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return readFile(file, 'utf8')
}

/** Node's own `recursive` never returns if the parent exists but nothing can be created in it, as in /proc. */
const makeFolder = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolder(dirname(folder))
  await mkdir(folder, { mode: 0o711 }).catch(async (error) => {
    // Another process was faster.
    if (!(await isFolder(folder))) throw error
  })
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** A secret for an installation with the embedded database. @throws {ConfigError} */
export const readOrCreateSecret = async (
  dataDir: string,
  name: 'jwt-secret' | 'webhook-key',
): Promise<string> => {
  await makeDataDir(resolve(dataDir))
  return readOrCreate(resolve(dataDir, name), 48)
}
