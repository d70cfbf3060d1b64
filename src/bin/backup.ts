/** Writes all data to one file. */

import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { backUp } from '../operator/backup/back-up.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, printToStderr, runCommand } from '../platform/process/program.js'
import { STANDARD } from '../platform/process/whole-file.js'

const USAGE = `npm run backup -- FILE

  Writes the whole database to FILE, while the service runs.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR.
  \`npm run restore\` restores FILE into an empty database. If FILE is -, the backup goes to standard output: it's complete
  only if the exit code is 0.
`

runCommand(async (stopped) => {
  const given = readArguments('backup', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  const writeLine = file === STANDARD ? printToStderr : print
  await withCommandDatabase(config, stopped, (url) => backUp(url, file, writeLine, stopped))
  writeLine(file === STANDARD ? 'The backup is complete.' : `The backup is complete: ${file}.`)
})
