import { bigint, index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { daysAgo } from './limited-delete.js'
import { moment, table } from './table.js'

/** Backups of this database by the service or `npm run backup`, so that the doctor can report the last one's age. */
export const backups = table(
  'backups',
  {
    /** The time of the backup's snapshot. */
    madeAt: moment('made_at').primaryKey(),
    /** The file's size. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  { place: 'coordinator', privacyRecord: null },
)

/** Units of background work that are being done or have failed (`attempts.ts`). */
export const attempts = table(
  'attempts',
  {
    job: text('job').notNull(),
    /** The ids of the unit's workspace or account, with its day. */
    unit: text('unit').notNull(),
    failures: integer('failures').notNull(),
    /** When it may be tried again. */
    nextAt: moment('next_at').notNull(),
  },
  {
    expiry: { task: 'old attempts', sql: `next_at < ${daysAgo(7)}` },
    place: 'coordinator',
    privacyRecord: null,
  },
  (t) => [primaryKey({ columns: [t.job, t.unit] }), index('attempts_by_age').on(t.nextAt)],
)
