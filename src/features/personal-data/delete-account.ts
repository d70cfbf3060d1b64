import { ApiError, invalid } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { inTurns } from '../../platform/process/in-turns.js'
import {
  DELETED_LOGIN,
  DELETED_USER,
  lockCaller,
  type PersonKey,
  revokeAllTokens,
} from '../accounts/index.js'
import { takeRollupTurn } from '../activity/index.js'
import { givesPro, readSubscriptionStatus, unlinkCustomers } from '../billing/index.js'
import { hideWorkspace, insertAuditEntry, keepRemovals, revokeAllInvitesOf } from '../workspaces/index.js'
import { beginErasure, eraseSome, listErasures, lockPlaces } from './queries/erasures.js'

const deletedUser = { id: DELETED_USER, login: DELETED_LOGIN }

/** A workspace from which the person was removed may be removed itself meanwhile. */
const options = { rowsMayConflict: true }

/**
 * Ends an account: nobody is named by anything from then on. What is left of it is removed by `eraseAccounts`.
 * @param key recognises the person in removals that outlive the account
 * @param confirm has to be the login
 * @returns the generation of tokens that will never be: all that there are are dead
 * @throws {ApiError} `token_invalid` when there is no such account, `validation_failed`, `subscription_active`,
 * `last_admin` for workspaces of others
 */
export const deleteAccount = (
  database: Database,
  key: PersonKey | undefined,
  userId: string,
  confirm: string,
): Promise<number> =>
  database.transaction(async (tx) => {
    const user = await lockCaller(tx, userId)
    if (confirm.toLowerCase() !== user.login.toLowerCase())
      throw invalid('/body/confirm', `must be your login, ${user.login}`)
    if (givesPro(await readSubscriptionStatus(tx, userId))) throw new ApiError('subscription_active')
    const places = await lockPlaces(tx, userId)
    const left = places.filter(({ isAlone }) => !isAlone)
    const headless = left.filter(({ role, hasOtherAdmin }) => role === 'admin' && !hasOtherAdmin)
    if (headless.length > 0)
      throw new ApiError('last_admin', { workspaces: headless.map(({ id, name }) => ({ id, name })) })
    await Promise.all(places.filter(({ isAlone }) => isAlone).map(({ id }) => hideWorkspace(tx, id)))
    // Before the memberships, for the reason that `withdrawInvites` has.
    await revokeAllInvitesOf(tx, userId)
    await Promise.all(
      left.map(({ id, role }) =>
        insertAuditEntry(tx, {
          workspaceId: id,
          actor: deletedUser,
          action: 'member.left',
          target: deletedUser,
          details: { role },
        }),
      ),
    )
    // With the roles locked, so that a removal under way is among them.
    await keepRemovals(tx, user, key)
    await unlinkCustomers(tx, userId)
    const generation = await revokeAllTokens(tx, userId)
    if (generation === undefined) throw new Error('The user is locked and there')
    await beginErasure(tx, userId, user.login.toLowerCase())
    return generation
  }, options)

/** The most rows of one step; each is a transaction of its own, in the background. */
const ROWS = 2_000

/**
 * Goes on with erasing what is left of deleted accounts, a step of each in turn, and stops where another instance is at it
 * or rolls up.
 * @throws {AggregateError} naming the accounts whose erasure failed; the others went on
 */
export const eraseAccounts = (database: Database, stop?: AbortSignal): Promise<void> =>
  inTurns({
    list: async () =>
      (await listErasures(database.read)).map((erasure) => ({ ...erasure, id: erasure.userId })),
    step: (erasure) =>
      database.transaction(async (tx) => (await takeRollupTurn(tx)) && (await eraseSome(tx, erasure, ROWS)), {
        background: true,
      }),
    isStopped: () => stop?.aborted === true,
  })
