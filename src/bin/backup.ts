/** Writes all data into one file. */

import { readConfig } from '../config.js'
import { backUp } from '../operator/backup/back-up.js'
import { onDatabaseOf } from '../platform/database/of-command.js'
import { readArguments } from '../platform/process/arguments.js'
import { runCommand, say } from '../platform/process/program.js'

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
  await onDatabaseOf(config, stopped, (url) => backUp(url, file, say, stopped))
  say(`All of it is in ${file}.`)
})
