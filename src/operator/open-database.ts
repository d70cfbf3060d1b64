import type { Config } from '../config.js'
import type { Database } from '../platform/database/client.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { connectToDatabaseUrl } from '../platform/database/external-database.js'
import { isSchemaCurrent } from '../platform/database/schema-state.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { onExit } from '../platform/process/program.js'

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
