/** Applies the migrations to DATABASE_URL, as `npm start` does. */
import { readConfig } from '../config.js'
import { explainDatabaseErrors, requireDatabaseUrl } from '../platform/database/external-database.js'
import { migrate, newestMigration } from '../platform/database/migrate.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run migrate

  Applies the migrations to DATABASE_URL, as every start of the service does automatically.
`

runCommand(async (stopped) => {
  if (!readArguments('migrate', USAGE, {})) return
  const url = requireDatabaseUrl(readConfig(process.env, { needsSecrets: false }))
  await explainDatabaseErrors(migrate(url, stopped, print))
  print(`The database is current: ${newestMigration.tag}.`)
})
