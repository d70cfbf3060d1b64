/**
 * The user who gets everything that outlives a deleted account. A migration inserts the row. It counts toward sums, but
 * never as a person or a member.
 */
export const DELETED_USER = '00000000-0000-0000-0000-000000000000'

/** Repository-host logins never contain a space. */
export const DELETED_LOGIN = 'deleted user'
