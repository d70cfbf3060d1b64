/** Finds, signs out, disables, enables, exports or deletes an account for the operator, and revokes access keys. */
import '../platform/process/require-node.js'
import { text } from 'node:stream/consumers'
import { type Config, readConfig } from '../config.js'
import type { User } from '../features/accounts/queries/users.js'
import {
  deleteAndEraseAccount,
  describeAccount,
  disableAccount,
  enableAccount,
  exportAccountOf,
  findAccount,
  signOut,
} from '../operator/accounts.js'
import { describeKeys, revokeKeyOf } from '../operator/keys.js'
import { writeExport } from '../operator/write-export.js'
import type { Database } from '../platform/database/client.js'
import { openDatabaseForCommand } from '../platform/database/command-database.js'
import { type Count, readArguments, requireCommand } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'
import { STANDARD } from '../platform/process/whole-file.js'

const USAGE = `npm run users -- find LOGIN
npm run users -- sign-out LOGIN
npm run users -- disable LOGIN
npm run users -- enable LOGIN
npm run users -- export LOGIN [FILE]
npm run users -- delete LOGIN --yes
npm run users -- keys LOGIN
npm run users -- revoke-key KEY|ID|-

  find        shows an account and its data
  sign-out    ends all sessions of an account; access keys still work
  disable     also rejects sign-ins and access keys, until the account is enabled
  enable      accepts sign-ins and access keys again
  export      writes what GET /api/me/export returns to FILE, or to standard output
  delete      deletes an account, as DELETE /api/me does
  --yes       confirms the deletion
  keys        lists the access keys that an account created, including workspace keys
  revoke-key  revokes an access key, given by itself, its id, or - for standard input, and says whose it was

  LOGIN can also be the account’s id, in this service or on the repository host.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR. The service may be
  running, and applies changes within 5 seconds. Admins see changes in the audit trail, as made by the operator.
  To delete a person who was removed from a workspace, set JWT_SECRETS as for the service.
`

interface Call {
  database: Database
  config: Config
  /** The first argument. */
  given: string
  file: string
  isSure: boolean
  stopped: AbortSignal
}

type AccountCall = Call & { user: User }

/** Runs a command whose first argument is a LOGIN. */
const onAccount = (run: (call: AccountCall) => Promise<void>) => async (call: Call) =>
  run({ ...call, user: await findAccount(call.database, call.given) })

const describe = async ({ database, user }: AccountCall) => {
  for (const line of await describeAccount(database, user)) print(line)
}

const commands: Record<string, { takes: Count; run: (call: Call) => Promise<void> }> = {
  find: { takes: 1, run: onAccount(describe) },
  'sign-out': {
    takes: 1,
    run: onAccount(async ({ database, user }) => {
      await signOut(database, user)
      print(`All sessions of ${user.login} have ended.`)
    }),
  },
  disable: {
    takes: 1,
    run: onAccount(async ({ database, user }) => {
      const isChanged = await disableAccount(database, user)
      print(`The account ${user.login} ${isChanged ? 'is' : 'was already'} disabled.`)
    }),
  },
  enable: {
    takes: 1,
    run: onAccount(async ({ database, user }) => {
      const isChanged = await enableAccount(database, user)
      print(`The account ${user.login} ${isChanged ? 'is enabled' : 'wasn’t disabled'}.`)
    }),
  },
  export: {
    takes: [1, 2],
    run: onAccount(async ({ database, config, user, file, stopped }) => {
      await writeExport(await exportAccountOf(database, config, user), file, stopped)
      if (file !== STANDARD) print(`The data of ${user.login} is in ${file}.`)
    }),
  },
  delete: {
    takes: 1,
    run: onAccount(async (call) => {
      await describe(call)
      if (!call.isSure) throw new OperatorError('Nothing was deleted. Add --yes to delete all of this.')
      await deleteAndEraseAccount(call.database, call.config, call.user, call.stopped)
      print('The account is deleted. The service removes the remaining rows within minutes, once it runs.')
      print(
        `Backups still contain it. Keep the id ${call.user.id}, and run "users find" with it after a restore.`,
      )
    }),
  },
  keys: {
    takes: 1,
    run: onAccount(async ({ database, user }) => {
      for (const line of await describeKeys(database, user)) print(line)
    }),
  },
  'revoke-key': {
    takes: 1,
    run: async ({ database, given }) => {
      print(await revokeKeyOf(database, given === '-' ? await text(process.stdin) : given))
    },
  },
}

runCommand(async (stopped) => {
  const given = readArguments('users', USAGE, {}, [1, 3], ['yes'])
  if (!given) return
  const [name = '', ...rest] = given.others
  const command = requireCommand('users', commands, name, rest)
  const [first = '', file = STANDARD] = rest
  const config = readConfig(process.env, { needsSecrets: false })
  const database = await openDatabaseForCommand(config, stopped)
  await command.run({ database, config, given: first, file, isSure: given.flags.length > 0, stopped })
})
