/** Applies the migrations to DATABASE_URL; `npm start` does so by itself. */
import { readConfig } from '../config.js'
import { givenUrl, onGivenDatabase } from '../db/given.js'
import { migrate } from '../db/migrate.js'
import { readArguments } from '../runtime/arguments.js'
import { runCommand, say } from '../runtime/program.js'

const USAGE = `npm run migrate

  Applies the migrations to DATABASE_URL, as every start of the service does by itself.
`

runCommand(async (stopped) => {
  if (!readArguments('migrate', USAGE, {})) return
  const url = givenUrl(readConfig(process.env, { needsSecrets: false }))
  await onGivenDatabase(migrate(url, stopped))
  say('The database is current.')
})
