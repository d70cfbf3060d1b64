/**
 * How many microseconds of CPU each part of `GET /settings` takes, beside bare Fastify with one prepared point-select. Node's
 * sampling profiler runs in both, which makes them slower than in `settings`.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bearer, benchmark, prepare, push, type Started, say, startProcess, wrk } from './harness.js'

/** A profile in the format of V8. Times are microseconds of the clock that `process.hrtime` reads. */
interface Profile {
  startTime: number
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** The part that a source file belongs to, most specific first. Node's other files count for their caller. */
const PARTS: [pattern: RegExp, part: string][] = [
  [/node_modules\/postgres\//, 'postgres.js'],
  [/node_modules\/(pino|sonic-boom|thread-stream|pino-[^/]*|safe-stable-stringify)\//, 'the line of the log'],
  [/node_modules\/(fast-jwt|@fastify\/jwt|@fastify\/cookie)\//, 'token and cookie'],
  [/node_modules\/(ajv|fast-uri|ajv-formats)\//, 'validation'],
  [/node_modules\//, 'Fastify and its plugins'],
  [/build\/src\/platform\/database\//, 'own code: database'],
  [/build\/src\/platform\/(metrics|http\/request-(log|metrics))/, 'own code: log and metrics'],
  [/build\/src\/platform\/rate-limits\//, 'own code: limits and fairness'],
  [/build\/src\/platform\/(access|http)\/|build\/src\/every-request/, 'own code: every request'],
  [/build\/src\/features\/accounts\//, 'own code: the caller'],
  [/build\/src\/features\/settings\//, 'own code: the pull'],
  [/build\//, 'own code: other'],
  [/^node:internal\/(process\/task_queues|timers|async_hooks)/, 'promises and timers'],
  [/^node:(_http|internal\/http)/, "Node's HTTP"],
]
/** The part that a native function belongs to. The others count for their caller. */
const NATIVE = new Map([
  ['writev', 'system calls that write to sockets'],
  ['writeBuffer', 'system calls that write to sockets'],
  ['writeUtf8String', 'system calls that write to sockets'],
  ['writeLatin1String', 'system calls that write to sockets'],
  ['(garbage collector)', 'garbage collector'],
  ['(program)', 'native code without a caller'],
  ['(idle)', 'idle'],
])

/** Samples in each part, between two moments. */
const samplesOf = ({ nodes, samples, timeDeltas, startTime }: Profile, from: number, to: number) => {
  const parts = new Map<number, string>()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const visit = (id: number, above: string) => {
    const { callFrame, children = [] } = byId.get(id) ?? { callFrame: { functionName: '', url: '' } }
    const part =
      NATIVE.get(callFrame.functionName) ??
      PARTS.find(([pattern]) => pattern.test(callFrame.url))?.[1] ??
      above
    parts.set(id, part)
    for (const child of children) visit(child, part)
  }
  visit(nodes[0]?.id ?? 0, "Node's streams and events")
  const counts = new Map<string, number>()
  let time = startTime
  for (const [index, id] of samples.entries()) {
    time += timeDeltas[index] ?? 0
    const part = parts.get(id) ?? ''
    if (time >= from && time <= to && part !== 'idle') counts.set(part, (counts.get(part) ?? 0) + 1)
  }
  return counts
}

await benchmark(async (cleanUp) => {
  const folder = await mkdtemp(join(tmpdir(), 'pull-profile-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const profiled = (name: string) => [
    process.execPath,
    '--cpu-prof',
    '--cpu-prof-interval=250',
    `--cpu-prof-dir=${join(folder, name)}`,
  ]
  const { databaseUrl, service, signIn } = await prepare(cleanUp, {}, undefined, profiled('service'))
  const ada = await signIn('ada')
  await push(service.url, ada, 'ada/small', { 'ext.blob': 'x'.repeat(2_033) })
  const bare = await startProcess(
    'bench/bare.js',
    { DATABASE_URL: databaseUrl },
    '/health',
    undefined,
    profiled('bare'),
  )

  const measure = async (name: string, { url, pid, stop }: Started, path: string, headers = {}) => {
    await wrk({ url: url + path, pid }, headers)
    const from = Number(process.hrtime.bigint() / 1_000n)
    const { cpu } = await wrk({ url: url + path, pid }, headers, { seconds: 20 })
    const to = Number(process.hrtime.bigint() / 1_000n)
    await stop()
    const [file = ''] = await readdir(join(folder, name))
    const profile: Profile = JSON.parse(await readFile(join(folder, name, file), 'utf8'))
    const counts = samplesOf(profile, from, to)
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    return { cpu, parts: new Map(Array.from(counts, ([part, count]) => [part, (cpu * count) / all])) }
  }
  const limit = await measure('bare', bare, '/ada/small')
  const ours = await measure('service', service, '/api/settings/ada/small', bearer(ada.token))

  const row = (part: string, ...figures: number[]) =>
    say(`${part.padEnd(36)}${figures.map((figure) => figure.toFixed(1).padStart(9)).join('')}`)
  say(`${'µs of CPU per request'.padEnd(36)}  service     bare`)
  for (const [part, time] of [...ours.parts].sort((a, b) => b[1] - a[1]))
    row(part, time, limit.parts.get(part) ?? 0)
  for (const [part, time] of limit.parts) if (!ours.parts.has(part)) row(part, 0, time)
  row('together', ours.cpu, limit.cpu)
})
