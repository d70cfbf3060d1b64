/** Distributes the tables of DATABASE_URL, the coordinator of a Citus cluster, over its nodes; see docs/scale.md. */
import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { distribute } from '../operator/distribute.js'
import { explainDatabaseErrors, requireDatabaseUrl } from '../platform/database/external-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run distribute

  Distributes the tables of DATABASE_URL, the coordinator of a Citus cluster, over its nodes; see docs/scale.md.
`

runCommand(async (stopped) => {
  if (!readArguments('distribute', USAGE, {})) return
  const url = requireDatabaseUrl(readConfig(process.env, { needsSecrets: false }))
  await explainDatabaseErrors(distribute(url, print, stopped))
})
