import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import { hasProperties } from './has-properties.js'
import { type Caller, startService } from './service.js'

const service = await startService(t)
const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
const { id } = await service.workspace(ada, { members: [bob] })
const { id: other } = await service.workspace(bob, { name: 'Other', patterns: ['acme/*'] })
const today = await readToday(service.database)
const yesterday = addDays(today, -1)

const flush = (caller: Caller, entries: object[]) => caller.post('/api/team/active-minutes', { entries })
await flush(ada, [{ repo: 'acme/api', day: today, minutes: 50, hours: { 0: 50 } }])
await flush(bob, [
  { repo: 'acme/api', day: today, minutes: 20, hours: { 0: 15 } },
  { repo: 'acme/web', day: yesterday, minutes: 7 },
])
await ada.post('/api/team/commits', {
  workspace: id,
  day: today,
  members: [{ login: 'bob', repos: [{ repo: 'acme/web', count: 3 }] }],
})

const mine = (query = '', workspace = id) => `/api/team/dashboard/mine?workspace=${workspace}${query}`

t.test('a member sees all of their own numbers, including hours, and no one else’s', async (t) => {
  const check = async (what: string) => {
    const { status, body } = await bob.get(mine())
    t.equal(status, 200, what)
    t.strictSame(body.totals, {
      active_minutes: 27,
      commits: 3,
      closed_issues: 0,
      active_members: 1,
      agent_minutes: 0,
    })
    t.strictSame(body.members, [
      {
        login: 'bob',
        avatar_url: body.members[0].avatar_url,
        role: 'member',
        active_minutes: 27,
        active_days: 2,
        commits: 3,
        closed_issues: 0,
        last_active_day: today,
      },
    ])
    t.strictSame(body.repos, [
      { repo: 'acme/api', active_minutes: 20, commits: 0, closed_issues: 0, members: 1, agent_minutes: 0 },
      { repo: 'acme/web', active_minutes: 7, commits: 3, closed_issues: 0, members: 1, agent_minutes: 0 },
    ])
    t.strictSame(
      body.heatmap
        .filter(({ minutes }: { minutes: number }) => minutes > 0)
        .map(({ hour, minutes }: Record<string, number>) => [hour, minutes]),
      [[0, 15]],
    )
    t.equal(body.daily.length, 30)
  }
  await check('before the activity is rolled up')
  await service.app.jobs.rollups.run()
  await check('after the activity is rolled up')
  hasProperties(t, (await bob.get(mine('&repo=ACME/web'))).body, {
    totals: { active_minutes: 7, commits: 3 },
    members: [{ login: 'bob', active_minutes: 7 }],
  })
  t.match((await bob.get(mine(`&from=${yesterday}&to=${yesterday}`))).body, {
    range: { days: 1 },
    totals: { active_minutes: 7 },
  })
})

t.test('a member’s own dashboard covers the requested workspace and names no one else', async (t) => {
  t.match((await bob.get(mine('', other))).body, {
    totals: { active_minutes: 27, commits: 0 },
    members: { length: 1 },
  })
  hasProperties(t, (await bob.get(mine('&member=ada'))).body.members, [{ login: 'bob' }])
  t.hasStrict(await eve.get(mine()), { status: 404, body: { code: 'workspace_not_found' } })
  t.match(await bob.get('/api/team/dashboard/mine?workspace=no'), { status: 400 })
  t.hasStrict(await bob.get(mine('&from=2026-02-02&to=2026-02-01')), {
    status: 400,
    body: { code: 'invalid_range' },
  })
  await service.workspace(eve, { name: 'Empty' })
  const cyd = await service.signIn('cyd')
  const { id: empty } = await service.workspace(cyd)
  const nothing = { active_minutes: 0, active_days: 0, last_active_day: null }
  hasProperties(t, (await cyd.get(mine('', empty))).body, {
    totals: { active_members: 0 },
    members: [{ login: 'cyd', ...nothing }],
  })
})

t.test('a member’s own dashboard is available as CSV, and returns 304 if unchanged', async (t) => {
  const lines = `day,login,active_minutes,commits,closed_issues\n${yesterday},bob,7,0,0\n${today},bob,20,3,0\n`
  const byQuery = await bob.get(mine(`&to=${today}&format=csv`))
  const byHeader = await bob.get(mine(`&to=${today}`), { Accept: 'text/csv' })
  for (const { text, headers } of [byQuery, byHeader]) {
    t.equal(text, lines)
    t.equal(
      headers.get('content-disposition'),
      `attachment; filename="Acme_${addDays(today, -29)}_${today}.csv"`,
    )
  }
  const long = await bob.get(mine(`&to=${today}`), { Accept: `text/csv${',a/b'.repeat(3_000)}` })
  t.equal(
    long.headers.get('content-type'),
    'application/json; charset=utf-8',
    'a header with 3,000 types counts as none',
  )
  const first = await bob.get(mine())
  const etag = first.headers.get('etag') ?? ''
  const again = { 'If-None-Match': etag }
  t.equal((await bob.get(mine(), again)).status, 304)
  await flush(ada, [{ repo: 'acme/api', day: today, minutes: 1 }])
  t.equal((await bob.get(mine(), again)).status, 304, 'what others do changes nothing')
  await flush(bob, [{ repo: 'acme/api', day: today, minutes: 1 }])
  t.equal((await bob.get(mine(), again)).status, 200)
})

t.test(
  'without a workspace, it covers everything the caller did, each minute, commit and issue once',
  async (t) => {
    const all = '/api/team/dashboard/mine'
    await bob.post('/api/wakatime/v1/users/current/heartbeats.bulk', [
      { time: Date.parse(yesterday) / 1_000 + 5 * 3_600, project: 'elsewhere/tool' },
      { time: Date.parse(yesterday) / 1_000 + 6 * 3_600, project: 'folder' },
      { time: Date.parse(yesterday) / 1_000 + 7 * 3_600, project: 'acme/api', category: 'ai coding' },
    ])
    for (const [workspace, count] of [
      [id, 3],
      [other, 5],
    ] as const)
      await (workspace === id ? ada : bob).post('/api/team/closed-issues', {
        workspace,
        day: yesterday,
        members: [{ login: 'bob', repos: [{ repo: 'acme/web', count }] }],
      })
    const { status, body, headers } = await bob.get(`${all}?trends=true&from=${yesterday}&to=${today}`)
    t.equal(status, 200)
    const { daily, members, repos, heatmap, generated_at: _, ...rest } = body
    const totals = { active_minutes: 30, commits: 3, closed_issues: 5, active_members: 1 }
    t.strictSame(rest, {
      workspace: null,
      range: { from: yesterday, to: today, days: 2 },
      idle_window_minutes: null,
      totals: { ...totals, agent_minutes: 1 },
      previous_totals: { active_minutes: 0, commits: 0, closed_issues: 0, active_members: 0 },
      publication: null,
    })
    t.strictSame(daily, [
      { day: yesterday, ...totals, active_minutes: 9, commits: 0, agent_minutes: 1 },
      { day: today, ...totals, active_minutes: 21, closed_issues: 0, agent_minutes: 0 },
    ])
    t.strictSame(members, [
      {
        ...{ login: 'bob', avatar_url: members[0].avatar_url, role: null },
        ...{ active_minutes: 30, commits: 3, closed_issues: 5 },
        ...{ active_days: 2, last_active_day: today, trend: [9, 21] },
      },
    ])
    const none = { active_minutes: 0, commits: 0, closed_issues: 0, members: 1, agent_minutes: 0 }
    t.strictSame(repos, [
      { ...none, repo: 'acme/api', active_minutes: 21, agent_minutes: 1, trend: [0, 21] },
      { ...none, repo: 'acme/web', active_minutes: 7, commits: 3, closed_issues: 5, trend: [7, 0] },
      { ...none, repo: 'elsewhere/tool', active_minutes: 1, trend: [1, 0] },
      { ...none, repo: null, active_minutes: 1, trend: [1, 0] },
    ])
    const hours = heatmap.filter(({ minutes }: { minutes: number }) => minutes > 0)
    t.same(
      hours.map(({ hour, minutes }: Record<string, number>) => [hour, minutes]).sort(),
      [
        [0, 15],
        [5, 1],
        [6, 1],
      ].sort(),
    )
    t.equal(
      (
        await bob.get(`${all}?trends=true&from=${yesterday}&to=${today}`, {
          'If-None-Match': headers.get('etag') ?? '',
        })
      ).status,
      304,
    )
    const csv = await bob.get(`${all}?format=csv&from=${yesterday}&to=${today}`)
    t.equal(
      csv.text,
      `day,login,active_minutes,commits,closed_issues\n${yesterday},bob,9,0,5\n${today},bob,21,3,0\n`,
    )
    t.equal(
      csv.headers.get('content-disposition'),
      `attachment; filename="All-workspaces_${yesterday}_${today}.csv"`,
    )
    hasProperties(t, (await bob.get(`${all}?repo=ACME/web`)).body, {
      totals: { active_minutes: 7, commits: 3 },
    })
    const { body: summaries } = await bob.get(
      `/api/wakatime/v1/users/current/summaries?start=${yesterday}&end=${today}`,
    )
    t.same(
      summaries.data.map(
        ({ grand_total }: { grand_total: { total_seconds: number } }) => grand_total.total_seconds,
      ),
      [9 * 60, 21 * 60],
      'as WakaTime’s tools read it',
    )
    t.strictSame((await (await service.signIn('new')).get(all)).body.totals, {
      ...{ active_minutes: 0, commits: 0, closed_issues: 0, active_members: 0, agent_minutes: 0 },
    })
  },
)
