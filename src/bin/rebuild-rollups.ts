/** Rebuilds all rollups from the activity in DATABASE_URL. The service may be running. */
import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { rebuildRollups } from '../features/rollups/roll-up.js'
import { connectToDatabaseUrl, explainDatabaseErrors } from '../platform/database/external-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { onExit, print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run rollups

  Rebuilds all rollups of the activity in DATABASE_URL. The service may be running.
`

runCommand(async (stopped) => {
  if (!readArguments('rollups', USAGE, {})) return
  const database = connectToDatabaseUrl(readConfig(process.env, { needsSecrets: false }))
  onExit(() => database.close())
  const days = await explainDatabaseErrors(rebuildRollups(database))
  stopped.throwIfAborted()
  print(`The rollups of ${days} ${days === 1 ? 'day' : 'days'} were rebuilt.`)
})
