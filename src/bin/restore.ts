/** Restores a backup into an empty database, or compares it with one. */
import '../platform/process/require-node.js'
import { type Config, readConfig } from '../config.js'
import { deleteAndEraseAccount, findAccount } from '../operator/accounts.js'
import { compare } from '../operator/backup/compare.js'
import { restore } from '../operator/backup/restore.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { createEmbedded } from '../platform/database/embedded/index.js'
import { connectToDatabaseUrl } from '../platform/database/external-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run restore -- FILE [--replace DATABASE] [--keep-sessions]
npm run restore -- FILE --compare

  Restores a file of \`npm run backup\` into a database that is empty, or was only started, completely or not at all.
  If FILE is -, it's read from standard input. Everyone has to sign in again, unless you add --keep-sessions: a backup
  doesn't know which sessions have ended since.
  --replace, with the name of the database, deletes everything in it first. Stop the service before that. What is stricter in
  it is kept: deleted and disabled accounts, revoked keys and invites, paused recording, and privacy levels. The command lists
  what it keeps, and what is left to you.
  --compare changes nothing, and the service can run: it reads the whole file, and lists the tables whose number of rows has
  changed since, and what a restore would bring back.
  The command uses the database of DATABASE_URL, or if that is unset, a new embedded one in DATA_DIR.
`

const LEFT = `The database was empty, so changes after the backup are undone: deleted accounts and workspaces, revoked keys and invites, removed members,
demoted admins, paused recording, removed minutes, privacy levels, patterns, organizations and webhooks may be as they were.
docs/backup-and-upgrade.md, “After a restore”, says what to do.`

runCommand(async (stopped) => {
  const given = readArguments('restore', USAGE, { replace: '' }, 1, ['compare', 'keep-sessions'])
  if (!given) return
  const [file = ''] = given.others
  const config = readConfig(process.env, { needsSecrets: false })
  const replaced = given.options.replace || undefined
  const keepSessions = given.flags.includes('keep-sessions')
  if (given.flags.includes('compare')) {
    if (replaced || keepSessions)
      throw new OperatorError('Use --compare alone, without --replace and --keep-sessions.')
    const { version, made_at } = await withCommandDatabase(config, stopped, (url) =>
      compare(url, file, print, stopped),
    )
    print(`The backup of ${made_at} (version ${version}) is complete. Nothing was changed.`)
    return
  }
  await withCommandDatabase(
    config,
    stopped,
    async (url) => {
      const { manifest, deletedAccounts } = await restore(url, file, print, stopped, {
        replaced,
        keepSessions,
      })
      await deleteAgain({ ...config, databaseUrl: url }, config, deletedAccounts, stopped)
      print(`The backup of ${manifest.made_at} (version ${manifest.version}) is restored and checked.`)
      print(keepSessions ? 'Sessions work as they did then.' : 'Everyone has to sign in again.')
      if (replaced === undefined) print(LEFT)
    },
    createEmbedded,
  )
})

/** Those that can't be deleted stay disabled. */
const deleteAgain = async (reached: Config, config: Config, ids: string[], stopped: AbortSignal) => {
  if (ids.length === 0) return
  const database = connectToDatabaseUrl(reached)
  try {
    for (const id of ids) {
      try {
        await deleteAndEraseAccount(database, config, await findAccount(database, id), stopped)
        print(`The account ${id} is deleted again.`)
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error
        print(`The account ${id} is disabled, and couldn’t be deleted again. ${error.message}`)
      }
    }
  } finally {
    await database.close()
  }
}
