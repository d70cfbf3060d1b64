/**
 * The user who gets everything that outlives a deleted account: a row of `users` that a migration makes. It counts in
 * sums but never as a person, and is never a member.
 */
export const DELETED_USER = '00000000-0000-0000-0000-000000000000'

/** No login of a repository host has a blank. */
export const DELETED_LOGIN = 'deleted user'
