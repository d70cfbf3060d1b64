import { resolve } from 'node:path'
import type { Config } from '../../config.js'
import { codeOf } from '../process/code-of.js'
import { OperatorError } from '../process/operator-error.js'
import { onExit } from '../process/program.js'
import type { Database } from './client.js'
import { openEmbedded } from './embedded/index.js'
import { connectToDatabaseUrl, explainDatabaseErrors } from './external-database.js'
import { messageOf } from './failures.js'
import { isSchemaCurrent } from './migrations.js'

/**
 * Runs a command's work on the database of DATABASE_URL, or else on the embedded one, which is released when the
 * program ends.
 * @throws {OperatorError}
 */
export const withCommandDatabase = async <T>(
  { databaseUrl, dataDir }: Config,
  stopped: AbortSignal,
  work: (url: string) => Promise<T>,
  open = openEmbedded,
): Promise<T> => {
  if (databaseUrl !== undefined)
    return explainDatabaseErrors(explainFullDisk(work(databaseUrl), 'the database’s server'))
  const embedded = await open(dataDir, stopped)
  onExit((forceSignal) => embedded.stop(forceSignal))
  return explainFullDisk(work(embedded.url), `DATA_DIR (${resolve(dataDir)})`)
}

const DISK_FULL = '53100'

const explainFullDisk = async <T>(work: Promise<T>, place: string): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) !== DISK_FULL) throw error
    throw new OperatorError(
      `The disk of ${place} is full: ${messageOf(error)}. Free space there, and start again.`,
    )
  }
}

/** Opens the database for a command that runs alongside the service. @throws {OperatorError} */
export const openDatabaseForCommand = (config: Config, stopped: AbortSignal): Promise<Database> =>
  withCommandDatabase(config, stopped, async (databaseUrl) => {
    const database = connectToDatabaseUrl({ ...config, databaseUrl })
    onExit(() => database.close())
    if (!(await isSchemaCurrent(database.read)))
      throw new OperatorError(
        'The schema doesn’t match this version: start the service, or run `npm run migrate`, first.',
      )
    return database
  })
