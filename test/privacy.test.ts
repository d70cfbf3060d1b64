import t from 'tap'
import { coalesce } from '../src/platform/process/async.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, mondayOf, sundayOf } from '../src/platform/time/days.js'
import { hasProperties } from './has-properties.js'
import { type Caller, type Service, startService } from './service.js'
import { until } from './until.js'

const GROUP = 3
const service = await startService(t, { env: { ACTIVITY_MIN_GROUP: String(GROUP) } })
const today = await readToday(service.database)
/** The Monday of the last week that is due, and of the one before. */
const week = mondayOf(addDays(today, -10))
const weekBefore = addDays(week, -7)

const logins = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay', 'gus']
const people: Caller[] = []
for (const login of logins) people.push(await service.signIn(login))
const [ada, bob, cleo, dan] = people as [Caller, Caller, Caller, Caller]

const team = async (members: Caller[] = people.slice(1)) => (await service.workspace(ada, { members })).id

/** A separate owner for every workspace, so that a flush counts only there. */
const patterns = async (id: string) => {
  const owner = `acme-${id.slice(-12)}`
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: [`${owner}/*`] })
  return owner
}

const flush = async (caller: Caller, entries: object[]) => {
  const { body } = await caller.post('/api/team/active-minutes', { entries })
  t.same([body.ignored, body.capped], [0, 0])
}

const setLevel = (id: string, activity_privacy: string, caller = ada) =>
  caller.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy })

const path = (id: string, from: string, to: string, query = '') =>
  `/api/team/dashboard?workspace=${id}&from=${from}&to=${to}${query}`

const publish = (on: Service = service) => on.app.jobs.publishedWeeks.run()

/** As if the level had been changed on that day. */
const moveChange = (id: string, moment: string) =>
  service.database.hot.statement(
    'update workspaces set activity_privacy_since = $2::text::timestamptz where id = $1::uuid',
    [id, moment],
  )

t.test('every member sees the current level and its start, and admins can change it', async (t) => {
  const { id, code } = await service.workspace(ada, { members: [bob] })
  const settings = `/api/team/workspaces/${id}/settings`
  const before = await bob.get(settings)
  t.equal(before.body.activity_privacy, 'named')
  t.equal((await setLevel(id, 'team', bob)).body.code, 'admin_required')
  const changed = await setLevel(id, 'team')
  t.hasStrict(changed.body, { activity_privacy: 'team', version: before.body.version + 1 })
  t.ok(changed.body.activity_privacy_since > before.body.activity_privacy_since)
  t.equal((await bob.get(settings, { 'If-None-Match': before.headers.get('etag') ?? '' })).status, 200)
  t.same((await bob.get(settings)).body, changed.body)
  t.same((await setLevel(id, 'team')).body, changed.body, 'no change')
  t.equal((await setLevel(id, 'none')).body.code, 'validation_failed')

  const level = { activity_privacy: 'team', activity_privacy_since: changed.body.activity_privacy_since }
  const mine = (await bob.get('/api/team/me')).body.workspaces.find((one: { id: string }) => one.id === id)
  t.hasStrict(mine, level)
  t.hasStrict((await cleo.post('/api/team/workspaces/join', { code })).body.workspace, level)
  t.hasStrict((await ada.patch(`/api/team/workspaces/${id}`, { name: 'Other' })).body, level)
  await setLevel(id, 'named')
  const { entries } = (await ada.get(`/api/team/workspaces/${id}/audit`)).body
  const changes = entries.filter(({ action }: { action: string }) => action === 'activity_privacy.changed')
  hasProperties(t, changes, [
    { actor: 'ada', details: { before: 'team', after: 'named' } },
    { actor: 'ada', details: { before: 'named', after: 'team' } },
  ])
})

t.test('only a level change publishes weeks, one change at a time', async (t) => {
  const { id } = await service.workspace(ada)
  const { publishedWeeks } = service.app.jobs
  const { run } = publishedWeeks
  let calls = 0
  t.teardown(() => Object.assign(publishedWeeks, { run }))
  Object.assign(publishedWeeks, { run: async () => void calls++ })
  await setLevel(id, 'team')
  t.equal(calls, 1)
  for (const body of [{ settings: { 'ext.a': 1 } }, { idle_window_minutes: 7 }, { activity_privacy: 'team' }])
    t.equal((await ada.patch(`/api/team/workspaces/${id}/settings`, body)).status, 200)
  t.equal(calls, 1)

  let [runs, finish] = [0, () => {}]
  const once = coalesce(() => {
    runs++
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  const all = Array.from({ length: 20 }, once)
  t.equal(runs, 1)
  finish()
  await all[0]
  await until(() => runs === 2, 'what came during a run is done after it')
  finish()
  await Promise.all(all)
  t.equal(runs, 2)
})

t.test(
  'a looser level shows names from the first week that begins after the day of the change',
  async (t) => {
    const id = await team()
    const owner = await patterns(id)
    await setLevel(id, 'team')
    await setLevel(id, 'named')
    const monday = mondayOf(addDays(today, -20))
    const days = Array.from({ length: 21 }, (_, later) => addDays(monday, later))
    for (const caller of people)
      await flush(
        caller,
        days.map((day) => ({ repo: `${owner}/api`, day, minutes: 5 })),
      )
    // On a Sunday, someone's Monday may have begun, so that week stays hidden too.
    for (const [weekday, weeks] of [1, 1, 1, 1, 1, 1, 2].entries()) {
      await moveChange(id, `${addDays(monday, weekday)}T12:00:00Z`)
      const firstNamed = addDays(monday, weeks * 7)
      for (const day of days) {
        const isNamed = day >= firstNamed
        const { status, body } = await ada.get(path(id, day, day, '&member=bob'))
        t.same([status, body.code], isNamed ? [200, undefined] : [403, 'member_detail_hidden'], day)
        const { members } = (await ada.get(path(id, day, day))).body
        t.equal(members.length, isNamed ? people.length : 0)
      }
    }
  },
)

t.test('a stricter level applies immediately to all days, and a looser one only to later days', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  const day = addDays(week, 1)
  for (const caller of people) {
    await flush(caller, [
      { repo: `${owner}/api`, day, minutes: 60, hours: { 9: 60 } },
      { repo: `${owner}/api`, day: today, minutes: 5 },
    ])
  }
  const url = path(id, week, today)
  const named = await ada.get(url)
  t.equal(named.body.members.length, people.length)
  t.equal(named.body.members.find(({ login }: { login: string }) => login === 'bob').active_minutes, 65)
  const hidden = async (query: string) => (await ada.get(url + query)).body.code
  t.equal(await hidden('&member=bob'), undefined)
  t.equal((await ada.get(`${url}&member=bob`)).body.heatmap, null, 'hours are their own')
  t.equal((await ada.get(`${url}&member=ada`)).body.heatmap.length, 168)

  for (const level of ['team', 'named']) {
    t.equal((await setLevel(id, level)).status, 200)
    await publish()
    const { body } = await ada.get(url)
    t.same(body.range, { from: week, to: sundayOf(today), days: body.daily.length }, 'whole weeks')
    t.same(body.members, [])
    t.match(body.totals, { active_minutes: people.length * 60, commits: 0, active_members: people.length })
    t.same(body.repos, [
      {
        repo: `${owner}/api`,
        active_minutes: people.length * 60,
        commits: 0,
        closed_issues: 0,
        members: people.length,
      },
    ])
    t.hasStrict(body.daily[1], { day, active_minutes: people.length * 60, active_members: people.length })
    t.match(body.daily.at(-1), { active_minutes: null, active_members: null }, 'not published yet')
    const cells = body.heatmap.filter(({ minutes }: { minutes: number | null }) => minutes !== null)
    t.same(cells, [{ weekday: 2, hour: 9, minutes: people.length * 60 }])
    t.match(body.previous_totals, { active_minutes: null, active_members: null })

    t.equal(await hidden('&member=bob'), 'member_detail_hidden')
    t.equal(await hidden('&member=bob&format=csv'), 'member_detail_hidden')
    t.equal(await hidden('&member=nobody-at-all'), 'member_detail_hidden')
    const own = (await ada.get(`${url}&member=ADA`)).body
    t.hasStrict(own, { range: { from: week, to: today }, totals: { active_minutes: 65 } })
    t.equal(own.members.length, 1)
    t.equal(own.heatmap.filter(({ minutes }: { minutes: number }) => minutes > 0).length, 1)
    t.match((await ada.get(`${url}&member=ada&format=csv`)).text, /^day,login,.*\n.*,ada,60,0,0\n/)

    const csv = await ada.get(`${url}&format=csv`)
    t.equal(
      csv.headers.get('content-disposition'),
      `attachment; filename="Acme_${week}_${sundayOf(today)}.csv"`,
    )
    const [header, ...lines] = csv.text.split('\n')
    t.equal(header, 'day,active_minutes,commits,closed_issues')
    t.equal(lines.length, body.daily.length + 1)
    t.same(lines.slice(0, 3), [
      `${week},0,0,0`,
      `${day},${people.length * 60},0,0`,
      `${addDays(week, 2)},0,0,0`,
    ])
    t.equal(lines.at(-2), `${sundayOf(today)},,,`)

    const members = (await bob.get(`/api/team/workspaces/${id}/members`)).body.members
    t.ok(members.every((member: { last_active_day: unknown }) => member.last_active_day === null))
  }
  // A Saturday: on a Sunday, someone's Monday may have begun.
  await moveChange(id, `${addDays(mondayOf(today), -2)}T12:00:00Z`)
  const later = (await ada.get(path(id, mondayOf(today), today))).body
  t.equal(later.members.length, people.length, 'what comes is shown by name')
  // The week before is published on Thursday.
  const isPublished = week === addDays(mondayOf(today), -7)
  t.equal(later.previous_totals.active_minutes, isPublished ? people.length * 60 : null)
})

t.test('a dashboard distinguishes published, hidden, scheduled and overdue weeks', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  const first = addDays(weekBefore, -14)
  const [few, none] = [addDays(first, 7), first]
  for (const caller of people) await flush(caller, [{ repo: `${owner}/api`, day: weekBefore, minutes: 10 }])
  await flush(bob, [{ repo: `${owner}/api`, day: few, minutes: 10 }])
  await setLevel(id, 'team')
  await publish()
  const url = path(id, first, today)
  const publication = async () => (await ada.get(url)).body.publication
  const hidden = { active_minutes: null, commits: null, closed_issues: null, active_members: null }
  const numbers = { active_minutes: 70, commits: 0, closed_issues: 0, active_members: 7 }
  const stateOf = (monday: string, state: string, totals: object = hidden) => ({
    week: monday,
    state,
    published_on: addDays(monday, 10),
    ...totals,
  })
  const { min_group, weeks } = await publication()
  t.equal(min_group, GROUP)
  t.strictSame(
    weeks.slice(0, 3),
    [stateOf(none, 'hidden'), stateOf(few, 'hidden'), stateOf(weekBefore, 'published', numbers)],
    'a week of few people does not differ from one of no one',
  )
  t.strictSame(weeks.at(-1), stateOf(mondayOf(today), 'scheduled'))
  for (const table of ['published_days', 'published_repos', 'published_cells', 'published_weeks'])
    await service.database.write.statement(`delete from ${table} where workspace_id = $1::uuid`, [id])
  t.strictSame(
    (await publication()).weeks.slice(0, 3).map(({ state }: { state: string }) => state),
    ['publishing', 'publishing', 'publishing'],
    'nor while past weeks are published',
  )
  const mine = await ada.get(`/api/team/dashboard/mine?workspace=${id}&from=${first}&to=${today}`)
  t.equal(mine.body.publication, null)
})

t.test('published numbers never change', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  await setLevel(id, 'team')
  const work = people.slice(0, 4)
  for (const caller of work) await flush(caller, [{ repo: `${owner}/api`, day: week, minutes: 10 }])
  await publish()
  const url = path(id, week, week)
  const { generated_at: _, ...published } = (await ada.get(url)).body
  t.equal(published.totals.active_minutes, 40)
  for (const caller of people) await flush(caller, [{ repo: `${owner}/late`, day: week, minutes: 7 }])
  await Promise.all([publish(), service.app.jobs.rollups.run(), service.app.jobs.rollups.retire()])
  const { generated_at: __, ...again } = (await ada.get(url)).body
  t.same(again, published)
  t.equal((await ada.get(`${url}&member=ada`)).body.totals.active_minutes, 17, 'it counts for oneself')
  const days = (await ada.get(`/api/team/active-minutes?day=${week}`)).body.workspaces
  t.match(
    days.find(({ workspace_id }: { workspace_id: string }) => workspace_id === id),
    { minutes: 17 },
  )
})

t.test('at level “team”, no response reveals who is or was in the workspace', async (t) => {
  const [hal, ida, joe] = await service.signInAll('hal', 'ida', 'joe')
  const id = await team([bob, hal, ida, joe])
  const owner = await patterns(id)
  for (const caller of [ada, bob, hal, joe])
    await flush(caller, [
      { repo: `${owner}/api`, day: week, minutes: 10 },
      { repo: `${owner}/api`, day: addDays(week, 8), minutes: 10 },
    ])
  for (const login of ['hal', 'ida'])
    t.equal((await ada.delete(`/api/team/workspaces/${id}/members?login=${login}`)).status, 200)
  t.equal((await joe.request('DELETE', '/api/me', { body: { confirm: 'joe' } })).status, 200)
  await service.app.jobs.erasures.run()
  const asked = ['bob', 'hal', 'ida', 'joe', 'cleo', 'nobody-at-all', 'deleted user']
  const responsesTo = async (from: string, to: string, forms = ['', '&format=csv', `&repo=${owner}/api`]) => {
    const responses = []
    for (const member of asked)
      for (const form of forms) {
        const query = `&member=${encodeURIComponent(member)}${form}`
        const { status, body } = await ada.get(path(id, from, to, query))
        const { request_id: _, ...rest } = body ?? {}
        responses.push({ status, ...rest })
      }
    return responses
  }
  await setLevel(id, 'team')
  const [hidden, ...others] = await responsesTo(week, week)
  t.hasStrict(hidden, { status: 403, code: 'member_detail_hidden' })
  for (const response of others) t.same(response, hidden)
  t.match((await ada.get(path(id, week, week, '&member=ADA'))).body.totals, { active_minutes: 10 })

  // Back at “named” since a Wednesday: hidden is whatever has a day of before in it.
  await setLevel(id, 'named')
  await moveChange(id, `${addDays(week, 2)}T12:00:00Z`)
  for (const [from, to] of [
    [week, addDays(week, 8)],
    [addDays(week, 6), addDays(week, 7)],
  ] as const)
    for (const response of await responsesTo(from, to)) t.same(response, hidden, `${from} to ${to}`)
  const named = await responsesTo(addDays(week, 7), addDays(week, 8), [''])
  t.same(
    named.map(({ status, code }) => code ?? status),
    [200, 200, ...asked.slice(2).map(() => 'member_not_found')],
  )
})

t.test('at level “team”, reloading reveals no new activity', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  await setLevel(id, 'team')
  for (const caller of people.slice(0, 4))
    await flush(caller, [{ repo: `${owner}/api`, day: week, minutes: 10, hours: { 9: 10 } }])
  await publish()
  const reload = async () => {
    const responses = []
    for (const url of [
      path(id, week, today),
      path(id, today, today),
      path(id, week, today, `&repo=${owner}/api`),
      path(id, week, today, '&trends=true'),
      path(id, week, today, '&format=csv'),
      `/api/team/workspaces/${id}/members`,
    ]) {
      const { body, text } = await ada.get(url)
      const { generated_at: _, ...content } = body ?? { text }
      responses.push(content)
    }
    return responses
  }
  const before = await reload()
  // Decoys of the admin, then a member who works late, one minute after the other.
  for (const [caller, hour] of [
    [ada, 9],
    [ada, 22],
    [bob, 22],
    [bob, 23],
    [dan, 23],
  ] as const) {
    for (const day of [week, today])
      await flush(caller, [
        { repo: `${owner}/api`, day, minutes: 1, hours: { [day === week ? hour : 0]: 1 } },
      ])
    t.same(await reload(), before)
    await Promise.all([publish(), service.app.jobs.rollups.run()])
    t.same(await reload(), before)
  }
})

t.test('numbers based on too few people are hidden', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  for (const caller of people)
    await flush(caller, [{ repo: `${owner}/api`, day: week, minutes: 60, hours: { 9: 60 } }])
  for (const caller of [ada, bob, cleo])
    await flush(caller, [{ repo: `${owner}/web`, day: week, minutes: 60, hours: { 10: 60 } }])
  await flush(dan, [{ repo: `${owner}/secret`, day: addDays(week, 2), minutes: 30, hours: { 3: 30 } }])
  for (const caller of [ada, bob])
    await flush(caller, [{ repo: `${owner}/api`, day: weekBefore, minutes: 60, hours: { 9: 60 } }])
  await ada.post('/api/team/commits', {
    workspace: id,
    day: week,
    members: [{ login: 'eve', repos: [{ repo: `${owner}/api`, count: 4 }] }],
  })
  await setLevel(id, 'team')
  await publish()
  const { body } = await ada.get(path(id, week, week))
  t.same(body.totals, { active_minutes: 630, commits: null, closed_issues: 0, active_members: 7 })
  t.same(body.previous_totals, {
    active_minutes: null,
    commits: null,
    closed_issues: null,
    active_members: null,
  })
  t.ok(body.daily.every((day: { active_minutes: unknown }) => day.active_minutes === null))
  t.same(body.repos, [
    { repo: `${owner}/api`, active_minutes: 420, commits: null, closed_issues: 0, members: 7 },
    { repo: null, active_minutes: 210, commits: null, closed_issues: 0, members: null },
  ])
  const cells = body.heatmap.filter(({ minutes }: { minutes: number | null }) => minutes !== null)
  t.same(cells, [{ weekday: 1, hour: 9, minutes: 420 }], 'a smaller cell is held back with the one of dan')

  const ofApi = (await ada.get(path(id, weekBefore, week, `&repo=${owner}/API`))).body
  t.match(ofApi, { totals: { active_minutes: 420, commits: null, active_members: 7 }, heatmap: null })
  t.equal(ofApi.repos.length, 1)
  t.ok(ofApi.daily.every((day: { active_minutes: unknown }) => day.active_minutes === null))
  const ofSecret = (await ada.get(path(id, week, week, `&repo=${owner}/secret`))).body
  hasProperties(t, ofSecret, { totals: { active_minutes: null }, repos: [], heatmap: null })
  const nothing = (await ada.get(path(id, weekBefore, weekBefore))).body
  hasProperties(t, nothing, { totals: { active_minutes: null }, repos: [], members: [], heatmap: null })
})

t.test('a week with too many rows to compute is published with its totals alone', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  for (const caller of [ada, bob, cleo])
    await flush(caller, [{ repo: `${owner}/api`, day: week, minutes: 10 }])
  await service.database.write.statement(
    `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
     select $1::uuid, id, $2::text::date + d, 'acme/' || r, 1
     from users, generate_series(0, 6) d, generate_series(1, 2400) r where login in ('ada', 'bob', 'cleo')`,
    [id, week],
  )
  await setLevel(id, 'team')
  await publish()
  const { body } = await ada.get(path(id, week, week))
  const minutes = 3 * 7 * 2_400 + 30
  t.same(body.totals, { active_minutes: minutes, commits: 0, closed_issues: 0, active_members: 3 })
  t.ok(body.daily.every((day: { active_minutes: unknown }) => day.active_minutes === null))
  t.same(body.repos, [{ repo: null, active_minutes: minutes, commits: 0, closed_issues: 0, members: null }])
  t.equal(body.heatmap, null)
})

t.test('an erased person’s activity counts, but not as a person', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  const erase = (from: Caller[]) =>
    service.database.hot.statement(
      `with known as (
        insert into users (id, repohost_id, login, login_key, avatar_url)
        values ('00000000-0000-0000-0000-000000000000', 0, 'deleted user', 'deleted user', '') on conflict do nothing
      ), moved as (
        delete from daily_activity where workspace_id = $1::uuid
          and user_id in (select id from users where login = any($2::text[])) returning *
      )
      insert into daily_activity
      select workspace_id, '00000000-0000-0000-0000-000000000000', day, repo_key, sum(minutes), 0, 0
      from moved group by workspace_id, day, repo_key`,
      [id, from.map(({ login }) => login)],
    )
  for (const day of [week, weekBefore])
    for (const caller of [ada, bob, cleo, dan].slice(day === week ? 0 : 1))
      await flush(caller, [{ repo: `${owner}/api`, day, minutes: 10 }])
  await erase([dan])
  await service.database.hot.statement(
    'insert into changed_days (workspace_id, day) values ($1::uuid, $2::text::date) on conflict do nothing',
    [id, week],
  )
  for (let round = 0; round < 2; round++) {
    const named = (await ada.get(path(id, week, week))).body
    hasProperties(t, named, {
      totals: { active_minutes: 40, active_members: 3 },
      daily: [{ active_members: 3 }],
      repos: [{ active_minutes: 40, members: 3 }],
    })
    t.match((await ada.get(path(id, addDays(week, 1), addDays(week, 1)))).body.previous_totals, {
      active_minutes: 40,
      active_members: 3,
    })
    await service.app.jobs.rollups.run()
  }
  await setLevel(id, 'team')
  await publish()
  t.match((await ada.get(path(id, week, week))).body.totals, { active_minutes: 40, active_members: 3 })
  t.equal((await ada.get(path(id, weekBefore, weekBefore))).body.totals.active_minutes, null)
})

t.test('after changing back, earlier weeks are shown as published and later days by name', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  const later = addDays(week, 8)
  for (const caller of people)
    await flush(caller, [
      { repo: `${owner}/api`, day: addDays(week, 2), minutes: 60, hours: { 9: 60 } },
      { repo: `${owner}/api`, day: later, minutes: 30, hours: { 9: 30 } },
    ])
  await flush(bob, [{ repo: `${owner}/mine`, day: later, minutes: 30 }])
  await setLevel(id, 'team')
  await setLevel(id, 'named')
  // On a Wednesday: the whole week stays as it is published.
  await moveChange(id, `${addDays(week, 2)}T12:00:00Z`)
  await publish()
  const { body } = await ada.get(path(id, addDays(week, 3), later))
  t.same(body.range, { from: week, to: later, days: 9 })
  t.match(body.totals, { active_minutes: 7 * 60 + 7 * 30 + 30, active_members: 7 })
  t.equal(body.members.length, 7)
  t.hasStrict(body.members[0], { login: 'bob', active_minutes: 60, active_days: 1, last_active_day: later })
  t.same(
    body.repos.map((row: Record<string, unknown>) => [row.repo, row.active_minutes, row.members]),
    [
      [`${owner}/api`, 7 * 90, 7],
      [`${owner}/mine`, 30, 1],
    ],
  )
  t.equal(body.daily.length, 9)
  t.hasStrict(body.daily[8], { day: later, active_minutes: 7 * 30 + 30 })
  t.match(body.daily[7], { active_minutes: 0 })
  const cells = body.heatmap.filter(({ minutes }: { minutes: number }) => minutes > 0)
  t.same(cells, [
    { weekday: 2, hour: 9, minutes: 210 },
    { weekday: 3, hour: 9, minutes: 420 },
  ])
  t.equal((await ada.get(path(id, addDays(week, 6), later, '&member=bob'))).body.code, 'member_detail_hidden')
  const ofBob = (await ada.get(path(id, addDays(week, 7), later, '&member=bob'))).body
  t.match(ofBob, { totals: { active_minutes: 60 }, previous_totals: { active_minutes: null } })
  t.ok((await ada.get(path(id, week, later, '&format=csv'))).text.includes(`\n${later},240,0,0\n`))
  const { members } = (await ada.get(`/api/team/workspaces/${id}/members`)).body
  t.ok(members.every((member: { last_active_day: string }) => member.last_active_day === later))
})

t.test('a level changes on a UTC day, in any database time zone', async (t) => {
  const [{ name } = { name: '' }] = await service.database.read.statement<{ name: string }>(
    'select quote_ident(current_database()) as name',
    [],
  )
  const id = await team()
  await setLevel(id, 'team')
  await setLevel(id, 'named')
  t.teardown(() => service.database.read.statement(`alter database ${name} reset timezone`, []))
  const sunday = addDays(weekBefore, 6)
  for (const zone of ['Pacific/Kiritimati', 'America/Los_Angeles']) {
    await service.database.read.statement(`alter database ${name} set timezone to '${zone}'`, [])
    const other = await startService(t, { beside: service, env: { ACTIVITY_MIN_GROUP: '3' } })
    const asAda = (from: string) =>
      other.request('GET', path(id, from, from), { headers: { Authorization: `Bearer ${ada.token}` } })
    for (const [moment, firstNamed] of [
      // On a Sunday, someone's Monday may have begun.
      [`${addDays(sunday, -1)}T23:59:59Z`, addDays(sunday, 1)],
      [`${sunday}T00:00:00Z`, addDays(sunday, 8)],
    ] as const) {
      await moveChange(id, moment)
      t.equal((await asAda(firstNamed)).body.members.length, 7, `${zone}: from ${firstNamed} on`)
      t.equal((await asAda(addDays(firstNamed, -1))).body.members.length, 0, `${zone}: before ${firstNamed}`)
    }
  }
})

t.test('dashboards during a change show one level or the other, and later ones the new level', async (t) => {
  const id = await team()
  const owner = await patterns(id)
  for (const caller of people) await flush(caller, [{ repo: `${owner}/api`, day: today, minutes: 9 }])
  const url = path(id, today, today)
  for (const level of ['team', 'named', 'team']) {
    const during = Promise.all(Array.from({ length: 12 }, () => ada.get(url)))
    const changed = setLevel(id, level)
    for (const { body } of await during) {
      const isNamed = body.members.length > 0
      t.equal(body.totals.active_minutes, isNamed ? 63 : null)
      t.equal(body.range.days, isNamed ? 1 : 7)
    }
    t.equal((await changed).status, 200)
    const after = await ada.get(url)
    t.same(after.body.members, [], 'today stays as it was promised')
  }
})

t.test('a workspace starts at the level its creator chooses', async (t) => {
  const create = (body: object) => ada.post('/api/team/workspaces/create', { name: 'New', ...body })
  const { status, body } = await create({ activity_privacy: 'team' })
  t.equal(status, 201)
  t.equal(body.workspace.activity_privacy, 'team')
  t.equal(body.workspace.activity_privacy_since, body.workspace.created_at)
  t.equal((await create({})).body.workspace.activity_privacy, 'named')
  t.hasStrict(await create({ activity_privacy: 'none' }), {
    status: 400,
    body: { code: 'validation_failed' },
  })
})

t.test('no level goes below the operator’s floor, and lower ones are raised', async (t) => {
  const id = await team([bob])
  const owner = await patterns(id)
  await flush(bob, [{ repo: `${owner}/api`, day: today, minutes: 9 }])
  const env = { ACTIVITY_MIN_GROUP: '3', ACTIVITY_PRIVACY_FLOOR: 'team' }
  const strict = await startService(t, { beside: service, env })
  const headers = { Authorization: `Bearer ${ada.token}` }
  const settings = `/api/team/workspaces/${id}/settings`
  t.equal((await ada.get(settings)).body.activity_privacy, 'team', 'even without the floor')
  const { entries } = (await ada.get(`/api/team/workspaces/${id}/audit`)).body
  t.hasStrict(entries[0], {
    actor: 'service',
    action: 'activity_privacy.changed',
    details: { before: 'named', after: 'team' },
  })
  const rejected = await strict.request('PATCH', settings, { headers, body: { activity_privacy: 'named' } })
  hasProperties(t, rejected.body, { code: 'validation_failed', errors: [{ path: '/body/activity_privacy' }] })
  const create = (body: object) =>
    strict.request('POST', '/api/team/workspaces/create', { headers, body: { name: 'New', ...body } })
  const refused = await create({ activity_privacy: 'named' })
  hasProperties(t, refused, {
    status: 400,
    body: { code: 'validation_failed', errors: [{ path: '/body/activity_privacy' }] },
  })
  t.equal((await create({ activity_privacy: 'team' })).body.workspace.activity_privacy, 'team')
  const created = await create({})
  t.equal(created.body.workspace.activity_privacy, 'team')
  t.equal(
    (await ada.get(`/api/team/workspaces/${created.body.workspace.id}/settings`)).body.activity_privacy,
    'team',
  )

  // Another instance, which doesn't know of the floor yet.
  const { id: loose } = await service.workspace(ada, { patterns: [`${owner}/*`], members: [bob] })
  await flush(bob, [{ repo: `${owner}/api`, day: today, minutes: 9 }])
  const get = async (url: string) => (await strict.request('GET', url, { headers })).body
  hasProperties(t, await get(path(loose, today, today)), { members: [], totals: { active_minutes: null } })
  hasProperties(t, (await get(`/api/team/workspaces/${loose}/members`)).members, [
    { last_active_day: null },
    { last_active_day: null },
  ])
  t.equal((await get(`/api/team/workspaces/${loose}/settings`)).activity_privacy, 'team')
  t.equal((await get(path(loose, today, today, '&member=bob'))).code, 'member_detail_hidden')
})

type Sums = Record<'active_minutes' | 'commits', number | null>
interface HttpResponse {
  totals: Sums
  daily: (Sums & { day: string })[]
  repos: (Sums & { repo: string | null })[]
  heatmap: { weekday: number; hour: number; minutes: number | null }[] | null
}

t.test('for any requested range and filter, the response consists of published weeks', async (t) => {
  const weeks = [week, weekBefore]
  const id = await team()
  const owner = await patterns(id)
  const names = ['api', 'web', 'docs'].map((name) => `${owner}/${name}`)
  for (const [person, caller] of people.entries()) {
    const entries = weeks.flatMap((monday) =>
      [0, 1].flatMap((index) =>
        names.flatMap((repo, place) => {
          // The one who asks is everywhere, others here and there.
          const hours = [8, 9, 10].filter(
            (hour) => caller === ada || (person * 5 + hour + index + place) % 3 > 0,
          )
          const minutes = Object.fromEntries(hours.map((hour) => [hour, 1 + ((person + hour) % 19)]))
          const sum = Object.values(minutes).reduce((one, other) => one + other, 0)
          return sum > 0 ? [{ repo, day: addDays(monday, index), minutes: sum, hours: minutes }] : []
        }),
      ),
    )
    await flush(caller, entries)
  }
  await setLevel(id, 'team')
  await publish()
  const ask = async (from: string, to: string, query = ''): Promise<HttpResponse> =>
    (await ada.get(path(id, from, to, query))).body
  const [one, other] = [await ask(week, addDays(week, 6)), await ask(weekBefore, addDays(weekBefore, 6))]
  t.ok(one.daily.some(({ active_minutes }) => active_minutes !== null))
  t.ok(other.heatmap?.some(({ minutes }) => minutes !== null))
  const plus = (a: number | null, b: number | null) => (a === null ? b : a + (b ?? 0))
  for (const [from, to] of [
    [addDays(weekBefore, 3), week],
    [weekBefore, addDays(week, 6)],
    [addDays(weekBefore, 6), addDays(week, 1)],
  ] as const) {
    const both = await ask(from, to)
    t.equal(both.totals.active_minutes, plus(one.totals.active_minutes, other.totals.active_minutes))
    t.same(both.daily, [...other.daily, ...one.daily])
    t.same(
      both.heatmap?.map(({ minutes }) => minutes),
      both.heatmap?.map((_, cell) =>
        plus(one.heatmap?.[cell]?.minutes ?? null, other.heatmap?.[cell]?.minutes ?? null),
      ),
    )
    for (const repo of names) {
      const of = ({ repos }: HttpResponse) => repos.find((row) => row.repo === repo)?.active_minutes ?? null
      t.equal(of(both), plus(of(one), of(other)))
      const filtered = await ask(from, to, `&repo=${repo}`)
      t.equal(filtered.totals.active_minutes, of(both))
      t.ok(filtered.heatmap === null && filtered.daily.every((day) => day.active_minutes === null))
    }
    const csv = (await ada.get(path(id, from, to, '&format=csv'))).text.split('\n').slice(1, -1)
    t.same(
      csv.map((line) => line.split(',')[1]),
      both.daily.map(({ active_minutes }) => String(active_minutes ?? '')),
    )
  }
})
