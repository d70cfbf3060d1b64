import { bigint } from 'drizzle-orm/pg-core'
import { moment } from '../../platform/database/columns.js'
import { table } from '../../platform/database/table.js'

/** The backups that `npm run backup` has made of this database, so that the doctor can say how old the last one is. */
export const backups = table(
  'backups',
  {
    /** Of which moment. */
    madeAt: moment('made_at').primaryKey(),
    /** Of the file. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  { place: 'coordinator', privacyRecord: null },
)
