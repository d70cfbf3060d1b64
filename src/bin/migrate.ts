/** Applies the migrations to DATABASE_URL, as `npm start` does. */
import '../platform/process/require-node.js'
import { readConfig } from '../config.js'
import { explainDatabaseErrors, requireDatabaseUrl } from '../platform/database/external-database.js'
import { describePlan } from '../platform/database/migrate.js'
import { newestMigration } from '../platform/database/migrations.js'
import { readArguments } from '../platform/process/arguments.js'
import { print, runCommand } from '../platform/process/program.js'
import { upgrade } from '../upgrade.js'

const USAGE = `npm run migrate -- [--plan]

  Applies the migrations to DATABASE_URL, as every start of the service does automatically. Instances of the previous version
  may serve meanwhile.

  --plan   lists the steps, with the tables of each and how many rows they have, and changes nothing
`

runCommand(async (stopped) => {
  const given = readArguments('migrate', USAGE, {}, 0, ['plan'])
  if (!given) return
  const config = readConfig(process.env, { needsSecrets: false })
  const url = requireDatabaseUrl(config)
  if (given.flags.includes('plan')) {
    for (const line of await explainDatabaseErrors(describePlan(url, stopped))) print(line)
    return
  }
  await explainDatabaseErrors(upgrade({ url, prepare: config.databasePrepare }, stopped, print))
  print(`The database is current: ${newestMigration.tag}.`)
})
