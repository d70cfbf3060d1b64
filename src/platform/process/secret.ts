import { resolve } from 'node:path'
import { makeDataDir, readOrCreate } from './data-dir.js'

/** The signing secret of an installation with the embedded database. @throws {ConfigError} */
export const readOrCreateSecret = async (dataDir: string): Promise<string> => {
  await makeDataDir(resolve(dataDir))
  return readOrCreate(resolve(dataDir, 'jwt-secret'), 48)
}
