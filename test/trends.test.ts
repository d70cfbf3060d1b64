import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, weekdayOf } from '../src/platform/time/days.js'
import { reuseService } from './service.js'
import { stepsOf } from './trend-steps.js'

interface Row {
  active_minutes: number
  trend: number[]
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

t.test('the last row, which sums everything beyond a thousand, has a trend too', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const today = await readToday(service.database)
  const sunday = addDays(today, -weekdayOf(today))
  const ranges = [
    [addDays(today, -20), today],
    [addDays(sunday, -364), addDays(sunday, 1)],
  ] as const
  t.equal(stepsOf(...ranges[1]).length, 54, 'the most numbers that there can be')
  await service.database.read.statement(
    `with people as (
      insert into users (id, repohost_id, login, login_key, avatar_url)
      select gen_random_uuid(), 1000000 + n, 'Member-' || n, 'member-' || n, '' from generate_series(1, 1300) n
      returning id, (repohost_id - 1000000)::int as n
    ), worked as (
      insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
      select $1::uuid, id, $2::text::date - n % 60, 'acme/r' || n, 1 + n % 7 from people
    )
    insert into changed_days (workspace_id, day) select $1::uuid, $2::text::date - n from generate_series(0, 60) n on conflict do nothing`,
    [id, today],
  )
  const check = async () => {
    for (const [from, to] of ranges) {
      const url = `/api/team/dashboard?workspace=${id}&from=${from}&to=${to}`
      const { body } = await ada.get(`${url}&trends=true`)
      const daily = body.daily as { day: string; active_minutes: number }[]
      const inAll = stepsOf(from, to).map((step) =>
        sum(daily.filter(({ day }) => step.includes(day)).map(({ active_minutes }) => active_minutes)),
      )
      for (const rows of [body.members, body.repos] as Row[][]) {
        t.strictSame(
          rows.map(({ trend }) => sum(trend)),
          rows.map(({ active_minutes }) => active_minutes),
        )
        t.ok(rows.every(({ trend }) => trend.length === inAll.length))
        t.strictSame(
          inAll.map((_, step) => sum(rows.map(({ trend }) => trend[step] ?? 0))),
          inAll,
        )
      }
      if (from < addDays(today, -60))
        t.strictSame([body.members[999].login, body.repos[999].repo], [null, null])
      const plain = (await ada.get(url)).body
      t.notOk(
        [...plain.members, ...plain.repos].some((row) => 'trend' in row),
        'only where it is asked for',
      )
    }
  }
  await check()
  await service.app.jobs.rollups.run()
  await check()
})
