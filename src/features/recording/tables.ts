import { boolean, jsonb, text, uuid } from 'drizzle-orm/pg-core'
import { table } from '../../platform/database/table.js'
import { users } from '../accounts/tables.js'

/** Recording preferences. Without a row, everything is recorded. */
export const recordings = table(
  'recordings',
  {
    userId: uuid('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    paused: boolean('paused').notNull(),
    /** Patterns, as given. */
    reposOff: text('repos_off').array().notNull(),
    /** The patterns of `reposOff` as escaped LIKE patterns of `owner/repo` in lower case. */
    reposOffLike: text('repos_off_like').array().notNull(),
    /** `{from, to, weekdays}` in the person's time zone; null: all. */
    hours: jsonb('hours'),
  },
  {
    people: { userId: { erasure: 'delete', export: 'recording' } },
    place: 'every node',
    routedBy: 'their person',
    privacyRecord: 'recording',
    label: 'recording preferences',
  },
)
