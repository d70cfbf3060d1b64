/** The age of the last backup, for Prometheus. */
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { singleRow } from '../../platform/database/single-row.js'
import { double, orNull, statement } from '../../platform/database/statement.js'
import { cached } from '../../platform/metrics/cached.js'

const READ_BACKUP_AGE = statement(
  'read the age of the last backup',
  { seconds: orNull(double) },
  'select extract(epoch from now() - max(made_at))::float8 as seconds from backups',
)

/** How long a scrape waits for the database before it leaves the value out. */
const SCRAPE_MS = 1_000

export default fp(async ({ meter, database }) => {
  const read = async () => singleRow(await database.reserved.rows(READ_BACKUP_AGE, [])).seconds ?? undefined
  const age = cached(() =>
    Promise.race([read().catch(() => undefined), sleep(SCRAPE_MS, undefined, { ref: false })]),
  )
  meter.read('team_settings_backup_age_seconds', {}, age)
})
