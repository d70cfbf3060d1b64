import type { Config } from '../../config.js'
import { atEnd } from '../process/program.js'
import { visitEmbedded } from './embedded/visit.js'
import { onGivenDatabase } from './given.js'

/**
 * Does the work of a command in the database of DATABASE_URL, else in the embedded one, which is let go of when the
 * program ends.
 * @throws {OperatorError}
 */
export const onDatabaseOf = async <T>(
  { databaseUrl, dataDir }: Config,
  stopped: AbortSignal,
  work: (url: string) => Promise<T>,
  openEmbedded = visitEmbedded,
): Promise<T> => {
  if (databaseUrl !== undefined) return onGivenDatabase(work(databaseUrl))
  const embedded = await openEmbedded(dataDir, stopped)
  atEnd((hurry) => embedded.stop(hurry))
  return work(embedded.url)
}
