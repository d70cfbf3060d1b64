/**
 * Fills DATABASE_URL with made-up teams and their activity, for load tests. Never use it on an installation that is in
 * use.
 */
import { randomBytes } from 'node:crypto'
import { readConfig } from '../src/config.js'
import { rebuildRollups } from '../src/features/rollups/roll-up.js'
import type { Database } from '../src/platform/database/client.js'
import {
  connectToDatabaseUrl,
  explainDatabaseErrors,
  requireDatabaseUrl,
} from '../src/platform/database/external-database.js'
import { migrate } from '../src/platform/database/migrate.js'
import { readArguments } from '../src/platform/process/arguments.js'
import { OperatorError } from '../src/platform/process/operator-error.js'
import { onExit, runCommand } from '../src/platform/process/program.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import { seedTeam } from './team.js'

const USAGE = `npm run seed -- [--teams N] [--members N] [--days N]

  --teams N    teams to make (3)
  --members N  members of each (50)
  --days N     days of activity of each (365), up to today
  --help       shows this

DATABASE_URL says where. Never use it on an installation that is in use.
`

interface Options {
  teams: number
  members: number
  days: number
}

/** @returns undefined if only help was requested @throws {OperatorError} */
const readOptions = (): Options | undefined => {
  const values = readArguments('seed', USAGE, { teams: '3', members: '50', days: '365' })?.options
  if (!values) return undefined
  const number = (name: keyof Options, max: number) => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= 1 && value <= max) return value
    throw new OperatorError(`--${name} must be a whole number from 1 to ${max}.`)
  }
  return { teams: number('teams', 10_000), members: number('members', 10_000), days: number('days', 3_660) }
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const seed = async (database: Database, { teams, members, days }: Options, stopped: AbortSignal) => {
  const today = await readToday(database)
  let total = 0
  for (let team = 1; team <= teams; team++) {
    stopped.throwIfAborted()
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
  say(`The rollups of ${await rebuildRollups(database)} days were rebuilt.`)
}

runCommand(async (stopped) => {
  const options = readOptions()
  if (!options) return
  const config = readConfig(process.env, { needsSecrets: false })
  await explainDatabaseErrors(migrate(requireDatabaseUrl(config), stopped))
  const database = connectToDatabaseUrl(config)
  onExit(() => database.close())
  await explainDatabaseErrors(seed(database, options, stopped))
})
