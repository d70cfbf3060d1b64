/** Makes all rollups of activity anew, from the activity in DATABASE_URL; the service may be running. */
import { readConfig } from '../config.js'
import { rebuildRollups } from '../features/activity/roll-up.js'
import { connectToGiven, onGivenDatabase } from '../platform/database/given.js'
import { readArguments } from '../platform/process/arguments.js'
import { atEnd, runCommand, say } from '../platform/process/program.js'

const USAGE = `npm run rollups

  Makes all rollups of activity in DATABASE_URL anew; the service may be running.
`

runCommand(async (stopped) => {
  if (!readArguments('rollups', USAGE, {})) return
  const database = connectToGiven(readConfig(process.env, { needsSecrets: false }))
  atEnd(() => database.close())
  const days = await onGivenDatabase(rebuildRollups(database))
  stopped.throwIfAborted()
  say(`The rollups of ${days} days are new.`)
})
