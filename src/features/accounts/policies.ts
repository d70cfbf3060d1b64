/** The caller's account. A token may outlive it. */
import { ApiError } from '../../errors.js'
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
