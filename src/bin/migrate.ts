/** Applies the migrations to DATABASE_URL; `npm start` does so by itself. */
import { readConfig } from '../config.js'
import { givenUrl, onGivenDatabase } from '../db/given.js'
import { migrate } from '../db/migrate.js'
import { runCommand, say } from '../runtime/program.js'

runCommand(async (stopped) => {
  const url = givenUrl(readConfig(process.env, { needsSecrets: false }))
  await onGivenDatabase(migrate(url, stopped))
  say('The database is current.')
})
