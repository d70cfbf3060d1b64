/** Applies the migrations to DATABASE_URL; `npm start` does so by itself. */
import { ConfigError, readConfig } from '../config.js'
import { migrate } from '../db/migrate.js'

try {
  const { databaseUrl } = readConfig(process.env, { needsSecrets: false })
  if (databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is required; the embedded database is migrated by `npm start`'])
  }
  await migrate(databaseUrl)
  process.stdout.write('The database is current.\n')
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
