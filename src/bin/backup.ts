/** Writes all data into one file. */

import { readConfig } from '../config.js'
import { backUp } from '../operator/backup/back-up.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run backup -- FILE

  Writes everything that is in the database into FILE, while the service runs.
  DATABASE_URL says which database; without it, it is the embedded one in DATA_DIR.
  \`npm run restore\` puts it into an empty one.
`

runCommand(async (stopped) => {
  const given = readArguments('backup', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  await withCommandDatabase(config, stopped, (url) => backUp(url, file, print, stopped))
  print(`The backup is complete: ${file}.`)
})
