import t from 'tap'
import { seedActivity } from '../demo/activity.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, countDays, weekdayOf } from '../src/platform/time/days.js'
import { hasMembers } from './has-members.js'
import { type Caller, type Service, startService } from './service.js'
import { stepsOf } from './trend-steps.js'

interface Row {
  login?: string | null
  repo?: string | null
  active_minutes: number
  trend: number[]
}

const service = await startService(t)
const [ada, bob] = await service.signInAll('ada', 'bob')
const today = await readToday(service.database)

const idOf = async (caller: Caller) => (await caller.get('/api/me')).body.id as string
const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
const markStale = ({ database }: Service, workspaceId: string, days: string[]) =>
  database.read.statement(
    `insert into stale_days (workspace_id, day) select $1::uuid, unnest($2::text[])::date`,
    [workspaceId, days],
  )

t.test('trends are minutes of days, or of ISO weeks, whatever is rolled up', async (t) => {
  const { id } = await service.workspace(ada, { members: [bob] })
  const userIds = [await idOf(ada), await idOf(bob)]
  await seedActivity(service.database, {
    workspaceId: id,
    userIds,
    owner: 'acme',
    from: addDays(today, -400),
    to: today,
  })
  const done = await service.database.read.statement<{
    login: string
    repo: string
    day: string
    minutes: number
  }>(
    `select login, repo_key as repo, day::text as day, minutes::int as minutes
     from activity join users on users.id = user_id where workspace_id = $1::uuid`,
    [id],
  )
  const trendOf = (steps: string[][], wanted: (row: (typeof done)[number]) => boolean) => {
    const perDay = new Map<string, number>()
    for (const row of done) if (wanted(row)) perDay.set(row.day, (perDay.get(row.day) ?? 0) + row.minutes)
    return steps.map((days) => sum(days.map((day) => perDay.get(day) ?? 0)))
  }
  const sunday = addDays(today, -weekdayOf(today))
  const ranges = [
    [today, today],
    [addDays(today, -30), today],
    [addDays(today, -31), today],
    [addDays(sunday, -364), addDays(sunday, 1)],
    [addDays(sunday, -69), sunday],
  ] as const
  t.equal(stepsOf(...ranges[3]).length, 54, 'the most numbers that there can be')
  const repo = done[0]?.repo ?? ''
  const check = async (what: string) => {
    for (const [from, to] of ranges) {
      const steps = stepsOf(from, to)
      const read = async (query: string) => {
        const url = `/api/team/dashboard${query}&workspace=${id}&from=${from}&to=${to}&trends=true`
        return (await ada.get(url)).body as { members: Row[]; repos: Row[] }
      }
      const [team, ofBob, ofRepo, own] = [
        await read('?'),
        await read('?member=bob'),
        await read(`?repo=${repo}`),
        await read(`/mine?repo=${repo}`),
      ]
      const title = `${what}, ${countDays(from, to)} days`
      for (const { login, active_minutes, trend } of team.members) {
        t.strictSame(
          trend,
          trendOf(steps, (row) => row.login === login),
          `${title}: ${login}`,
        )
        t.equal(sum(trend), active_minutes)
      }
      for (const { repo, active_minutes, trend } of team.repos) {
        t.strictSame(
          trend,
          trendOf(steps, (row) => row.repo === repo),
          `${title}: ${repo}`,
        )
        t.equal(sum(trend), active_minutes)
      }
      for (const row of ofBob.repos)
        t.strictSame(
          row.trend,
          trendOf(steps, (one) => one.login === 'bob' && one.repo === row.repo),
          title,
        )
      for (const row of ofRepo.members)
        t.strictSame(
          row.trend,
          trendOf(steps, (one) => one.login === row.login && one.repo === repo),
          title,
        )
      t.strictSame(
        own.members.map(({ trend }) => trend),
        [trendOf(steps, (row) => row.login === 'ada' && row.repo === repo)],
        title,
      )
    }
  }
  await check('nothing rolled up')
  await service.app.rollups.run()
  await check('all rolled up')
  await markStale(service, id, [today, addDays(today, -10), addDays(today, -200)])
  await check('some of it')
  const plain = (await ada.get(`/api/team/dashboard?workspace=${id}`)).body
  t.notOk(
    [...plain.members, ...plain.repos].some((row) => 'trend' in row),
    'only where it is asked for',
  )
})

t.test('the last row, of all beyond a thousand, has a trend as well', async (t) => {
  const { id } = await service.workspace(ada, { name: 'Large' })
  await service.database.read.statement(
    `with people as (
      insert into users (id, repohost_id, login, login_key, avatar_url)
      select gen_random_uuid(), 1000000 + n, 'Member-' || n, 'member-' || n, '' from generate_series(1, 1100) n
      returning id, (repohost_id - 1000000)::int as n
    ), worked as (
      insert into activity (workspace_id, user_id, day, repo_key, minutes)
      select $1::uuid, id, $2::text::date - n % 60, 'acme/r' || n, 1 + n % 7 from people
    )
    insert into stale_days (workspace_id, day) select $1::uuid, $2::text::date - n from generate_series(0, 60) n`,
    [id, today],
  )
  const check = async () => {
    for (const days of [20, 60]) {
      const from = addDays(today, -days)
      const { body } = await ada.get(
        `/api/team/dashboard?workspace=${id}&from=${from}&to=${today}&trends=true`,
      )
      const daily = body.daily as { day: string; active_minutes: number }[]
      const inAll = stepsOf(from, today).map((step) =>
        sum(daily.filter(({ day }) => step.includes(day)).map(({ active_minutes }) => active_minutes)),
      )
      for (const rows of [body.members, body.repos] as Row[][]) {
        t.strictSame(
          rows.map(({ trend }) => sum(trend)),
          rows.map(({ active_minutes }) => active_minutes),
        )
        t.strictSame(
          inAll.map((_, step) => sum(rows.map(({ trend }) => trend[step] ?? 0))),
          inAll,
        )
      }
      if (days === 60) hasMembers(t, [body.members[999].login, body.repos[999].repo], [null, null])
    }
  }
  await check()
  await service.app.rollups.run()
  await check()
})
