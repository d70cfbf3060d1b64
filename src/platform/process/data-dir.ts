import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../../config.js'

/** Creates the folder for the embedded database and the secret. @throws {ConfigError} */
export const makeDataDir = async (folder: string): Promise<void> => {
  try {
    await makeFolder(folder)
  } catch (error) {
    throw new ConfigError([`DATA_DIR isn’t a folder and can’t be created: ${(error as Error).message}`])
  }
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(async () => {
    if ((await stat(folder)).uid !== process.getuid?.()) throw ofAnotherUser(folder)
    throw new ConfigError([
      `DATA_DIR is a folder of this user, who has no right to write to ${folder}: run chmod u+rwx on it, or set DATA_DIR to another folder`,
    ])
  })
}

const ofAnotherUser = (path: string) =>
  new ConfigError([
    `DATA_DIR belongs to another user, and this user can’t access ${path}: start the service as the user who created it, or set DATA_DIR to another folder`,
  ])

/** Reads a file; if there is none, creates it from this many random bytes, for its owner only. @throws {ConfigError} */
export const readOrCreate = async (file: string, bytes: number): Promise<string> => {
  try {
    await writeFile(file, randomBytes(bytes).toString('base64url'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFile(file, 'utf8').catch((error) => {
    throw error.code === 'EACCES' ? ofAnotherUser(file) : error
  })
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
