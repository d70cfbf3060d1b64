import { ApiError, validationError } from '../../errors.js'
import { attempt, listWaiting } from '../../platform/database/attempts.js'
import type { Database } from '../../platform/database/client.js'
import { roundRobin } from '../../platform/process/round-robin.js'
import {
  beginErasure,
  DELETED_LOGIN,
  DELETED_USER,
  listErasures,
  lockCaller,
  type PersonKey,
  type User,
} from '../accounts/index.js'
import { includesPro, readSubscriptionStatus, unlinkCustomers } from '../billing/index.js'
import { rollUpDays, tryLockRollup } from '../rollups/index.js'
import { revokeAllTokens } from '../sessions/index.js'
import { leaveAllWorkspaces } from '../workspaces/index.js'
import { eraseBatch } from './queries/erasures.js'

const deletedUser = { id: DELETED_USER, login: DELETED_LOGIN }

/** A workspace that the person was removed from may itself be deleted in the meantime. */
const options = { rowsCanConflict: true }

/**
 * Closes an account, so that it no longer names a person. `eraseAccounts` removes the remaining rows.
 * @param key recognizes the person in removals that outlive the account
 * @param confirm must be the login
 * @param actor the operator, if not the person themselves
 * @returns a generation above that of every token, so that all of them are invalid
 * @throws {ApiError} `token_invalid` if there's no such account, `validation_failed`, `subscription_active`,
 * `last_admin` for workspaces of others
 */
export const deleteAccount = (
  database: Database,
  key: PersonKey | undefined,
  userId: string,
  confirm: string,
  actor: Pick<User, 'id' | 'login'> = deletedUser,
): Promise<number> =>
  database.transaction(async (tx) => {
    const user = await lockCaller(tx, userId)
    if (confirm.toLowerCase() !== user.login.toLowerCase())
      throw validationError('/body/confirm', `must be your login, ${user.login}`)
    if (includesPro(await readSubscriptionStatus(tx, userId))) throw new ApiError('subscription_active')
    await leaveAllWorkspaces(tx, user, key, actor)
    await unlinkCustomers(tx, userId)
    const generation = await revokeAllTokens(tx, userId)
    if (generation === undefined) throw new Error('The user is locked and there')
    await beginErasure(tx, userId, user.login.toLowerCase())
    return generation
  }, options)

/** The maximum rows per step, which is one background transaction. */
const BATCH_ROWS = 2_000

/**
 * Continues to erase deleted accounts, one step of each in turn, and stops if another instance is doing so
 * or rolls up.
 * @throws {AggregateError} naming the accounts whose erasure failed; the others continued
 */
export const eraseAccounts = (database: Database, stop?: AbortSignal): Promise<void> =>
  roundRobin({
    list: async () => {
      const waiting = await listWaiting(database.read, 'erasures')
      const erasures = await listErasures(database.read)
      return erasures
        .map((erasure) => ({ ...erasure, id: erasure.userId }))
        .filter(({ id }) => !waiting.has(id))
    },
    step: async (erasure) => {
      const changed = await attempt(database, 'erasures', erasure.userId, async (tx, begin) => {
        if (!(await tryLockRollup(tx))) return undefined
        await begin()
        return (await eraseBatch(tx, erasure, BATCH_ROWS)) ?? 'nothing'
      })
      if (changed === undefined || changed === 'nothing') return false
      // At once, because a dashboard reads the activity of these days until then.
      await rollUpDays(database, changed)
      return true
    },
    isStopped: () => stop?.aborted === true,
  })
