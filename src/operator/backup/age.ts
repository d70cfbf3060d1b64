/** The age of the last backup, for Prometheus. */
import fp from 'fastify-plugin'
import { double, orNull, singleRow, statement } from '../../platform/database/statement.js'
import { cached } from '../../platform/metrics/meter.js'

const READ_BACKUP_AGE = statement(
  'read the age of the last backup',
  { seconds: orNull(double) },
  'select extract(epoch from now() - max(made_at))::float8 as seconds from backups',
)

export default fp(async ({ meter, database }) => {
  const age = cached(async () => singleRow(await database.reserved.rows(READ_BACKUP_AGE, [])).seconds)
  meter.read('team_settings_backup_age_seconds', {}, async () => (await age()) ?? undefined)
})
