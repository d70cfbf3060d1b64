/** Spreads the tables of DATABASE_URL, the coordinator of a Citus cluster, over its nodes; see docs/scale.md. */
import { readConfig } from '../config.js'
import { distribute } from '../db/distribute.js'
import { givenUrl, onGivenDatabase } from '../db/given.js'
import { runCommand, say } from '../runtime/program.js'

runCommand(async (stopped) => {
  const url = givenUrl(readConfig(process.env, { needsSecrets: false }))
  await onGivenDatabase(distribute(url, say, stopped))
})
