/** The operator's commands for accounts. Changes appear in the audit trails of the person's workspaces. */
import type { Config } from '../config.js'
import { lockCaller, personKeysOf } from '../features/accounts/index.js'
import { findUsers, setDisabled, type User } from '../features/accounts/queries/users.js'
import { readSubscriptionStatus } from '../features/billing/index.js'
import { deleteAccount, eraseAccounts } from '../features/personal-data/delete-account.js'
import { exportAccount } from '../features/personal-data/export-account.js'
import { countRowsOfPerson } from '../features/personal-data/queries/row-counts.js'
import { readProfile } from '../features/personal-data/read-profile.js'
import { revokeAllTokens } from '../features/sessions/index.js'
import { insertAuditEntries, OPERATOR_ACTOR } from '../features/workspaces/queries/audit.js'
import { listWorkspacesOf } from '../features/workspaces/queries/workspaces.js'
import type { Database, Db } from '../platform/database/client.js'
import { readOrCreateSecret } from '../platform/process/data-dir.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { toTimestamp } from '../platform/time/clock.js'
import { explainFailure, printable } from './explain-failure.js'

/** @param name a login, or an id from the service or the repository host. @throws {OperatorError} */
export const findAccount = async ({ read }: Database, name: string): Promise<User> => {
  const [user, ...others] = await findUsers(read, name)
  if (!user) throw new OperatorError(`No account has the login or id ${printable(name)}.`)
  if (others.length === 0) return user
  const ids = [user, ...others].map(({ id, login }) => `${login}, id ${id}`).join('; ')
  throw new OperatorError(`${name} is the login of one account and the id of another: ${ids}.`)
}

/** An account and its data, as lines. */
export const describeAccount = async ({ read }: Database, user: User): Promise<string[]> => {
  const { id, login, repohostId, disabledAt } = user
  const [workspaces, status, rows] = await Promise.all([
    listWorkspacesOf(read, id),
    readSubscriptionStatus(read, id),
    countRowsOfPerson(read, id),
  ])
  return [
    `${login}, id ${id}, id on the host ${repohostId}, subscription ${status}`,
    ...(disabledAt === null ? [] : [`  disabled since ${toTimestamp(disabledAt)}`]),
    ...workspaces.map(
      ({ name, id, role, personal, member_count }) =>
        `  ${role} of ${printable(name)}, ${id}, ${personal ? 'personal' : `${member_count} ${member_count === 1 ? 'member' : 'members'}`}`,
    ),
    ...rows.map(({ label, rows: total }) => `  ${label}: ${total}`),
  ]
}

/** Adds an entry about the person to the audit trail of each of their workspaces. */
const record = async (tx: Db, person: User, action: string): Promise<void> => {
  const workspaces = await listWorkspacesOf(tx, person.id)
  await insertAuditEntries(
    tx,
    workspaces.map(({ id }) => ({ workspaceId: id, actor: OPERATOR_ACTOR, action, target: person })),
  )
}

/** @param work runs on the locked account. @returns whether it changed anything */
const changeAccount = (
  database: Database,
  { id }: User,
  action: string,
  work: (tx: Db) => Promise<boolean>,
): Promise<boolean> =>
  explainFailure(
    database.transaction(
      async (tx) => {
        const person = await lockCaller(tx, id)
        if (!(await work(tx))) return false
        await record(tx, person, action)
        return true
      },
      // A workspace may be deleted in the meantime.
      { rowsCanConflict: true },
    ),
  )

/** Ends all sessions. Access keys stay. */
export const signOut = (database: Database, user: User): Promise<boolean> =>
  changeAccount(
    database,
    user,
    'member.signed_out',
    async (tx) => (await revokeAllTokens(tx, user.id)) !== undefined,
  )

/** Ends all sessions, and rejects sign-ins and access keys. @returns false if the account was disabled before */
export const disableAccount = (database: Database, user: User): Promise<boolean> =>
  changeAccount(database, user, 'member.disabled', async (tx) => {
    if (!(await setDisabled(tx, user.id, true))) return false
    await revokeAllTokens(tx, user.id)
    return true
  })

/** Accepts sign-ins and access keys again. @returns false if the account wasn't disabled */
export const enableAccount = (database: Database, user: User): Promise<boolean> =>
  changeAccount(database, user, 'member.enabled', (tx) => setDisabled(tx, user.id, false))

/** Returns the same as `GET /api/me/export`. */
export const exportAccountOf = async (
  database: Database,
  config: Config,
  { id }: User,
): Promise<AsyncGenerator<string>> =>
  exportAccount(database, await explainFailure(readProfile(database, config, id)))

/** The service's secrets. Empty with DATABASE_URL but without JWT_SECRETS. */
const secretsOf = async ({ jwtSecrets, databaseUrl, dataDir }: Config): Promise<string[]> =>
  jwtSecrets.length > 0 || databaseUrl !== undefined
    ? jwtSecrets
    : [await readOrCreateSecret(dataDir, 'jwt-secret')]

/** Deletes an account as `DELETE /api/me` does, and erases everything that can be erased now. */
export const deleteAndEraseAccount = async (
  database: Database,
  config: Config,
  { id, login }: User,
  stopped: AbortSignal,
): Promise<void> => {
  const [personKey] = personKeysOf(await secretsOf(config))
  await explainFailure(deleteAccount(database, personKey, id, login, OPERATOR_ACTOR))
  await eraseAccounts(database, stopped)
  stopped.throwIfAborted()
}
