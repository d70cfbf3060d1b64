/** Rebuilds all rollups from the activity. The service may be running. */
import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { rebuildRollups } from '../features/rollups/roll-up.js'
import { openDatabaseForCommand } from '../platform/database/command-database.js'
import { explainDatabaseErrors } from '../platform/database/external-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run rollups

  Rebuilds all rollups of the activity. The service may be running.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR.
`

runCommand(async (stopped) => {
  if (!readArguments('rollups', USAGE, {})) return
  const database = await openDatabaseForCommand(readConfig(process.env, { needsSecrets: false }), stopped)
  const days = await explainDatabaseErrors(rebuildRollups(database))
  stopped.throwIfAborted()
  print(`The rollups of ${days} ${days === 1 ? 'day' : 'days'} were rebuilt.`)
})
