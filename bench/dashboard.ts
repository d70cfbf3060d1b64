/**
 * The dashboard of a year, against `count(*)` over the smallest index that covers the same rows, while the activity of other
 * teams grows, and while the rollups of today are out of date. Options: `--teams 31` (others), `--members 500`, and
 * `--level team` for the privacy level at which published weeks are added up.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { publishWeeks } from '../src/features/rollups/publish-weeks.js'
import { listDueWeeks } from '../src/features/rollups/queries/published-weeks.js'
import { addDays, FIRST_DAY } from '../src/platform/time/days.js'
import {
  addOthers,
  addTeam,
  benchmark,
  DAYS_OF_TEAMS,
  expectOk,
  makeAdmin,
  medianTimes,
  OTHER_TEAMS,
  prepare,
  say,
  send,
  waitForRollups,
} from './harness.js'

const ROUNDS = 40

const { values } = parseArgs({
  options: {
    teams: { type: 'string', default: String(OTHER_TEAMS) },
    members: { type: 'string', default: '500' },
    level: { type: 'string', default: 'named' },
  },
})
const others = Number(values.teams)
const members = Number(values.members)

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { database, service, signIn } = setting
  const { id, token } = await signIn('boss')
  // Twice the days, so that the previous range has numbers, too.
  const { workspaceId, today } = await addTeam(setting, 0, { days: 2 * DAYS_OF_TEAMS, members })
  await makeAdmin(setting, workspaceId, id)

  if (values.level === 'team') {
    await waitForRollups(database)
    const settings = `/api/team/workspaces/${workspaceId}/settings`
    await expectOk(send(service.url, 'PATCH', settings, token, { activity_privacy: 'team' }))
    // The service publishes too, and only one process can at a time.
    while ((await listDueWeeks(database.read, { all: false, from: FIRST_DAY }, 1)).length > 0) {
      await publishWeeks(database, { floor: 'named', minGroup: 5 }, { everything: true })
      await sleep(100)
    }
    const [row] = await database.hot.statement<{ weeks: number; minutes: number }>(
      'select count(*)::int as weeks, sum(minutes)::float8 as minutes from published_weeks',
      [],
    )
    say(`${row?.weeks} weeks are published, with ${row?.minutes} minutes`)
  }

  const from = addDays(today, 1 - DAYS_OF_TEAMS)
  const path = `/api/team/dashboard?workspace=${workspaceId}`
  const year = `${path}&from=${from}&to=${today}`
  const month = () => expectOk(send(service.url, 'GET', path, token))
  const dashboard = () => expectOk(send(service.url, 'GET', year, token))
  const markToday = () =>
    database.hot.statement(
      `insert into changed_days (workspace_id, day) values ($1::uuid, $2::text::date) on conflict do nothing`,
      [workspaceId, today],
    )
  const stale = async () => {
    await markToday()
    await dashboard()
  }
  const staleMonth = async () => {
    await markToday()
    await month()
  }
  const withTrends = () => expectOk(send(service.url, 'GET', `${year}&trends=true`, token))
  const member = values.level === 'team' ? 'boss' : 'team-0-7'
  const ofOne = () => expectOk(send(service.url, 'GET', `${year}&member=${member}`, token))
  const ofRepo = () => expectOk(send(service.url, 'GET', `${year}&repo=team-0/web`, token))
  const ofRepoWithTrends = () =>
    expectOk(send(service.url, 'GET', `${year}&repo=team-0/web&trends=true`, token))
  const counting = async () => {
    const [row] = await database.hot.statement<{ rows: number }>(
      `select count(*)::int as rows from daily_activity where workspace_id = $1::uuid and day between $2::text::date and $3::text::date`,
      [workspaceId, from, today],
    )
    return row?.rows
  }
  let first: number | undefined
  let known = 0
  const steps = new Set([Math.min(3, others), Math.ceil(others / 3), others])
  for (const teams of [...steps].sort((a, b) => a - b)) {
    await addOthers(setting, teams, known)
    known = teams
    const works = { dashboard, month, counting }
    // A warm-up: otherwise the first measurement would include compilation.
    await medianTimes(ROUNDS, works)
    const ms = await medianTimes(ROUNDS, works)
    first ??= ms.dashboard
    say(
      [
        `dashboard of ${DAYS_OF_TEAMS} days ${ms.dashboard.toFixed(1)} ms, of 30 days ${ms.month.toFixed(1)} ms,`,
        `count(*) of its ${await counting()} rows ${ms.counting.toFixed(1)} ms;`,
        `${(ms.dashboard / ms.counting).toFixed(2)} of the count, ${(ms.dashboard / first).toFixed(2)} of the first`,
      ].join(' '),
    )
  }
  const ms = await medianTimes(ROUNDS, { stale, staleMonth, ofOne, ofRepo, ofRepoWithTrends, withTrends })
  say(
    [
      `with the day of today changed ${ms.stale.toFixed(1)} ms, 30 days ${ms.staleMonth.toFixed(1)} ms;`,
      `a year of one member ${ms.ofOne.toFixed(1)} ms, of one repository ${ms.ofRepo.toFixed(1)} ms (with trends ${ms.ofRepoWithTrends.toFixed(1)} ms), with trends ${ms.withTrends.toFixed(1)} ms`,
    ].join(' '),
  )
  const { totals, ...lists } = JSON.parse(await dashboard())
  say(`${lists.members.length} members, ${lists.repos.length} repositories, ${totals.active_minutes} minutes`)
})
