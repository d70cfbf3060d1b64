import { text, uuid } from 'drizzle-orm/pg-core'
import { moment } from '../../platform/database/columns.js'
import { table } from '../../platform/database/table.js'

/** Accounts that were deleted, as long as something of theirs is left (`features/personal-data/queries/erasures.ts`). */
export const erasures = table(
  'erasures',
  {
    userId: uuid('user_id').primaryKey(),
    /** For old entries of the audit trail without ids. */
    loginKey: text('login_key').notNull(),
    startedAt: moment('started_at').notNull().defaultNow(),
  },
  {
    people: {
      userId: {
        erasure: { by: 'the end of the erasure' },
        export: { leftOutBecause: 'the account has ended' },
      },
    },
    place: 'every node',
    privacyRecord: 'account',
  },
)
