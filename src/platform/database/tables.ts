import { bigint } from 'drizzle-orm/pg-core'
import { moment, table } from './table.js'

/** Backups that the service or `npm run backup` has written of this database, so that the doctor can report the age of the last one. */
export const backups = table(
  'backups',
  {
    /** The moment of the backup's snapshot. */
    madeAt: moment('made_at').primaryKey(),
    /** The size of the file. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  { place: 'coordinator', privacyRecord: null },
)
