/** Writes all data to one file. */

import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { backUp } from '../operator/backup/back-up.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run backup -- FILE

  Writes the whole database to FILE, while the service runs.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR.
  \`npm run restore\` restores FILE into an empty database.
`

runCommand(async (stopped) => {
  const given = readArguments('backup', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  await withCommandDatabase(config, stopped, (url) => backUp(url, file, print, stopped))
  print(`The backup is complete: ${file}.`)
})
