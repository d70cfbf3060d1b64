import { bigint } from 'drizzle-orm/pg-core'
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
