import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The signing secret of an installation with the embedded database: made once, readable by its owner only. */
export const readOrCreateSecret = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, 'jwt-secret')
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  await writeFile(file, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(file, 'utf8')
}
