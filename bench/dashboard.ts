/**
 * The dashboard of a year and 500 members, beside `count(*)` over the smallest index that covers the same rows, and
 * while the activity of other teams grows. Options: `--teams 31` (others, at least 3).
 */
import { addDays } from '../src/domain/days.js'
import {
  addOthers,
  addTeam,
  benchmark,
  DAYS_OF_TEAMS,
  expectOk,
  inTurns,
  makeAdmin,
  prepare,
  say,
  send,
  teamsAsked,
} from './harness.js'

const ROUNDS = 40

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { database, service, signIn } = setting
  const { id, token } = await signIn('boss')
  // Twice the days, so that the range before has numbers as well.
  const { workspaceId, today } = await addTeam(setting, 0, 2 * DAYS_OF_TEAMS)
  await makeAdmin(setting, workspaceId, id)

  const from = addDays(today, 1 - DAYS_OF_TEAMS)
  const path = `/api/team/dashboard?workspace=${workspaceId}`
  const month = () => expectOk(send(service.url, 'GET', path, token))
  const dashboard = () => expectOk(send(service.url, 'GET', `${path}&from=${from}&to=${today}`, token))
  const counting = async () => {
    const [row] = await database.hot.statement<{ rows: number }>(
      `select count(*)::int as rows from activity where workspace_id = $1::uuid and day between $2::text::date and $3::text::date`,
      [workspaceId, from, today],
    )
    return row?.rows
  }
  const others = teamsAsked()
  let first: number | undefined
  let known = 0
  const steps = new Set([3, Math.ceil(others / 3), others])
  for (const teams of [...steps].sort((a, b) => a - b)) {
    await addOthers(setting, teams, known)
    known = teams
    const works = { dashboard, month, counting }
    // Before each, so that the first is not slower because nothing is compiled yet.
    await inTurns(ROUNDS, works)
    const ms = await inTurns(ROUNDS, works)
    first ??= ms.dashboard
    say(
      [
        `dashboard of ${DAYS_OF_TEAMS} days ${ms.dashboard.toFixed(1)} ms, of 30 days ${ms.month.toFixed(1)} ms,`,
        `count(*) of its ${await counting()} rows ${ms.counting.toFixed(1)} ms;`,
        `${(ms.dashboard / ms.counting).toFixed(2)} of the count, ${(ms.dashboard / first).toFixed(2)} of the first`,
      ].join(' '),
    )
  }
  const { members, repos, totals } = JSON.parse(await dashboard())
  say(`${members.length} members, ${repos.length} repositories, ${totals.active_minutes} minutes`)
})
