/** Applies the migrations to DATABASE_URL; `npm start` does so by itself. */
import { readConfig } from '../config.js'
import { givenUrl, onGivenDatabase } from '../platform/database/given.js'
import { migrate } from '../platform/database/migrate.js'
import { readArguments } from '../platform/process/arguments.js'
import { runCommand, say } from '../platform/process/program.js'

const USAGE = `npm run migrate

  Applies the migrations to DATABASE_URL, as every start of the service does by itself.
`

runCommand(async (stopped) => {
  if (!readArguments('migrate', USAGE, {})) return
  const url = givenUrl(readConfig(process.env, { needsSecrets: false }))
  await onGivenDatabase(migrate(url, stopped))
  say('The database is current.')
})
