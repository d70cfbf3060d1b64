/**
 * The numbers of our advisory locks, all in one place because they share one space in a database: two uses of one number
 * would wait for each other for ever.
 */
export const locks = {
  /** Held by the service that owns an embedded cluster, for as long as it lives. */
  owner: 7_318_214_901,
  /** Held while the schema is migrated. */
  migration: 7_318_214_902,
  /** Held by the one step of housekeeping that is under way. */
  housekeeping: 7_318_214_903,
  /** Held while days are rolled up. */
  rollup: 7_318_214_904,
} as const

/** The same for locks of two numbers, which have a space of their own; the second says whose it is. */
export const locksOfUsers = {
  /** Held while workspaces of a user are counted and then become more. */
  workspaces: 1,
} as const

/** Of two numbers as well, and in the same space. */
export const locksOfWorkspaces = {
  /** Held while settings that have become larger are counted. */
  room: 2,
  /** Held while a workspace's administration changes. */
  administration: 4,
  /** Shared by those who rely on a role; held alone while roles change. */
  roles: 3,
} as const
