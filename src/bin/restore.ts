/** Puts a backup into an empty database. */

import { readConfig } from '../config.js'
import { restore } from '../operator/backup/restore.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { createEmbedded } from '../platform/database/embedded/open.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run restore -- FILE

  Puts what \`npm run backup\` wrote into an empty database: all of it, or nothing.
  DATABASE_URL says which; without it, it is the embedded one in DATA_DIR, which must be new.
`

runCommand(async (stopped) => {
  const given = readArguments('restore', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  const { version, made_at } = await withCommandDatabase(
    config,
    stopped,
    (url) => restore(url, file, print, stopped),
    createEmbedded,
  )
  print(`The backup of ${made_at} (version ${version}) is restored and checked.`)
})
