import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { makeDataDir } from './data-dir.js'

/** The signing secret of an installation with the embedded database: made once, readable by its owner only. */
export const readOrCreateSecret = async (dataDir: string): Promise<string> => {
  const file = resolve(dataDir, 'jwt-secret')
  await makeDataDir(resolve(dataDir))
  await writeFile(file, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(file, 'utf8')
}
