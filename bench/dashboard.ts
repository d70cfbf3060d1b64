/**
 * The dashboard of a year and 500 members, beside `count(*)` over the smallest index that covers the same rows, and
 * while the activity of other teams grows. Options: `--teams 31` (others, at most; about 320,000 rows each).
 */
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { v7 as uuidv7 } from 'uuid'
import { seedActivity } from '../src/demo/activity.js'
import { addDays } from '../src/domain/days.js'
import { rebuildRollups } from '../src/operations/roll-up.js'
import { readToday } from '../src/queries/activity.js'
import { insertTeam } from '../src/queries/seed.js'
import { expectOk, inTurns, type Setting, say, send, withService } from './harness.js'

const MEMBERS = 500
const DAYS = 365
const ROUNDS = 40

const { values } = parseArgs({ options: { teams: { type: 'string', default: '31' } } })
const others = Number(values.teams)

const addTeam = async ({ database }: Setting, index: number, today: string) => {
  const workspaceId = uuidv7()
  const owner = `team-${index}`
  const userIds = await database.transaction((tx) =>
    insertTeam(tx, {
      workspaceId,
      name: owner,
      owner,
      firstRepohostId: 1_000_000_000 + index * MEMBERS,
      members: MEMBERS,
    }),
  )
  // Twice the days, so that the range before has numbers as well.
  const from = addDays(today, 1 - DAYS * (index === 0 ? 2 : 1))
  await seedActivity(database, { workspaceId, userIds, owner, from, to: today })
  return workspaceId
}

/** A session without the time limits of the service's own. */
const withPatience = async <T>({ databaseUrl }: Setting, text: string): Promise<T[]> => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    return (await sql.unsafe(text)) as unknown as T[]
  } finally {
    await sql.end()
  }
}

const total = async (setting: Setting) => {
  const text = 'select count(*)::float8 as rows from activity'
  const [row] = await withPatience<{ rows: number }>(setting, text)
  return row?.rows ?? 0
}

await withService(async (setting) => {
  const { database, url, signIn, rollUp } = setting
  const today = await readToday(database)
  const { token, id } = await signIn('boss')
  const workspace = await addTeam(setting, 0, today)
  await database.query(
    `insert into members (workspace_id, user_id, role) values ($1::uuid, $2::uuid, 'admin')`,
    [workspace, id],
  )

  const range = `workspace=${workspace}&from=${addDays(today, 1 - DAYS)}&to=${today}`
  const dashboard = () => expectOk(send(url, 'GET', `/api/team/dashboard?${range}`, token))
  const month = () => expectOk(send(url, 'GET', `/api/team/dashboard?workspace=${workspace}`, token))
  const counting = async () => {
    const [row] = await database.query<{ rows: number }>(
      `select count(*)::int as rows from activity where workspace_id = $1::uuid and day between $2::text::date and $3::text::date`,
      [workspace, addDays(today, 1 - DAYS), today],
    )
    return row?.rows
  }
  let first: number | undefined
  for (const teams of [3, Math.ceil(others / 3), others]) {
    for (let index = 1; index <= teams; index++) {
      const [known] = await database.query('select id from workspaces where name = $1::text', [
        `team-${index}`,
      ])
      if (!known) await addTeam(setting, index, today)
    }
    await rebuildRollups(database)
    await rollUp()
    await withPatience(setting, 'vacuum analyze')
    const works = { dashboard, month, counting }
    // Before each, so that the first is not slower because nothing is compiled yet.
    await inTurns(ROUNDS, works)
    const ms = await inTurns(ROUNDS, works)
    first ??= ms.dashboard
    say(
      [
        `${((await total(setting)) / 1e6).toFixed(1)}M rows in all:`,
        `dashboard of ${DAYS} days ${ms.dashboard.toFixed(1)} ms, of 30 days ${ms.month.toFixed(1)} ms,`,
        `count(*) of its ${await counting()} rows ${ms.counting.toFixed(1)} ms;`,
        `${(ms.dashboard / ms.counting).toFixed(2)} of the count, ${(ms.dashboard / first).toFixed(2)} of the first`,
      ].join(' '),
    )
  }
  const fresh = JSON.parse(await dashboard())
  say(
    `${fresh.members.length} members, ${fresh.repos.length} repositories, ${fresh.totals.active_minutes} minutes`,
  )
})
