/**
 * Fills DATABASE_URL with made-up teams and their activity, for load tests: never for an installation that is in use.
 *   npm run seed -- --teams 30 --members 500 --days 365
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.js'
import { connect } from '../db/client.js'
import { migrate } from '../db/migrate.js'
import { seedTeam } from '../demo/team.js'
import { addDays } from '../domain/days.js'
import { rebuildRollups } from '../operations/roll-up.js'
import { readToday } from '../queries/activity.js'

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      teams: { type: 'string', default: '3' },
      members: { type: 'string', default: '50' },
      days: { type: 'string', default: '365' },
    },
  })
  const number = (name: keyof typeof values, max: number) => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= 1 && value <= max) return value
    throw new ConfigError([`--${name} must be a whole number from 1 to ${max}`])
  }
  return { teams: number('teams', 10_000), members: number('members', 10_000), days: number('days', 3_660) }
}

const say = (line: string) => process.stdout.write(`${line}\n`)

try {
  const { teams, members, days } = readOptions()
  const { databaseUrl, databasePrepare } = readConfig(process.env, { needsSecrets: false })
  if (databaseUrl === undefined) throw new ConfigError(['DATABASE_URL is required'])
  await migrate(databaseUrl)
  const database = connect({ url: databaseUrl, poolSize: 2, prepare: databasePrepare })
  try {
    const today = await readToday(database)
    let total = 0
    for (let team = 1; team <= teams; team++) {
      // Logins are new with every run.
      const owner = `team-${randomBytes(6).toString('hex')}`
      const { rows } = await seedTeam(database, {
        name: `Team ${team}`,
        owner,
        // Far above the ids of any host, and new with every run.
        firstRepohostId: 8_000_000_000_000_000 + Date.now() * 100 + team * members,
        members,
        from: addDays(today, 1 - days),
        to: today,
      })
      total += rows
      say(`Team ${team} of ${teams}: ${total} rows, admin ${owner}-1`)
    }
    say(`The rollups of ${await rebuildRollups(database)} days are new.`)
  } finally {
    await database.close()
  }
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
}
