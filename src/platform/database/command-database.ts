import type { Config } from '../../config.js'
import { onExit } from '../process/program.js'
import { openEmbedded } from './embedded/open.js'
import { explainDatabaseErrors } from './external-database.js'

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
  if (databaseUrl !== undefined) return explainDatabaseErrors(work(databaseUrl))
  const embedded = await open(dataDir, stopped)
  onExit((forceSignal) => embedded.stop(forceSignal))
  return work(embedded.url)
}
