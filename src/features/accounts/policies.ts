/** The caller's account (a token may outlive it), and what access keys may do. */
import type { Scope } from '../../../schemas/keys.js'
import { ApiError, validationError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { lockUser, readUser, type User } from './queries/users.js'

const present = (user: User | undefined): User => {
  if (!user) throw new ApiError('token_invalid')
  return user
}

/** @throws {ApiError} `token_invalid` when there is no such account */
export const readCaller = async (db: Db, userId: string): Promise<User> => present(await readUser(db, userId))

/** Reads the caller and locks the account as `lockUser` does. @throws {ApiError} `token_invalid` */
export const lockCaller = async (tx: Db, userId: string): Promise<User> => present(await lockUser(tx, userId))

const forEditors: readonly Scope[] = ['activity:write', 'activity:read']

/**
 * An editor's key is stored in plain text in `.wakatime.cfg`, so it can't do anything else.
 * @throws {ApiError} `validation_failed`
 */
export const requireCombinable = (scopes: readonly Scope[]): void => {
  if (scopes.includes('activity:write') && !scopes.every((scope) => forEditors.includes(scope)))
    throw validationError('/body/scopes', '`activity:write` can be combined with `activity:read` only')
}
