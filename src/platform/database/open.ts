import type { Config } from '../../config.js'
import type { Meter } from '../metrics/meter.js'
import { connect, type Database, type DatabaseOptions } from './client.js'

interface Log {
  warn(fields: object, text: string): void
  info(text: string): void
}

/** The database of the configuration, with its replica if there is one. `url` is known only once the embedded one runs. */
export const openDatabase = async (
  { databasePoolSize, databasePrepare, databaseReplicaUrl }: Config,
  url: string,
  log: Log,
  meter: Meter,
  options: Pick<DatabaseOptions, 'waitMs'> = {},
): Promise<Database> => {
  const database = connect({
    ...options,
    url,
    poolSize: databasePoolSize,
    prepare: databasePrepare,
    meter,
    replica:
      databaseReplicaUrl === undefined
        ? undefined
        : {
            url: databaseReplicaUrl,
            events: {
              onLost: (reason) =>
                log.warn({ err: reason }, 'the replica is not used: reads go to the primary'),
              onRestored: () => log.info('the replica is used for reads again'),
            },
          },
  })
  await database.replica?.start()
  return database
}
