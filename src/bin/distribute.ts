/** Spreads the tables of DATABASE_URL, the coordinator of a Citus cluster, over its nodes; see docs/scale.md. */
import { readConfig } from '../config.js'
import { distribute } from '../operator/distribute.js'
import { givenUrl, onGivenDatabase } from '../platform/database/given.js'
import { readArguments } from '../platform/process/arguments.js'
import { runCommand, say } from '../platform/process/program.js'

const USAGE = `npm run distribute

  Spreads the tables of DATABASE_URL, the coordinator of a Citus cluster, over its nodes; see docs/scale.md.
`

runCommand(async (stopped) => {
  if (!readArguments('distribute', USAGE, {})) return
  const url = givenUrl(readConfig(process.env, { needsSecrets: false }))
  await onGivenDatabase(distribute(url, say, stopped))
})
