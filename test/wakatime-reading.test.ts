/** Tests what WakaTime's tools read about a person's time. */
import fc from 'fast-check'
import t from 'tap'
import { addDays } from '../src/platform/time/days.js'
import { type Caller, startService } from './service.js'

const BASE = '/api/wakatime/v1/users/current'
const HOUR_SECONDS = 3_600
const EMPTY = { languages: [], editors: [], machines: [], operating_systems: [], dependencies: [] }

const today = () => new Date().toISOString().slice(0, 10)

interface Entry {
  repo: string
  day: string
  hours?: Record<string, number>
  minutes: number
}

const flush = async (caller: Caller, entries: Entry[], timezone?: string) => {
  const reply = await caller.post('/api/team/active-minutes', { entries, ...(timezone && { timezone }) })
  if (reply.status !== 200) throw new Error(reply.text)
}

const read = async (caller: Caller, path: string, headers = {}) => {
  const { status, body } = await caller.get(`${BASE}/${path}`, headers)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return body
}

t.test('reading in the format of WakaTime', async (t) => {
  const service = await startService(t)

  t.test('a day has its total, its projects, one category and empty lists', async (t) => {
    const caller = await service.signIn('shape')
    await service.workspace(caller)
    const day = addDays(today(), -1)
    await flush(caller, [
      { repo: 'acme/Web', day, hours: { 9: 45 }, minutes: 45 },
      { repo: 'acme/api', day, hours: { 10: 15 }, minutes: 15 },
    ])
    const duration = (text: string, digital: string, hours: number, minutes: number) => ({
      text,
      digital,
      hours,
      minutes,
      total_seconds: (hours * 60 + minutes) * 60,
    })
    const range = {
      date: day,
      start: `${day}T00:00:00Z`,
      end: `${day}T23:59:59Z`,
      text: day,
      timezone: 'UTC',
    }
    const hour = { ...duration('1 hr 0 mins', '1:00', 1, 0), decimal: '1.00' }
    const expected = {
      data: [
        {
          grand_total: hour,
          categories: [{ name: 'Coding', ...hour, seconds: 0, percent: 100 }],
          projects: [
            {
              name: 'acme/Web',
              ...duration('45 mins', '0:45', 0, 45),
              decimal: '0.75',
              seconds: 0,
              percent: 75,
            },
            {
              name: 'acme/api',
              ...duration('15 mins', '0:15', 0, 15),
              decimal: '0.25',
              seconds: 0,
              percent: 25,
            },
          ],
          ...EMPTY,
          range,
        },
      ],
      start: range.start,
      end: range.end,
      cumulative_total: { text: '1 hr 0 mins', digital: '1:00', decimal: '1.00', seconds: 3_600 },
      daily_average: {
        text: '1 hr 0 mins',
        text_including_other_language: '1 hr 0 mins',
        seconds: 3_600,
        seconds_including_other_language: 3_600,
        days_including_holidays: 1,
        days_minus_holidays: 1,
        holidays: 0,
      },
    }
    for (const query of [
      `start=${day}&end=${day}`,
      'range=Yesterday',
      'range=yesterday',
      'start=Yesterday&end=yesterday',
      `start=${day}T00:00:00Z&end=${day}T23:59:59.999Z`,
    ])
      t.strictSame(await read(caller, `summaries?${query}`), expected, query)
    t.strictSame(await read(caller, `durations?date=${day}`), {
      data: [
        {
          project: 'acme/Web',
          time: Date.parse(day) / 1_000 + 9 * HOUR_SECONDS,
          duration: 2_700,
          color: null,
        },
        {
          project: 'acme/api',
          time: Date.parse(day) / 1_000 + 10 * HOUR_SECONDS,
          duration: 900,
          color: null,
        },
      ],
      branches: [],
      start: range.start,
      end: range.end,
      timezone: 'UTC',
    })
    const { data, ...page } = await read(caller, 'projects?q=WEB')
    t.strictSame(
      data.map(({ name, created_at, last_heartbeat_at }: Record<string, string>) => [
        name,
        created_at,
        last_heartbeat_at,
      ]),
      [['acme/Web', `${day}T00:00:00Z`, `${day}T00:00:00Z`]],
    )
    t.strictSame(page, { total: 1, total_pages: 1, page: 1, prev_page: null, next_page: null })
    const stats = (await read(caller, 'stats/last_7_days')).data
    t.strictSame(stats.best_day, { date: day, text: '1 hr 0 mins', total_seconds: 3_600 })
    t.strictSame(stats.projects, expected.data[0]?.projects)
    t.equal(stats.human_readable_total, '1 hr 0 mins')
    t.equal(stats.start, `${addDays(today(), -6)}T00:00:00Z`)
    const allTime = (await read(caller, 'all_time_since_today')).data
    t.equal(allTime.total_seconds, 3_600)
    t.equal(allTime.range.start_date, day)
  })

  t.test('all endpoints agree with each other, the status bar and the member’s own dashboard', async (t) => {
    let person = 0
    // In an hour with two entries, it may be full in one workspace and not in the other.
    const entries = fc.uniqueArray(
      fc.record({
        repo: fc.constantFrom('acme/web', 'acme/api', 'other/lib'),
        back: fc.nat(3),
        hour: fc.option(fc.nat(23), { nil: undefined }),
        minutes: fc.integer({ min: 1, max: 60 }),
      }),
      { minLength: 1, maxLength: 12, selector: ({ back, hour, repo }) => `${back} ${hour} ${repo}` },
    )
    const zones = fc.constantFrom('UTC', 'Asia/Kolkata', 'Pacific/Kiritimati', 'America/Los_Angeles')
    const now = new Date()
    await fc.assert(
      fc.asyncProperty(entries, zones, async (given, timezone) => {
        const caller = await service.signIn(`agree-${person++}`)
        // Minutes that count in both count once.
        const { id } = await service.workspace(caller, { patterns: ['acme/*', 'other/*'] })
        await service.workspace(caller, { patterns: ['acme/web'] })
        // Hours of today may lie ahead; yesterday's don't.
        await flush(
          caller,
          given.map(({ repo, back, hour, minutes }) => ({
            repo,
            day: addDays(now.toISOString().slice(0, 10), -back - 1),
            ...(hour !== undefined && { hours: { [hour]: minutes } }),
            minutes,
          })),
        )
        const headers = { Timezone: timezone }
        const { data } = await read(caller, 'summaries?range=last_7_days', headers)
        const days = data.map(({ grand_total }: { grand_total: { total_seconds: number } }) => grand_total)
        const sum = (list: { total_seconds: number }[]) =>
          list.reduce((total, { total_seconds }) => total + total_seconds, 0)
        const total = sum(days)
        const dashboard = await caller.get(
          `/api/team/dashboard/mine?workspace=${id}&from=${addDays(today(), -10)}&to=${today()}`,
        )
        t.equal(total, dashboard.body.totals.active_minutes * 60)
        for (const one of data) {
          t.equal(sum(one.projects), one.grand_total.total_seconds)
          t.equal(sum(one.categories), one.grand_total.total_seconds)
          const slices = await read(caller, `durations?date=${one.range.date}`, headers)
          const ofHours = new Map<number, number>()
          for (const { time, duration } of slices.data) ofHours.set(time, (ofHours.get(time) ?? 0) + duration)
          const midnight = Date.parse(one.range.start) / 1_000
          for (const [time, seconds] of ofHours) t.ok(seconds <= HOUR_SECONDS || time === midnight)
          t.equal(
            slices.data.reduce((total: number, { duration }: { duration: number }) => total + duration, 0),
            one.grand_total.total_seconds,
          )
          if (timezone === 'UTC') {
            const daily = dashboard.body.daily.find(({ day }: { day: string }) => day === one.range.date)
            t.equal((daily?.active_minutes ?? 0) * 60, one.grand_total.total_seconds)
          }
        }
        const stats = (await read(caller, 'stats/LAST_7_DAYS', headers)).data
        t.equal(stats.total_seconds, total)
        t.equal(sum(stats.projects), total)
        const byRepo = new Map(
          dashboard.body.repos.map(({ repo, active_minutes }: { repo: string; active_minutes: number }) => [
            repo,
            active_minutes * 60,
          ]),
        )
        const hours = given.map(({ back, hour }) => `${back} ${hour}`)
        if (new Set(hours).size === hours.length)
          for (const { name, total_seconds } of stats.projects) t.equal(total_seconds, byRepo.get(name), name)
        t.equal((await read(caller, 'stats/all_time', headers)).data.total_seconds, total)
        t.equal((await read(caller, 'all_time_since_today', headers)).data.total_seconds, total)
        const bar = (await read(caller, 'status_bar/today', headers)).data
        const { decimal: _, ...last } = data.at(-1).grand_total
        t.strictSame(bar.grand_total, last)
        t.strictSame(bar.projects, data.at(-1).projects)
        t.hasStrict(bar, EMPTY)
      }),
      { numRuns: 3 },
    )
  })

  t.test('projects add up to the total even if an hour is full in only one workspace', async (t) => {
    const caller = await service.signIn('full')
    await service.workspace(caller, { patterns: ['acme/*'] })
    await service.workspace(caller, { patterns: ['other/*'] })
    const day = addDays(today(), -1)
    await flush(caller, [
      { repo: 'acme/web', day, hours: { 9: 60 }, minutes: 60 },
      { repo: 'other/lib', day, hours: { 9: 20, 10: 10 }, minutes: 30 },
    ])
    const minutesOf = (list: { name: string; total_seconds: number }[]) =>
      list.map(({ name, total_seconds }) => [name, total_seconds / 60])
    const expected = [
      ['acme/web', 60],
      ['other/lib', 10],
    ]
    const [summary] = (await read(caller, `summaries?start=${day}&end=${day}`)).data
    t.equal(summary.grand_total.total_seconds, 70 * 60)
    for (const list of [
      summary.projects,
      (await read(caller, 'stats/last_7_days')).data.projects,
      (await read(caller, 'stats/all_time')).data.projects,
    ])
      t.strictSame(minutesOf(list), expected)
  })

  t.test('days are in the time zone of the recording, not the reader’s', async (t) => {
    const caller = await service.signIn('zones')
    await service.workspace(caller)
    const day = addDays(today(), -2)
    await flush(caller, [{ repo: 'acme/web', day, hours: { 20: 30 }, minutes: 30 }], 'Asia/Tokyo')
    await flush(
      caller,
      [{ repo: 'acme/web', day, hours: { 2: 10, 20: 20 }, minutes: 37 }],
      'America/Los_Angeles',
    )
    const minutesOn = async (date: string, timezone: string) => {
      const query = `start=${date}&end=${date}&timezone=${encodeURIComponent(timezone)}`
      const [found] = (await read(caller, `summaries?${query}`)).data
      return found.grand_total.total_seconds / 60
    }
    for (const timezone of ['Europe/London', 'Asia/Tokyo', 'Pacific/Niue']) {
      const minutes = []
      for (const later of [-1, 0, 1]) minutes.push(await minutesOn(addDays(day, later), timezone))
      t.strictSame(minutes, [10, 27, 30], timezone)
    }
    t.equal((await read(caller, 'all_time_since_today')).data.range.start_date, addDays(day, -1))
    t.equal((await read(caller, 'all_time_since_today')).data.total_seconds, 67 * 60)
    t.strictSame(
      (await read(caller, `durations?date=${day}&timezone=UTC`)).data.map(
        ({ time, duration }: Record<string, number>) => [time, duration],
      ),
      [
        [Date.parse(day) / 1_000, 7 * 60],
        [Date.parse(day) / 1_000 + 20 * 3_600, 20 * 60],
      ],
    )
  })

  t.test('on every endpoint, the parameter or the header decides which day is today', async (t) => {
    const caller = await service.signIn('reader')
    await flush(caller, [], 'Asia/Tokyo')
    const zonesIn = async (path: string, given?: string, header?: string) => {
      const query = given === undefined ? '' : `${path.includes('?') ? '&' : '?'}timezone=${given}`
      const { body } = await caller.get(BASE + path + query, header === undefined ? {} : { Timezone: header })
      const { data } = body
      return body.timezone ?? data.timezone ?? data.range?.timezone ?? data[0].range.timezone
    }
    for (const path of [
      '/statusbar/today',
      '/status_bar/today',
      '/summaries',
      '/stats',
      '/stats/last_7_days',
      '/stats/all_time',
      '/all_time_since_today',
      '/durations?date=today',
    ]) {
      t.equal(await zonesIn(path), 'Asia/Tokyo', path)
      t.equal(await zonesIn(path, undefined, 'Pacific/Niue'), 'Pacific/Niue', path)
      t.equal(await zonesIn(path, 'Pacific/Niue'), 'Pacific/Niue', path)
      t.equal(await zonesIn(path, 'Pacific/Niue', 'Europe/Kyiv'), 'Pacific/Niue', path)
      t.equal(await zonesIn(path, 'Mars/Olympus', 'Europe/Kyiv'), 'Europe/Kyiv', path)
    }
    t.equal((await caller.get(BASE)).body.data.timezone, 'Asia/Tokyo', 'and is not remembered')
  })

  t.test('a project’s first and last days are local days in each time zone of a trip', async (t) => {
    const caller = await service.signIn('journey')
    await service.workspace(caller)
    const day = addDays(today(), -3)
    await flush(caller, [{ repo: 'acme/web', day, hours: { 20: 10 }, minutes: 10 }], 'Asia/Tokyo')
    await flush(caller, [{ repo: 'acme/web', day, hours: { 21: 10 }, minutes: 10 }], 'Asia/Kolkata')
    const [project] = (await read(caller, 'projects')).data
    const next = `${addDays(day, 1)}T00:00:00Z`
    t.strictSame([project.created_at, project.last_heartbeat_at], [next, next])
  })

  t.test('agent time is a category and isn’t in any total', async (t) => {
    const caller = await service.signIn('agents')
    await service.workspace(caller)
    const day = addDays(today(), -1)
    const beat = (minute: number, category: string) => ({
      time: Date.parse(day) / 1_000 + 9 * HOUR_SECONDS + minute * 60,
      project: 'acme/web',
      category,
    })
    await caller.post(`${BASE}/heartbeats.bulk`, [
      ...[0, 3, 6].map((minute) => beat(minute, 'coding')),
      ...[5, 8, 11].map((minute) => beat(minute, 'AI Coding')),
    ])
    const categories = [
      { name: 'Coding', total_seconds: 7 * 60 },
      { name: 'AI Coding', total_seconds: 5 * 60 },
    ]
    const [summary] = (await read(caller, `summaries?start=${day}&end=${day}`)).data
    const stats = (await read(caller, 'stats/last_7_days')).data
    const everything = (await read(caller, 'stats/all_time')).data
    for (const found of [summary, stats, everything])
      t.strictSame(
        found.categories.map(({ name, total_seconds }: (typeof categories)[number]) => ({
          name,
          total_seconds,
        })),
        categories,
      )
    t.equal(summary.grand_total.total_seconds, 7 * 60)
    t.equal(stats.total_seconds, 7 * 60)
    t.equal((await read(caller, 'all_time_since_today')).data.total_seconds, 7 * 60)
    t.equal((await read(caller, `durations?date=${day}`)).data[0].duration, 7 * 60)
  })

  t.test('ranges cover at most a year, and unsupported endpoints return 404', async (t) => {
    const caller = await service.signIn('limits')
    const failure = async (path: string) => {
      const { status, body } = await caller.get(`${BASE}/${path}`)
      return [status, body.code]
    }
    t.strictSame(await failure('summaries?start=2020-01-01&end=2026-01-01'), [400, 'invalid_range'])
    t.strictSame(await failure('summaries?start=2026-01-02&end=2026-01-01'), [400, 'invalid_range'])
    for (const day of ['soon', '2026-02-30', '0000-01-01', '0003-01-01', '9999-12-31'])
      for (const path of [`summaries?start=${day}&end=${day}`, `durations?date=${day}`])
        t.strictSame(await failure(path), [400, 'validation_failed'], path)
    for (const day of ['0003-01-02', '9999-12-30'])
      for (const path of [`summaries?start=${day}&end=${day}`, `durations?date=${day}`])
        await read(caller, `${path}&timezone=Pacific/Kiritimati`)
    for (const range of ['decade', 'constructor', '__proto__', ''])
      t.strictSame(await failure(`summaries?range=${range}`), [400, 'validation_failed'], range)
    for (const path of [
      'goals',
      'leaders',
      'machine_names',
      'stats/last_99_days',
      'stats/constructor',
      'insights/days',
    ])
      t.strictSame(await failure(path), [404, 'route_not_found'], path)
    t.equal((await read(caller, 'summaries?range=last_year')).data.length >= 365, true)
    t.equal((await read(caller, 'stats/last_year')).data.total_seconds, 0)
    t.equal((await caller.get('/api/wakatime/v1/users/someone-else/projects')).status, 404)
    t.equal((await caller.get('/api/wakatime/v1/users/LIMITS/projects')).status, 200)
  })

  t.test('a known project returns its time, and an unknown one none', async (t) => {
    const caller = await service.signIn('projects')
    await service.workspace(caller)
    const day = addDays(today(), -1)
    await flush(caller, [
      { repo: 'acme/Web', day, hours: { 9: 45 }, minutes: 45 },
      { repo: 'acme/api', day, hours: { 10: 15 }, minutes: 15 },
    ])
    for (const [project, minutes] of [
      ['acme/web', 45],
      ['nope', 0],
    ] as const) {
      const [summary] = (await read(caller, `summaries?range=yesterday&project=${project}`)).data
      const stats = (await read(caller, `stats?project=${project}`)).data
      const everything = (await read(caller, `stats/all_time?project=${project}`)).data
      for (const { total_seconds, projects } of [{ ...summary.grand_total, ...summary }, stats, everything])
        t.strictSame(
          [
            total_seconds ?? summary.grand_total.total_seconds,
            projects.map(({ name }: { name: string }) => name),
          ],
          [minutes * 60, minutes > 0 ? ['acme/Web'] : []],
        )
      t.equal(
        (await read(caller, `all_time_since_today?project=${project}`)).data.total_seconds,
        minutes * 60,
      )
    }
    t.equal((await read(caller, 'stats')).data.range, 'last_7_days')
    t.equal((await read(caller, 'stats/Last%207-Days')).data.range, 'last_7_days')
  })

  t.test('errors have the property that the tools show, and list valid values', async (t) => {
    const caller = await service.signIn('errors')
    const errorOf = async (path: string) => {
      const { body } = await caller.get(`${BASE}/${path}`)
      t.equal(body.error, body.detail, path)
      return body
    }
    t.match((await errorOf('stats/decade')).error, /last_7_days, .*all_time/)
    t.match((await errorOf('summaries?range=decade')).errors[0].message, /today, yesterday, last_7_days/)
    t.match((await errorOf('summaries?start=2026-01-02&end=2026-01-01')).error, /`start` .* `end`/)
    for (const path of ['stats/decade', 'summaries?range=decade'])
      t.equal((await service.request('GET', `${BASE}/${path}`)).status, 401, path)
    t.notOk('error' in (await caller.get('/api/team/dashboard')).body)
  })

  t.test(
    'tools that only accept a host, or use other services’ paths, reach the same operations',
    async (t) => {
      const caller = await service.signIn('aliases')
      const beat = { time: Date.now() / 1_000, project: 'acme/web' }
      for (const base of ['/api/v1', '/api/compat/wakatime/v1']) {
        t.equal((await caller.get(`${base}/users/current/summaries?range=today`)).status, 200)
        t.equal((await service.request('GET', `${base}/users/current`)).body.error !== undefined, true)
        t.equal((await caller.post(`${base}/users/current/heartbeats`, beat)).status, 201)
      }
      t.equal((await caller.post('/api/heartbeat', beat)).status, 201)
      t.equal((await caller.post('/api/heartbeats', [beat])).status, 202)
      t.equal((await caller.get('/api/heartbeats/more')).status, 404)
      const { headers } = await service.request('OPTIONS', '/api/v1/users/current/summaries', {
        headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'GET' },
      })
      t.match(headers.get('access-control-allow-headers'), /Timezone/)
      t.ok(
        service.logs.some(
          (line) => JSON.parse(line).route === '/api/wakatime/v1/users/:user/heartbeats.bulk',
        ),
      )
    },
  )

  t.test('dashboard links built by extensions lead to the page', async (t) => {
    for (const path of ['/api/wakatime/v1', '/api/wakatime/v1/', '/wakatime/v1']) {
      const { status, headers } = await service.request('GET', path)
      t.strictSame([status, headers.get('location')], [302, `${service.config.homeUrl}/`], path)
    }
  })

  t.test('a day with more projects than fit in the list sums up the rest', async (t) => {
    const caller = await service.signIn('many')
    // Each workspace counts at most 100 repositories of a day.
    await service.workspace(caller)
    await service.workspace(caller, { patterns: ['other/*'] })
    const day = addDays(today(), -1)
    await flush(
      caller,
      Array.from({ length: 120 }, (_, index) => ({
        repo: `${index < 60 ? 'acme' : 'other'}/r${index}`,
        day,
        minutes: index < 100 ? 2 : 1,
      })),
    )
    const [{ projects, grand_total }] = (await read(caller, `summaries?start=${day}&end=${day}`)).data
    t.equal(grand_total.total_seconds, 220 * 60)
    t.equal(projects.length, 101)
    t.hasStrict(projects.at(-1), { name: 'Other', minutes: 20 })
    const stats = (await read(caller, 'stats/last_7_days')).data
    t.equal(stats.projects.length, 120)
  })
})
