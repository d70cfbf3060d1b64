/** Brings a database to this version: its schema, and activity of version 1.0.0. */
import { copyPreviousActivity } from './features/previous/copy.js'
import { connect } from './platform/database/client.js'
import { migrate } from './platform/database/migrate.js'
import type { WriteLine } from './platform/database/migration-runner.js'
import { findWriteFault } from './platform/database/writability.js'

/** How often progress is told. */
const ROWS_PER_LINE = 100_000

/** As `migrate`, and then copies. An interrupted copy goes on at the next start, and a standby’s once it is promoted. */
export const upgrade = async (
  { url, prepare }: { url: string; prepare: boolean },
  stopped?: AbortSignal,
  writeLine: WriteLine = () => {},
): Promise<void> => {
  await migrate(url, stopped, writeLine)
  const database = connect({ url, poolSize: 4, prepare })
  try {
    if (await findWriteFault(database.read)) return
    let told = 0
    await copyPreviousActivity(database, {
      stop: stopped,
      report: (rows) => {
        if (rows - told < ROWS_PER_LINE) return
        told = rows
        writeLine(`${rows.toLocaleString('en')} rows of activity of version 1.0.0 are copied.`)
      },
    })
  } finally {
    await database.close()
  }
}
