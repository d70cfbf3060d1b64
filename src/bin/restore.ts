/** Restores a backup into an empty database, or compares it with one. */
import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { compare } from '../operator/backup/compare.js'
import { restore } from '../operator/backup/restore.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { createEmbedded } from '../platform/database/embedded/index.js'
import { readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run restore -- FILE [--replace DATABASE]
npm run restore -- FILE --compare

  Restores a file of \`npm run backup\` into a database that is empty, or was only started, completely or not at all.
  If FILE is -, it's read from standard input. --replace, with the name of the database, deletes everything in it first.
  Stop the service before that.
  --compare changes nothing, and the service can run: it reads the whole file, and lists the tables whose number of rows has
  changed since, and what a restore would bring back.
  The command uses the database of DATABASE_URL, or if that is unset, a new embedded one in DATA_DIR.
`

runCommand(async (stopped) => {
  const given = readArguments('restore', USAGE, { replace: '' }, 1, ['compare'])
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  if (given.flags.length > 0) {
    if (given.options.replace) throw new OperatorError('Use --compare or --replace, not both.')
    const { version, made_at } = await withCommandDatabase(config, stopped, (url) =>
      compare(url, file, print, stopped),
    )
    print(`The backup of ${made_at} (version ${version}) is complete. Nothing was changed.`)
    return
  }
  const { version, made_at } = await withCommandDatabase(
    config,
    stopped,
    (url) => restore(url, file, print, stopped, given.options.replace || undefined),
    createEmbedded,
  )
  print(`The backup of ${made_at} (version ${version}) is restored and checked.`)
})
