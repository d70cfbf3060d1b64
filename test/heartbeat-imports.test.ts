/** Files of heartbeats from elsewhere: WakaTime's data dump, and what wakapi exports. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { strToU8, Zip, ZipDeflate, zipSync } from 'fflate'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { ApiError } from '../src/errors.js'
import { runImports, startImport } from '../src/features/editors/import-heartbeats.js'
import { unpacked } from '../src/features/editors/parsing/unpack.js'
import { projectHostOf } from '../src/features/editors/project-names.js'
import { reduceFile } from '../src/features/editors/reduce-file.js'
import { reach } from './database.js'
import { hasProperties } from './has-properties.js'
import { fillWithPatterns } from './many-patterns.js'
import { programFile, temporaryFolder } from './process.js'
import { type Caller, reuseService, type Service, startService } from './service.js'
import { until } from './until.js'

const BASE = '/api/wakatime/v1/users/current'
const IMPORT = `${BASE}/import`
const DAY = 86_400

/** A UTC midnight so many days ago, in seconds. */
const midnight = (daysAgo: number) => Math.floor(Date.now() / 1_000 / DAY) * DAY - daysAgo * DAY
const dayOf = (time: number) => new Date(time * 1_000).toISOString().slice(0, 10)
/** A heartbeat every two minutes from nine o'clock. */
const morning = (daysAgo: number, count: number, project = 'acme/web') =>
  Array.from({ length: count }, (_, index) => ({
    time: midnight(daysAgo) + 9 * 3_600 + index * 120 + 0.5,
    project,
    entity: '/home/ada/canary.ts',
    branch: null,
    type: 'file',
  }))

/** As WakaTime exports heartbeats. */
const dumpOf = (heartbeats: { time: number }[]) => ({
  user: { id: 'x', username: 'ada', email: 'canary@example.com' },
  range: { start: 1, end: 2 },
  days: [...new Set(heartbeats.map(({ time }) => dayOf(time)))].map((date) => ({
    date,
    heartbeats: heartbeats.filter(({ time }) => dayOf(time) === date),
  })),
})

/** As the script of wakapi exports them. */
const csvOf = (heartbeats: { time: number; project: string }[]) =>
  [
    'branch,category,entity,is_write,language,project,time,type',
    ...heartbeats.map(({ time, project }) => `"a ""b"",\nc",coding,/x,True,Go,${project},${time},file`),
    '',
  ].join('\r\n')

/** More than a hundred minutes of a person and of agents, in lines of CSV. */
const busyDay = (daysAgo: number): string =>
  Array.from({ length: 130 }, (_, n) => {
    const line = `${midnight(daysAgo) + n * 600},acme/web,`
    return `${line}coding\n${line}ai coding`
  }).join('\n')

/** A ZIP file whose packer doesn't know the sizes beforehand. */
const streamedZip = (files: Record<string, Uint8Array>): Buffer => {
  const parts: Uint8Array[] = []
  const zip = new Zip((_error, part) => {
    parts.push(part)
  })
  for (const [name, bytes] of Object.entries(files)) {
    const file = new ZipDeflate(name)
    zip.add(file)
    file.push(bytes, true)
  }
  zip.end()
  return Buffer.concat(parts)
}

const minutesOf = async (caller: Caller): Promise<Record<string, number>> => {
  const { body } = await caller.get('/api/me/export')
  const minutes: Record<string, number> = {}
  for (const { repo, day, minutes: count } of body.activity) minutes[`${day} ${repo}`] = count
  return minutes
}

const someone = async (service: Service, login: string) => {
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller)
  const joined = (daysAgo: number) =>
    service.database.write.statement(
      `update members set joined_at = now() - make_interval(days => $2::int) where workspace_id = $1::uuid`,
      [id, daysAgo],
    )
  await joined(5_000)
  return { caller, joined, workspace: id }
}

const upload = async (caller: Caller, body: string | Buffer) => {
  const reply = await caller.request('POST', IMPORT, { body })
  if (reply.status !== 202) throw new Error(reply.text)
  return reply.body
}
const finished = (caller: Caller) =>
  until(async () => (await caller.get(IMPORT)).body.state !== 'running', 'the import ends')
const importFile = async (caller: Caller, body: string | Buffer) => {
  await upload(caller, body)
  await finished(caller)
  return (await caller.get(IMPORT)).body
}

t.test('imports', async (t) => {
  const service = await reuseService(t)

  t.test('a WakaTime data dump counts days of any age', async (t) => {
    const { caller } = await someone(service, 'ada')
    t.equal((await caller.get(IMPORT)).body.state, 'none')
    const heartbeats = [...morning(3_000, 10), ...morning(40, 5), ...morning(3, 4, 'acme/api')]
    const started = await upload(caller, JSON.stringify(dumpOf(heartbeats)))
    t.same([started.state, started.heartbeats, started.days], ['running', 19, 3])
    await finished(caller)
    const { state, days, days_done, minutes } = (await caller.get(IMPORT)).body
    t.same({ state, days, days_done, minutes }, { state: 'done', days: 3, days_done: 3, minutes: 35 })
    t.same(await minutesOf(caller), {
      [`${dayOf(midnight(3_000))} acme/web`]: 19,
      [`${dayOf(midnight(40))} acme/web`]: 9,
      [`${dayOf(midnight(3))} acme/api`]: 7,
    })
    const { text } = await caller.get('/api/me/export')
    t.notOk(text.includes('canary'))
  })

  t.test('wakapi’s CSV and JSON count, and a later import adds only what is new', async (t) => {
    const { caller } = await someone(service, 'bob')
    const day = `${dayOf(midnight(100))} acme/web`
    t.equal((await importFile(caller, csvOf(morning(100, 5)))).minutes, 9)
    t.equal((await importFile(caller, csvOf(morning(100, 5)))).minutes, 0)
    t.equal((await importFile(caller, JSON.stringify({ data: morning(100, 8) }))).minutes, 6)
    t.equal((await importFile(caller, JSON.stringify(morning(100, 3)))).minutes, 0)
    t.same(await minutesOf(caller), { [day]: 15 })
  })

  t.test('agent time in a file stays agent time for days of any age and any number of imports', async (t) => {
    const { caller } = await someone(service, 'agnes')
    const agents = (daysAgo: number, count: number) =>
      morning(daysAgo, count, 'acme/night').map((one) => ({ ...one, category: 'AI Coding' }))
    const agentMinutesOf = async () => {
      const { body } = await caller.get('/api/me/export')
      const rows = body.agent_minutes as { day: string; repo: string; agent_minutes: number }[]
      return Object.fromEntries(rows.map((row) => [`${row.day} ${row.repo}`, row.agent_minutes]))
    }
    // Heartbeats of both at nine: these minutes are the person's.
    const heartbeats = [...morning(50, 3), ...agents(50, 8), ...agents(2, 4), ...agents(49, 2)]
    const { minutes, heartbeats: count } = await importFile(caller, JSON.stringify(dumpOf(heartbeats)))
    t.same([minutes, count], [5, 17])
    const active = { [`${dayOf(midnight(50))} acme/web`]: 5 }
    const expected = {
      [`${dayOf(midnight(50))} acme/night`]: 10,
      [`${dayOf(midnight(49))} acme/night`]: 3,
      [`${dayOf(midnight(2))} acme/night`]: 7,
    }
    t.same([await minutesOf(caller), await agentMinutesOf()], [active, expected])
    await importFile(caller, JSON.stringify(dumpOf([...morning(50, 3), ...agents(50, 4)])))
    t.same(
      [await minutesOf(caller), await agentMinutesOf()],
      [active, expected],
      'nothing twice, nothing lost',
    )
    const csv = csvOf(morning(48, 4, 'acme/night')).replaceAll(',coding,', ',ai coding,')
    t.equal((await importFile(caller, csv)).minutes, 0)
    t.same(await agentMinutesOf(), { ...expected, [`${dayOf(midnight(48))} acme/night`]: 7 })
    t.same(await minutesOf(caller), active)
  })

  t.test('minutes already recorded by heartbeats don’t count again', async (t) => {
    const { caller } = await someone(service, 'cleo')
    const heartbeats = morning(2, 10)
    await caller.post(`${BASE}/heartbeats.bulk`, heartbeats.slice(0, 6))
    await importFile(caller, JSON.stringify(dumpOf(heartbeats)))
    await caller.post(`${BASE}/heartbeats.bulk`, heartbeats)
    t.same(await minutesOf(caller), { [`${dayOf(midnight(2))} acme/web`]: 19 })
  })

  t.test('gaps are bridged across midnight', async (t) => {
    const { caller } = await someone(service, 'dana')
    const around = [-4, -2, 1, 3].map((minutes) => ({
      time: midnight(60) + minutes * 60,
      project: 'acme/web',
    }))
    await importFile(caller, JSON.stringify(around))
    t.same(await minutesOf(caller), {
      [`${dayOf(midnight(61))} acme/web`]: 4,
      [`${dayOf(midnight(60))} acme/web`]: 4,
    })
  })

  t.test('a workspace gets days from the day the person joined', async (t) => {
    const { caller, joined } = await someone(service, 'eli')
    await joined(50)
    await importFile(caller, JSON.stringify([...morning(51, 3), ...morning(50, 3), ...morning(49, 3)]))
    t.same(Object.keys(await minutesOf(caller)).sort(), [
      `${dayOf(midnight(50))} acme/web`,
      `${dayOf(midnight(49))} acme/web`,
    ])
  })

  t.test('unassigned names wait, and count with the next import after they’re assigned', async (t) => {
    const { caller } = await someone(service, 'finn')
    const file = csvOf(morning(90, 3, 'folder'))
    t.equal((await importFile(caller, file)).minutes, 0)
    const { body } = await caller.get('/api/me/editor-projects')
    t.same(
      body.projects.map(({ name, state }: { name: string; state: string }) => ({ name, state })),
      [{ name: 'folder', state: 'waiting' }],
    )
    await caller.put('/api/me/editor-projects', { name: 'folder', repo: 'acme/folder' })
    t.equal((await importFile(caller, file)).minutes, 5)
  })

  t.test('one import runs at a time, can be cancelled, and continues after a restart', async (t) => {
    const { caller } = await someone(service, 'gus')
    const other = await startService(t, { beside: service })
    const file = JSON.stringify(Array.from({ length: 100 }, (_, index) => morning(100 + index, 2)).flat())
    // Prevents runs until the first import is cancelled.
    const { isClosing } = service.app.lifecycle
    service.app.lifecycle.isClosing = () => true
    await upload(caller, file)
    const second = await caller.request('POST', IMPORT, { body: file })
    t.same([second.status, second.body.code], [429, 'rate_limited'])
    t.same((await caller.delete(IMPORT)).body, { ok: true })
    const { state, days_done } = (await caller.get(IMPORT)).body
    t.strictSame([state, days_done], ['cancelled', 0])
    service.app.lifecycle.isClosing = isClosing
    await upload(caller, file)
    // Two instances take turns, and each day counts once.
    await Promise.all([service.app.jobs.imports.run(), other.app.jobs.imports.run()])
    await finished(caller)
    t.equal((await caller.get(IMPORT)).body.days_done, 100)
    const minutes = Object.values(await minutesOf(caller))
    t.same([minutes.length, new Set(minutes)], [100, new Set([3])])
    const left = await service.database.read.statement(
      `select count(*)::int as days from import_days d join users u on u.id = d.user_id where u.login = 'gus'`,
      [],
    )
    t.same(left, [{ days: 0 }])
  })

  t.test('two instances skip and repeat no day, whatever fails or is cancelled', async (t) => {
    const service = await startService(t)
    const other = await startService(t, { beside: service })
    // Only the test starts runs, not the timer.
    for (const { app } of [service, other]) app.lifecycle.isClosing = () => true
    const { caller } = await someone(service, 'jo')
    const runOther = () => runImports(other.app.database, service.config.repohost.kind, other.app.log)
    await fillWithPatterns(service, 'jo', 110, `'p' || n`)
    // A day with these changes more rows than a day may change.
    const names = Array.from({ length: 50 }, (_, n) => `jo/p${n + 1}`)
    const tooMuch = (day: number) =>
      names.map((project, index) => ({ ...morning(day, 1, project)[0], time: midnight(day) + index * 60 }))
    const days = 12
    const isFailing = (index: number) => index % 3 !== 0
    const fileOf = (first: number, length: number, fails: (index: number) => boolean) =>
      JSON.stringify(
        Array.from({ length }, (_, index) =>
          fails(index) ? tooMuch(first + index) : morning(first + index, 2),
        ).flat(),
      )
    const expected: Record<string, number> = {}
    const expectAll = (first: number) => {
      for (let index = 0; index < days; index++)
        if (!isFailing(index)) expected[`${dayOf(midnight(first + index))} acme/web`] = 3
    }
    /** Runs an instance to which `happens` each time between a day and the next. */
    const runWhile = (happens: () => Promise<unknown>) => {
      const { database, config } = service.app
      const interrupted = Object.create(database)
      interrupted.transaction = async (...call: Parameters<typeof database.transaction>) => {
        const result = await database.transaction(...call)
        await happens()
        return result
      }
      return runImports(interrupted, config.repohost.kind, service.app.log)
    }
    const userId = (await caller.get('/api/me')).body.id
    const store = async (first: number, length = days, fails = isFailing) => {
      const stream = Readable.from([Buffer.from(fileOf(first, length, fails))])
      const file = await reduceFile(stream, projectHostOf(service.app.config.repohost))
      await startImport(service.database, userId, file)
    }
    await store(100)
    await runWhile(runOther)
    expectAll(100)
    hasProperties(t, (await caller.get(IMPORT)).body, { state: 'done', days_done: days })
    t.same(await minutesOf(caller), expected, 'another instance continues')

    await store(200)
    let restarts = 0
    await runWhile(async () => {
      if (++restarts > 3) return
      await caller.delete(IMPORT)
      await store(200 + restarts * 100)
    })
    expectAll(500)
    hasProperties(t, (await caller.get(IMPORT)).body, { state: 'done', days_done: days })
    const last = await minutesOf(caller)
    for (const [key, minutes] of Object.entries(expected)) t.equal(last[key], minutes, key)

    /** The days of a short file that count, of the first so many. The file is in the order of its days. */
    const shortFile = 3
    const isSecond = (index: number) => index === 1
    const model = (first: number, done: number) =>
      Array.from({ length: shortFile }, (_, index) => shortFile - 1 - index)
        .slice(0, done)
        .flatMap((index) => (isSecond(index) ? [] : [[`${dayOf(midnight(first + index))} acme/web`, 3]]))
    const countedFrom = async (first: number) => {
      const all = await minutesOf(caller)
      const keys = Array.from({ length: shortFile }, (_, index) => dayOf(midnight(first + index)))
      return Object.entries(all)
        .filter(([key]) => keys.includes(key.slice(0, 10)))
        .sort()
    }
    let [first, most] = [1_000, 0]
    for (const isBefore of [true, false])
      for (let [step, isOver] = [0, false]; !isOver; step++) {
        first += shortFile
        await store(first, shortFile, isSecond)
        let transactions = 0
        let cancelling: Promise<unknown> | undefined
        const { database, config } = service.app
        const interrupted = Object.create(database)
        interrupted.transaction = async (...call: Parameters<typeof database.transaction>) => {
          const cancels = transactions++ === step
          const running = cancels && isBefore ? undefined : database.transaction(...call)
          if (cancels) cancelling = caller.delete(IMPORT)
          if (running) return running
          await cancelling
          return database.transaction(...call)
        }
        await runImports(interrupted, config.repohost.kind, service.app.log)
        await cancelling
        isOver = !cancelling
        const { state, days_done } = (await caller.get(IMPORT)).body
        t.ok(state === 'cancelled' || (state === 'done' && days_done === shortFile), `${state} ${days_done}`)
        t.same(await countedFrom(first), model(first, days_done), `cancelled at ${step}`)
        await store(first, shortFile, isSecond)
        await Promise.all([runImports(database, config.repohost.kind, service.app.log), runOther()])
        hasProperties(t, (await caller.get(IMPORT)).body, { state: 'done', days_done: shortFile })
        t.same(await countedFrom(first), model(first, shortFile), `again after ${step}`)
        most = Math.max(most, transactions)
      }
    t.equal(
      most,
      shortFile + 1,
      'each day has one transaction, even one that is too large, and so has the end',
    )
  })

  t.test('a day that is too large for workspaces counts only for its person', async (t) => {
    const service = await reuseService(t)
    const { caller } = await someone(service, 'lou')
    await fillWithPatterns(service, 'lou', 110, `'p' || n`)
    await service.database.write.statement(`update members set joined_at = now() - interval '5000 days'`, [])
    const names = Array.from({ length: 50 }, (_, n) => `lou/p${n + 1}`)
    const dayWith = (daysAgo: number, projects: string[]) =>
      csvOf(projects.map((project, index) => ({ time: midnight(daysAgo) + index * 60, project })))
    const figuresOf = async (file: string) => {
      const { minutes, own_minutes, skipped } = await importFile(caller, file)
      return [minutes, own_minutes, skipped.recording_off]
    }
    for (const daysAgo of [300, 3]) {
      const file = dayWith(daysAgo, names)
      t.same(await figuresOf(file), [0, 50, 0], `${daysAgo} days ago`)
      t.same(await figuresOf(file), [0, 0, 0], 'imported again')
    }
    const lines = service.logs.filter((line) => line.includes('too large for workspaces'))
    t.equal(lines.length, 4)
    t.notMatch(lines.join(''), /lou/)
    const { minutes } = await importFile(caller, dayWith(301, ['lou/p1']))
    t.ok(minutes > 0, 'a smaller day counts in workspaces')
    t.same(await figuresOf(dayWith(301, names)), [0, 49, 0], 'no minute counts twice')
    await caller.put('/api/me/recording', { paused: false, repos_off: ['LOU/P1'], hours: null })
    t.same(await figuresOf(dayWith(302, names)), [0, 49, 1], 'one is excluded from recording')
  })

  t.test('a day with too many patterns to compare shows up in the import’s figures', async (t) => {
    const service = await reuseService(t)
    const { caller } = await someone(service, 'liv')
    const long = (first: string) => `${first}`.repeat(90)
    await fillWithPatterns(service, 'liv', 110)
    const names = Array.from({ length: 50 }, (_, n) => `liv/${long('a')}${n}`)
    const file = (daysAgo: number) =>
      csvOf(names.map((project, index) => ({ time: midnight(daysAgo) + index * 60, project })))
    const figuresOf = async (daysAgo: number) => {
      const { minutes, own_minutes, skipped } = await importFile(caller, file(daysAgo))
      return [minutes, own_minutes, skipped.recording_off]
    }
    t.same(await figuresOf(300), [0, 50, 0], 'patterns of workspaces')
    const repos_off = Array.from({ length: 200 }, (_, n) => `${'o'.repeat(95)}/${long('b')}${n}*`)
    t.equal((await caller.put('/api/me/recording', { paused: false, repos_off, hours: null })).status, 200)
    t.same(await figuresOf(301), [0, 0, 50], 'and the person’s exclusions')
  })

  t.test('the number of projects per day and per file is limited', async (t) => {
    const { caller } = await someone(service, 'kim')
    const csv = (rows: { time: number; project: string }[]) =>
      `time,project\n${rows.map(({ time, project }) => `${time},${project}`).join('\n')}`
    const detailOf = async (body: string) => {
      const reply = await caller.request('POST', IMPORT, { body })
      return [reply.status, reply.body.errors?.[0]?.message]
    }
    // Another project in each minute of a day.
    const everyMinute = Array.from({ length: 1_440 }, (_, minute) => ({
      time: midnight(200) + minute * 60,
      project: `p${minute}`,
    }))
    t.same(await detailOf(csv(everyMinute)), [400, 'must have at most 50 projects in a day'])
    const daily = (perDay: number, days: number, name: (day: number, n: number) => string) =>
      Array.from({ length: perDay * days }, (_, index) => {
        const [day, n] = [Math.floor(index / perDay), index % perDay]
        return { time: midnight(3_000 - day) + n * 60, project: name(day, n) }
      })
    t.same(await detailOf(csv(daily(50, 41, (day, n) => `p${day * 50 + n}`))), [
      400,
      'must have at most 2000 projects',
    ])
    t.same(await detailOf(csv(daily(50, 1_001, (_, n) => `p${n}`))), [
      400,
      'must have at most 50000 projects, counted once per day: import it in parts',
    ])
    t.equal((await caller.get(IMPORT)).body.state, 'none')
    const most = await importFile(caller, csv(daily(50, 40, (day, n) => `p${day * 50 + n}`)))
    t.same([most.state, most.heartbeats, most.days, most.days_done], ['done', 2_000, 40, 40])
  })

  t.test('quotes in CSV can be part of a name, and truncated CSV is rejected', async (t) => {
    const { caller } = await someone(service, 'lou')
    const start = midnight(90)
    const rows = [`${start},"""x"""`, `${start + 60},"a,b\nc"`, `${start + 120},plain "x"`]
    const body = `time,project\n${rows.join('\r\n')}`.replaceAll('\\"', '"')
    await importFile(caller, body)
    const { projects } = (await caller.get('/api/me/editor-projects')).body
    t.same(projects.map(({ name }: { name: string }) => name).sort(), ['"x"', 'a,b\nc', 'plain "x"'])
    const cut = await caller.request('POST', IMPORT, { body: `time,project\n${start},"acme` })
    t.equal(cut.status, 400)
    t.match(cut.body.errors[0].message, /^isn’t CSV: Quote Not Closed/)
  })

  t.test('slow uploads are cut off when others are waiting', async (t) => {
    const { hostname, port } = new URL(service.url)
    const drip = async (index: number) => {
      const { token } = await service.signIn(`slow-${index}`)
      const call = request({
        hostname,
        port,
        path: IMPORT,
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Length': 1_000_000 },
      })
      t.teardown(() => call.destroy())
      call.on('error', () => {})
      call.write('[')
      const [response] = (await once(call, 'response')) as [IncomingMessage]
      return response.statusCode
    }
    let first: number | undefined
    for (let index = 0; index < 8; index++)
      drip(index).then(
        (status) => {
          first ??= status
        },
        () => {},
      )
    const { caller } = await someone(service, 'moe')
    await until(async () => {
      const { state } = await importFile(caller, csvOf(morning(100, 5)))
      t.equal(state, 'done')
      return first !== undefined
    }, 'one of them gives up')
    t.equal(first, 408)
  })

  t.test('a large file that trickles is cut off when another large one needs its memory', async (t) => {
    const { token } = await service.signIn('trickle')
    const large = gzipSync(
      ['time,project,category', ...Array.from({ length: 2_000 }, (_, day) => busyDay(day + 1))].join('\n'),
    )
    const call = request(service.url + IMPORT, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    })
    t.teardown(() => call.destroy())
    call.on('error', () => {})
    call.write(large)
    const drops = setInterval(() => call.write(Buffer.alloc(1)), 100)
    t.teardown(() => clearInterval(drops))
    const answered = once(call, 'response') as Promise<[IncomingMessage]>
    const { caller } = await someone(service, 'tea')
    await service.database.write.statement(`update members set joined_at = now()`, [])
    await upload(caller, large)
    t.equal((await answered)[0].statusCode, 408)
    await caller.delete(IMPORT)
  })

  t.test('other services’ time formats are accepted, and skipped heartbeats are counted', async (t) => {
    const { caller } = await someone(service, 'nat')
    const start = midnight(70) + 9 * 3_600
    const iso = (minute: number) => new Date((start + minute * 60) * 1_000).toISOString()
    const shapes = [
      start,
      `${start + 60}.044`,
      (start + 120) * 1_000,
      `${(start + 180) * 1_000}`,
      iso(4),
      iso(5).replace('Z', '+00:00').replace('T', ' '),
      // An hour ahead.
      iso(66).replace(/\.000Z$/, '.123456+01:00'),
      iso(7).toLowerCase(),
    ]
    const unread = ['', 'now', null, true, {}, [start], '2026-02-30T00:00:00Z', iso(1).slice(0, 19), 5, 1e15]
    const beats = [...shapes, ...unread].map((time) => ({ time, project: 'acme/web' }))
    const noProject = [
      { time: start, project: null },
      { time: start, project: '<<LAST_PROJECT>>' },
      { time: start, entity: '/x' },
    ]
    const neither = [{ entity: '/x', project: null }, {}]
    // As hackatime exports them.
    const file = {
      export_info: { total_heartbeats: 1 },
      heartbeats: [...beats, { project: 'acme/web' }, ...noProject, ...neither],
    }
    const json = await importFile(caller, JSON.stringify(file))
    t.hasStrict(json, { state: 'done', heartbeats: 24, minutes: 8, days: 1 })
    t.same(json.skipped, { time: 12, future: 1, project: 3, recording_off: 0 })
    const dump = { ...dumpOf(morning(72, 2)), days: [{ date: '2020-01-01', heartbeats: [] }] }
    dump.days.push({
      date: dayOf(midnight(72)),
      heartbeats: [...morning(72, 2), { entity: '/x' }] as never[],
    })
    for (const list of [dump, { data: dump.days }, dump.days, dump.days[1]]) {
      const { heartbeats, skipped } = await importFile(caller, JSON.stringify(list))
      t.same([heartbeats, skipped], [3, { time: 1, future: 0, project: 0, recording_off: 0 }])
    }

    const csv = ['time,project', ...shapes, 'now', ''].map((time) =>
      typeof time === 'string' && time.startsWith('time') ? time : `${time},acme/api`,
    )
    const second = await importFile(caller, [...csv, `${start},`].join('\n'))
    t.hasStrict(second, { heartbeats: 11, days: 1 })
    t.same(second.skipped, { time: 2, future: 0, project: 1, recording_off: 0 })
    t.same((await importFile(caller, csvOf(morning(71, 2)))).skipped, {
      time: 0,
      future: 0,
      project: 0,
      recording_off: 0,
    })
  })

  t.test('heartbeats more than ten minutes ahead don’t count, and are listed', async (t) => {
    const { caller } = await someone(service, 'fay')
    const now = Math.floor(Date.now() / 1_000)
    const minutes = [-3_600, 8 * 60, 20 * 60, 2 * 3_600, 400 * DAY].map((seconds) => now + seconds)
    const file = JSON.stringify(minutes.map((time) => ({ time, project: 'acme/web' })))
    const { skipped, minutes: counted } = await importFile(caller, file)
    t.same([skipped, counted], [{ time: 0, future: 3, project: 0, recording_off: 0 }, 2])
  })

  t.test(
    'an import ends as failed when own time would have too many rows, and keeps the days before',
    async (t) => {
      const { caller } = await someone(service, 'ray')
      await service.database.write.statement(
        `insert into own_activity (user_id, day, repo_key, repo, minutes)
      select id, date '2001-01-01' + n / 50, 'p' || n % 50, 'p' || n % 50, 1
      from users, generate_series(1, $1::int) n where login = 'ray'`,
        [limits.own_rows - 2],
      )
      const rows = () =>
        service.database.read.statement(
          `select count(*)::int as rows from own_activity p join users u on u.id = p.user_id where u.login = 'ray'`,
          [],
        )
      const full = [{ rows: limits.own_rows }]
      const fileOf = (...days: number[]) => csvOf(days.flatMap((daysAgo) => morning(daysAgo, 1, 'else/a')))
      const failed = await importFile(caller, fileOf(93, 92, 91))
      t.hasStrict(failed, { state: 'failed', reason: 'own_time_full', days: 3, days_done: 2, own_minutes: 2 })
      t.same(await rows(), full)
      const known = await importFile(caller, csvOf(morning(93, 3, 'else/a')))
      t.hasStrict(known, { state: 'done', reason: null, own_minutes: 4 })
      await caller.post(`${BASE}/heartbeats.bulk`, morning(2, 3, 'else/b'))
      t.same(await rows(), full, 'and heartbeats add no row')
    },
  )

  t.test('heartbeats that the person has turned off are counted as skipped', async (t) => {
    const { caller } = await someone(service, 'ole')
    await caller.put('/api/me/editor-projects', { name: 'ignored', repo: null })
    await caller.put('/api/me/editor-projects', { name: 'secret-folder', repo: 'acme/secret' })
    const recording = { paused: false, repos_off: ['acme/secret'], hours: null }
    await caller.put('/api/me/recording', recording)
    const skippedOf = async (daysAgo: number) => {
      const agents = morning(daysAgo, 2, 'acme/secret').map(({ time, project }) => ({
        time: time + 7_200,
        project,
        category: 'ai coding',
      }))
      const heartbeats = [
        ...morning(daysAgo, 3),
        ...morning(daysAgo, 4, 'Acme/Secret').map((one) => ({ ...one, time: one.time + 3_600 })),
        ...morning(daysAgo, 2, 'secret-folder').map((one) => ({ ...one, time: one.time + 10_800 })),
        ...morning(daysAgo, 5, 'ignored').map((one) => ({ ...one, time: one.time + 18_000 })),
        ...morning(daysAgo, 3, 'waiting').map((one) => ({ ...one, time: one.time + 21_600 })),
        ...agents,
      ]
      const { skipped, minutes } = await importFile(caller, JSON.stringify(heartbeats))
      return [skipped.recording_off, minutes]
    }
    t.same(await skippedOf(60), [13, 5], 'an old day')
    t.same(await skippedOf(3), [13, 5], 'a day whose minutes are marked')
    const all = { from: 0, to: 24, weekdays: [1, 2, 3, 4, 5, 6, 7] }
    await caller.put('/api/me/recording', { paused: false, repos_off: [], hours: { ...all, from: 10 } })
    t.same(await skippedOf(61), [8, 10], 'by the hour')
    await caller.put('/api/me/recording', { ...recording, paused: true })
    t.same(await skippedOf(62), [19, 0], 'paused')
  })

  t.test(
    'excluded heartbeats are counted as skipped, even in minutes that another project gets',
    async (t) => {
      const { caller } = await someone(service, 'oda')
      await caller.put('/api/me/editor-projects', { name: 'ignored', repo: null })
      await caller.put('/api/me/recording', { paused: false, repos_off: ['acme/secret'], hours: null })
      for (const daysAgo of [63, 3]) {
        const off = ['Acme/Secret', 'ignored'].flatMap((project) => morning(daysAgo, 2, project))
        const ofAgents = off.map((one) => ({ ...one, category: 'ai coding' }))
        const heartbeats = [...morning(daysAgo, 3), ...off, ...ofAgents.slice(0, 1)]
        const { skipped, minutes } = await importFile(caller, JSON.stringify(heartbeats))
        t.same([skipped.recording_off, minutes], [5, 5])
      }
      const { projects } = (await caller.get('/api/me/editor-projects')).body
      t.same(
        projects.map(({ name }: { name: string }) => name),
        ['ignored'],
      )
    },
  )

  t.test('a file may be gzipped, in any chunks, and a broken one is rejected', async (t) => {
    const { caller } = await someone(service, 'pia')
    t.equal((await importFile(caller, gzipSync(JSON.stringify(dumpOf(morning(75, 5)))))).minutes, 9)
    const csv = gzipSync(csvOf(morning(76, 5)))
    const members = Buffer.concat([gzipSync('time,project\n'), gzipSync(`${midnight(77)},acme/web\n`)])
    t.equal((await importFile(caller, csv)).minutes, 9)
    t.equal((await importFile(caller, members)).minutes, 1)
    const host = projectHostOf(service.config.repohost)
    for (const size of [1, 2, 7, 5_000]) {
      const pieces = Array.from({ length: Math.ceil(csv.length / size) }, (_, index) =>
        csv.subarray(index * size, (index + 1) * size),
      )
      const { heartbeats, days } = await reduceFile(unpacked(Readable.from(pieces)), host)
      t.same([heartbeats, days.length], [5, 1], `pieces of ${size} bytes`)
    }
    const messageOf = async (body: Buffer) => {
      const { status, body: response } = await caller.request('POST', IMPORT, { body })
      return [status, response.errors?.[0]?.message ?? response.code]
    }
    t.same(await messageOf(csv.subarray(0, -9)), [400, 'isn’t a complete gzip file: unexpected end of file'])
    const damaged = Buffer.from(csv)
    damaged.fill(0xff, 12, 40)
    t.match((await messageOf(damaged))[1], /^isn’t a complete gzip file/)
    t.equal((await messageOf(gzipSync(csv)))[0], 400, 'packed twice')
    t.equal((await messageOf(Buffer.from([0x1f])))[0], 400)
    t.equal((await caller.get(IMPORT)).body.days, 1, 'the last import stays the latest')
  })

  t.test('a ZIP file with one JSON or CSV file counts, however it was packed', async (t) => {
    const { caller } = await someone(service, 'zia')
    const json = strToU8(JSON.stringify(dumpOf(morning(74, 5))))
    const folder = {
      'export/heartbeats.json': json,
      'README.md': strToU8('x'),
      '__MACOSX/._a.json': strToU8('x'),
    }
    t.equal((await importFile(caller, Buffer.from(zipSync(folder)))).minutes, 9)
    const csv = strToU8(csvOf(morning(73, 5)))
    t.equal((await importFile(caller, Buffer.from(zipSync({ 'a.CSV': csv }, { level: 0 })))).minutes, 9)
    const streamed = streamedZip({ 'photo.png': strToU8('PK\x03\x04'.repeat(100)), 'a.csv': csv })
    const host = projectHostOf(service.config.repohost)
    for (const size of [1, 3, 4_096]) {
      const pieces = Array.from({ length: Math.ceil(streamed.length / size) }, (_, index) =>
        streamed.subarray(index * size, (index + 1) * size),
      )
      const { heartbeats } = await reduceFile(unpacked(Readable.from(pieces)), host)
      t.equal(heartbeats, 5, `pieces of ${size} bytes`)
    }
    t.equal((await importFile(caller, streamed)).minutes, 0)
  })

  t.test('files that can’t be read are named, and change nothing', async (t) => {
    const { caller } = await someone(service, 'zed')
    await importFile(caller, csvOf(morning(72, 2)))
    const before = (await caller.get(IMPORT)).body
    const json = strToU8(JSON.stringify(morning(70, 2)))
    const zip = (files: Record<string, Uint8Array>) => Buffer.from(zipSync(files))
    const start = (bytes: string) => Buffer.concat([Buffer.from(bytes, 'latin1'), Buffer.alloc(600)])
    const encrypted = zip({ 'a.json': json })
    encrypted[6] = 1
    const strange = zip({ 'a.json': json })
    strange[8] = 99
    const tar = Buffer.alloc(1_024)
    tar.write('heartbeats.json')
    tar.write('ustar', 257)
    const once = 'send JSON or CSV, as it is, or packed once with gzip or ZIP'
    const files: [Buffer, string][] = [
      [
        zip({ 'a.json': json, 'b.csv': json }),
        'is a ZIP file with several JSON or CSV files: send one of them',
      ],
      [zip({ 'a.txt': json }), 'is a ZIP file without a JSON or CSV file'],
      [zip({}), 'is a ZIP file without a JSON or CSV file'],
      [
        zip({ '[Content_Types].xml': json, 'xl/workbook.xml': json }),
        'is an Excel workbook: save it as CSV, or send the original export',
      ],
      [
        zip({ mimetype: json, 'content.xml': json }),
        'is a document of an office program: save it as CSV, or send the original export',
      ],
      [
        zip(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`${n}.txt`, json]))),
        'is a ZIP file with more than 1000 files',
      ],
      [zip({ [`${'n'.repeat(2_000)}.json`]: json }), 'is a ZIP file with names that are too long'],
      [encrypted, 'is an encrypted ZIP file: send it without a password'],
      [strange, 'is a ZIP file that can’t be read: pack it with another program, or send the file in it'],
      [zip({ 'a.json': json }).subarray(0, 60), 'isn’t a complete ZIP file: unexpected end of file'],
      [zip({ 'a.json': json }).subarray(0, 20), 'isn’t a complete ZIP file: a file has no header'],
      [streamedZip({ 'a.json': json }).subarray(0, -80), 'isn’t a complete ZIP file: a file has no end'],
      [zip({ 'a.json': zip({ 'a.json': json }) }), `is packed twice: ${once}`],
      [gzipSync(zip({ 'a.json': json })), `is packed twice: ${once}`],
      [start('7z\xbc\xaf\x27\x1c'), `is a 7z archive: ${once}`],
      [start('Rar!\x1a\x07'), `is a RAR archive: ${once}`],
      [start('BZh91AY&SY'), `is a bzip2 file: ${once}`],
      [start('\xfd7zXZ\0'), `is an xz file: ${once}`],
      [start('\x28\xb5\x2f\xfd'), `is a Zstandard file: ${once}`],
      [tar, `is a tar archive: ${once}`],
      [gzipSync(tar), `is a tar archive: ${once}`],
      [start('%PDF-1.7'), `is a PDF document: ${once}`],
      [start('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), `is an Office document: ${once}`],
      [start('SQLite format 3\0'), `is an SQLite database: ${once}`],
      [Buffer.from('\ufeff\n<!doctype html><title>Sign in</title>'), `is a web page or XML: ${once}`],
    ]
    for (const [body, message] of files) {
      const reply = await caller.request('POST', IMPORT, { body })
      t.same([reply.status, reply.body.errors?.[0]?.message], [400, message])
    }
    t.same((await caller.get(IMPORT)).body, before)
  })

  t.test('a ZIP file that unpacks to more than the limit is rejected while it’s read', async (t) => {
    const host = projectHostOf(service.config.repohost)
    const spaces = new Uint8Array(50_000_000).fill(0x20)
    const bomb = Buffer.from(zipSync({ 'a.json': spaces }))
    let read = 0
    const pieces = function* () {
      for (let at = 0; at < bomb.length; at += 1_000) {
        read += 1_000
        yield bomb.subarray(at, at + 1_000)
      }
    }
    const reading = reduceFile(unpacked(Readable.from(pieces())), host, undefined, 10_000_000)
    await t.rejects(reading, { code: 'payload_too_large' })
    t.ok(read < bomb.length / 2, 'the rest is not unpacked')
  })

  t.test('a file that is neither JSON nor CSV of heartbeats is rejected at its first line', async (t) => {
    const host = projectHostOf(service.config.repohost)
    let read = 0
    const pieces = function* () {
      for (; read < 1_000; read++) yield Buffer.from('a,b\n')
    }
    await t.rejects(reduceFile(Readable.from(pieces()), host), { code: 'validation_failed' })
    t.ok(read < 500)
  })

  t.test('CSV as spreadsheets save it counts, and times that they have rounded are named', async (t) => {
    const { caller } = await someone(service, 'ute')
    const cells = (daysAgo: number) => [
      ['time', 'project', 'entity'],
      ...morning(daysAgo, 5).map(({ time, project }) => [`${time}`, project, 'a,b;c']),
    ]
    const textOf = (daysAgo: number, separator: string) =>
      cells(daysAgo)
        .map((row) => row.map((cell) => (cell.includes(separator) ? `"${cell}"` : cell)).join(separator))
        .join('\r\n')
    const semicolons = textOf(66, ';').replaceAll(/(\d)\.5/g, '$1,5')
    t.equal((await importFile(caller, `\ufeff${semicolons}`)).minutes, 9)
    t.equal((await importFile(caller, textOf(65, '\t'))).minutes, 9)
    t.equal((await importFile(caller, Buffer.from(`\ufeff${textOf(64, '\t')}`, 'utf16le'))).minutes, 9)
    const json = Buffer.from(`\ufeff${JSON.stringify(morning(63, 5, 'ümlaut'))}`, 'utf16le')
    t.equal((await importFile(caller, gzipSync(json.swap16()))).own_minutes, 9)
    const before = (await caller.get(IMPORT)).body
    const rounded =
      'has the same or rounded times in all heartbeats, as a spreadsheet saves them: send the original export'
    const messageOf = async (times: string[]) => {
      const body = `time;project\n${times.map((time) => `${time};acme/web\n`).join('')}`
      const reply = await caller.request('POST', IMPORT, { body })
      return reply.body.errors?.[0]?.message
    }
    t.equal(await messageOf(Array.from({ length: 10 }, () => `${midnight(60)}`)), rounded)
    t.equal(await messageOf(Array.from({ length: 12 }, (_, n) => `1,${73_570 + n}E+09`)), rounded)
    t.same((await caller.get(IMPORT)).body, before)
    t.equal(await messageOf(Array.from({ length: 9 }, () => `${midnight(60)}`)), undefined)
    await finished(caller)
  })

  t.test('zero bytes after a gzip file are ignored, and other trailing data is rejected', async (t) => {
    const { caller } = await someone(service, 'zoe')
    const csv = gzipSync(csvOf(morning(78, 5)))
    const host = projectHostOf(service.config.repohost)
    for (const zeros of [1, 512, 5_000]) {
      const padded = Buffer.concat([csv, Buffer.alloc(zeros)])
      t.equal((await importFile(caller, padded)).heartbeats, 5, `${zeros} zero bytes`)
      for (const size of [1, csv.length, csv.length + 1]) {
        const pieces = Array.from({ length: Math.ceil(padded.length / size) }, (_, index) =>
          padded.subarray(index * size, (index + 1) * size),
        )
        const { heartbeats } = await reduceFile(unpacked(Readable.from(pieces)), host)
        t.equal(heartbeats, 5, `${zeros} zero bytes in pieces of ${size} bytes`)
      }
    }
    for (const rest of [Buffer.from('\0a'), Buffer.concat([Buffer.alloc(5_000), csv]), Buffer.from('a')]) {
      const reply = await caller.request('POST', IMPORT, { body: Buffer.concat([csv, rest]) })
      t.same([reply.status, reply.body.code], [400, 'validation_failed'])
    }
  })

  t.test('a gzip file that unpacks to more than the limit is rejected while it’s read', async (t) => {
    const bomb = gzipSync(Buffer.concat([Buffer.from('['), Buffer.alloc(50_000_000, ' ')]))
    let read = 0
    const pieces = function* () {
      for (let at = 0; at < bomb.length; at += 1_000) {
        read += 1_000
        yield bomb.subarray(at, at + 1_000)
      }
    }
    const host = projectHostOf(service.config.repohost)
    const failure = await reduceFile(unpacked(Readable.from(pieces())), host, undefined, 10_000_000).catch(
      (error) => error,
    )
    t.equal(failure.code, 'payload_too_large')
    t.ok(read < bomb.length / 2, 'the rest is not unpacked')
  })

  t.test('a file’s memory depends on what its days hold, and is counted while it’s read', async (t) => {
    const host = projectHostOf(service.config.repohost)
    const days = 1_000
    const csv = (minutesPerDay: number) =>
      Array.from({ length: days }, (_, day) =>
        Array.from({ length: minutesPerDay }, (_, n) => `${midnight(day + 1) + n * 240},acme/web\n`).join(''),
      )
    const bytesOf = async (minutesPerDay: number, atMost = Number.POSITIVE_INFINITY) => {
      let bytes = 0
      const requireMemory = async (now: number) => {
        bytes = now
        if (bytes > atMost) throw new ApiError('unavailable')
      }
      const pieces = ['time,project\n', ...csv(minutesPerDay)].map((line) => Buffer.from(line))
      const file = await reduceFile(Readable.from(pieces), host, requireMemory)
      t.equal(file.days.length, days)
      return bytes / days
    }
    t.ok((await bytesOf(5)) < 1_000)
    t.ok((await bytesOf(360)) > 4_000)
    await t.rejects(bytesOf(5, 100_000), { code: 'unavailable' })
  })

  t.test('a day with many minutes counts each of them for its first project', async (t) => {
    const { caller } = await someone(service, 'una')
    const minutes = Array.from({ length: 300 }, (_, n) => midnight(79) + n * 60)
    const file = ['acme/web', 'acme/api'].flatMap((project) =>
      minutes.map((time) => ({ time: time + 1, project })),
    )
    t.equal((await importFile(caller, csvOf(file))).minutes, 300)
    t.same(await minutesOf(caller), { [`${dayOf(midnight(79))} acme/web`]: 300 })
  })

  t.test('a file that isn’t an export is rejected, and none of it is stored', async (t) => {
    const { caller } = await someone(service, 'hal')
    const status = async (body: string) => (await caller.request('POST', IMPORT, { body })).status
    t.equal(await status(''), 400)
    t.equal(await status('[{"time": 1}'), 400)
    t.equal(await status('{"days": [{"date": "2026-01-01", "grand_total": {}}]}'), 400)
    t.equal(await status('{"data": [{"grand_total": {}}]}'), 400)
    t.equal(await status('a,b\n1,2\n'), 400)
    t.equal(await status('['.repeat(100_000)), 400)
    const large = await caller.request('POST', IMPORT, {
      body: Buffer.alloc(limits.import_body_bytes + 1, ' '),
    })
    t.equal(large.status, 413)
    t.equal((await caller.get(IMPORT)).body.state, 'none')
  })

  t.test('the import command gives the same result as the endpoint', async (t) => {
    const { caller } = await someone(service, 'ida')
    const file = join(await temporaryFolder(t), 'dump.json')
    writeFileSync(file, JSON.stringify(dumpOf(morning(80, 4))))
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [programFile('src/bin/import-wakatime'), ...args], {
        env: { ...process.env, ...reach(service.databaseUrl), DATABASE_URL: service.databaseUrl },
      })
    const { stdout } = await run(file, '--login', 'ida')
    const bytes = JSON.stringify(dumpOf(morning(80, 4))).length
    t.equal(stdout, `Read ${bytes} bytes.\n4 heartbeats on 1 days: 7 minutes were added.\n`)
    t.same(await minutesOf(caller), { [`${dayOf(midnight(80))} acme/web`]: 7 })
    const packed = gzipSync(csvOf([...morning(81, 4), ...morning(81, 1, '')]))
    writeFileSync(file, packed)
    t.equal(
      (await run(file, '--login', 'ida')).stdout,
      [
        `Read ${packed.length} bytes.`,
        '5 heartbeats on 1 days: 7 minutes were added.',
        'Skipped heartbeats, no project: 1',
        '',
      ].join('\n'),
    )
    const complaintOf = (...args: string[]) => run(...args).catch(({ stderr }: { stderr: string }) => stderr)
    t.match(await complaintOf(file, '--login', 'nobody'), /No account has the login or id nobody/)
    t.match(await complaintOf(`${file}x`, '--login', 'ida'), /can’t be read \(ENOENT\)/)
  })
})
