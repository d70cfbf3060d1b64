/** Finds somebody's account, or deletes it, for the operator who is asked to. */
import { type Config, readConfig } from '../config.js'
import { ApiError } from '../errors.js'
import { personKeysOf } from '../features/accounts/person-keys.js'
import { findUser } from '../features/accounts/queries/users.js'
import { readSubscriptionStatus } from '../features/billing/queries.js'
import { deleteAccount, eraseAccounts } from '../features/personal-data/delete-account.js'
import { countRowsOf } from '../features/personal-data/queries/erasures.js'
import { listWorkspacesOf } from '../features/workspaces/queries/workspaces.js'
import type { Database } from '../platform/database/client.js'
import { connectToGiven } from '../platform/database/given.js'
import { onDatabaseOf } from '../platform/database/of-command.js'
import { isSchemaCurrent } from '../platform/database/schema-state.js'
import { readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { atEnd, runCommand, say } from '../platform/process/program.js'
import { readOrCreateSecret } from '../platform/process/secret.js'

const USAGE = `npm run users -- find LOGIN
npm run users -- delete LOGIN --yes

  find    says what there is of somebody
  delete  ends the account, as DELETE /api/me does
  --yes   really

  DATABASE_URL says in which database; without it, it is the embedded one in DATA_DIR. The service may be running.
  JWT_SECRETS has to be that of the service if the person was removed from a workspace.
`

const open = (config: Config, stopped: AbortSignal): Promise<Database> =>
  onDatabaseOf(config, stopped, async (databaseUrl) => {
    const database = connectToGiven({ ...config, databaseUrl })
    atEnd(() => database.close())
    if (!(await isSchemaCurrent(database.read)))
      throw new OperatorError(
        'The schema is not that of this version: start the service, or run `npm run migrate`, first.',
      )
    return database
  })

const describe = async ({ read }: Database, { id, login }: { id: string; login: string }) => {
  const [workspaces, status, rows] = await Promise.all([
    listWorkspacesOf(read, id),
    readSubscriptionStatus(read, id),
    countRowsOf(read, id),
  ])
  say(`${login}, id ${id}, subscription ${status}`)
  for (const { name, id, role, personal, member_count } of workspaces)
    say(`  ${role} of ${name}, ${id}, ${personal ? 'personal' : `${member_count} in it`}`)
  for (const { name, rows: total } of rows) say(`  ${total} of ${name}`)
}

/** Those of the service. None where the database is a given one and JWT_SECRETS is not set. */
const secretsOf = async ({ jwtSecrets, databaseUrl, dataDir }: Config): Promise<string[]> =>
  jwtSecrets.length > 0 || databaseUrl !== undefined ? jwtSecrets : [await readOrCreateSecret(dataDir)]

/** Why not, in words for somebody else than the person. */
const toOperatorError = (error: unknown): unknown => {
  if (!(error instanceof ApiError)) return error
  if (error.code === 'last_admin') {
    const places = error.extras.workspaces?.map(({ id, name }) => `\n  ${name}, ${id}`).join('')
    return new OperatorError(`These workspaces need another admin first:${places}`)
  }
  if (error.code === 'subscription_active')
    return new OperatorError('A subscription is still running: end it first, at the billing provider')
  return new OperatorError(error.message)
}

runCommand(async (stopped) => {
  const given = readArguments('users', USAGE, {}, 2, ['yes'])
  if (!given) return
  const [command = '', login = ''] = given.others
  if (command !== 'find' && command !== 'delete')
    throw new OperatorError(`There is no command ${command}; see \`npm run users -- --help\`.`)
  const config = readConfig(process.env, { needsSecrets: false })
  const database = await open(config, stopped)
  const user = await findUser(database.read, login)
  if (!user) throw new OperatorError(`There is nobody with the login ${login}.`)
  await describe(database, user)
  if (command === 'find') return
  if (given.flags.length === 0)
    throw new OperatorError('Nothing was deleted. Say --yes to delete all of this.')
  try {
    const [personKey] = personKeysOf(await secretsOf(config))
    await deleteAccount(database, personKey, user.id, user.login)
  } catch (error) {
    throw toOperatorError(error)
  }
  await eraseAccounts(database, stopped)
  stopped.throwIfAborted()
  say('The account is deleted. The service removes the last traces within some minutes, once it runs.')
})
