import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError } from './config.js'

/** Makes the folder of the embedded database and of the secret. @throws {ConfigError} */
export const makeDataDir = async (folder: string): Promise<void> => {
  try {
    await makeFolder(folder)
  } catch (error) {
    throw new ConfigError([`DATA_DIR is not a folder and cannot become one: ${(error as Error).message}`])
  }
}

/** Node's own recursion never ends where a folder cannot be made although the one above is there, as in /proc. */
const makeFolder = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolder(dirname(folder))
  await mkdir(folder, { mode: 0o711 }).catch(async (error) => {
    // Another start was faster.
    if (!(await isFolder(folder))) throw error
  })
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
