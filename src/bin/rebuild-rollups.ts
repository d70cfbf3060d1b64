/** Makes all rollups of activity anew, from the activity in DATABASE_URL; the service may be running. */
import { ConfigError, readConfig } from '../config.js'
import { connect } from '../db/client.js'
import { rebuildRollups } from '../operations/roll-up.js'

try {
  const { databaseUrl, databasePrepare } = readConfig(process.env, { needsSecrets: false })
  if (databaseUrl === undefined) throw new ConfigError(['DATABASE_URL is required'])
  const database = connect({ url: databaseUrl, poolSize: 2, prepare: databasePrepare })
  try {
    const days = await rebuildRollups(database)
    process.stdout.write(`The rollups of ${days} days are new.\n`)
  } finally {
    await database.close()
  }
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
