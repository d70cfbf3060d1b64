import { resolve } from 'node:path'
import { makeDataDir, readOrCreate } from './data-dir.js'

/** A secret of an installation with the embedded database. @throws {ConfigError} */
export const readOrCreateSecret = async (
  dataDir: string,
  name: 'jwt-secret' | 'webhook-key',
): Promise<string> => {
  await makeDataDir(resolve(dataDir))
  return readOrCreate(resolve(dataDir, name), 48)
}
