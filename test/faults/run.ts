/**
 * Failures of a running service, for long enough to trust the figures: `npm run test:faults -- [--only NAME]…
 * [--rounds N] [--seconds N] [--list]`. Exits with 1 if a promise is broken. docs/trust.md has what came of it.
 */
import { loadavg } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { startTestServer } from '../database.js'
import { clockSkewed } from './clock.js'
import { connectionsCut } from './connections.js'
import { diskFull } from './disk.js'
import { editor } from './editor.js'
import { everyOperation } from './every-operation.js'
import { failover } from './failover.js'
import { type Fault, missing, type Outcome, say } from './fault.js'
import { firstStarts } from './first-starts.js'
import { flushSets } from './flushes.js'
import { databaseFrozen, serviceFrozen } from './frozen.js'
import { hostDown } from './host.js'
import { backendKilled, databaseKilled, serviceKilled } from './kills.js'
import { pooled } from './pooler.js'
import { proxies } from './proxies.js'
import { clientQueue } from './queue.js'
import { rollingRestarts } from './rolling.js'
import { soak } from './soak.js'
import { stops } from './stops.js'
import { worstCaller } from './worst-caller.js'

const faults: Fault[] = [
  serviceKilled,
  databaseKilled,
  backendKilled,
  databaseFrozen,
  serviceFrozen,
  connectionsCut,
  diskFull,
  clockSkewed,
  firstStarts,
  stops,
  rollingRestarts,
  proxies,
  failover,
  hostDown,
  worstCaller,
  everyOperation,
  clientQueue,
  flushSets,
  soak,
  pooled,
  editor,
]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    list: { type: 'boolean' },
  },
})
const options = {
  rounds: values.rounds === undefined ? undefined : Number(values.rounds),
  seconds: values.seconds === undefined ? undefined : Number(values.seconds),
}

const play = async (fault: Fault): Promise<Outcome> => {
  const ends: (() => unknown)[] = []
  try {
    return await fault.play({ teardown: (end) => ends.unshift(end) }, options)
  } catch (error) {
    return { did: 'not played to its end', broken: [String((error as Error).stack ?? error)] }
  } finally {
    for (const end of ends) await end()
  }
}

const COLUMNS = [
  'requests',
  'acknowledged',
  'lost',
  'doubled',
  'wrong',
  'failed',
  'longestMs',
  'recoveryMs',
] as const
const HEAD =
  'fault | what happened | requests | acknowledged | lost | doubled | wrong | 5xx but 503 | longest request, ms | recovery, ms | seconds | promise'
const rowOf = (name: string, outcome: Outcome, ms: number) => {
  const cells = COLUMNS.map((column) => outcome[column]).map((value) =>
    value === undefined ? '–' : Math.round(value),
  )
  const verdict = outcome.broken.length === 0 ? 'held' : `BROKEN × ${outcome.broken.length}`
  return `| ${[name, outcome.did, ...cells, Math.round(ms / 1_000), verdict].join(' | ')} |`
}

/** `worst-caller` is also `worst-caller-operations`. */
const isChosen = ({ name }: Fault) =>
  !values.only || values.only.some((only) => name === only || name.startsWith(`${only}-`))
const unknown = values.only?.filter((name) => !faults.some((fault) => fault.name === name)) ?? []
if (values.list || unknown.length > 0) {
  for (const name of unknown) say(`There is no fault ${name}.`)
  for (const { name } of faults) say(name)
  process.exit(unknown.length > 0 ? 1 : 0)
}

const server = await startTestServer(say)
process.env.TEST_DATABASE_URL = server.url
const table: string[] = []
let isBroken = false
for (const fault of faults.filter(isChosen)) {
  const lacks = missing(fault)
  if (lacks.length > 0) {
    table.push(`| ${fault.name} | skipped: needs ${lacks.join(', ')} |`)
    say(`${fault.name}: skipped, needs ${lacks.join(', ')}`)
    continue
  }
  say(`${fault.name} …`)
  const since = Date.now()
  // How busy the machine was, to put long waits into perspective.
  const own = monitorEventLoopDelay()
  own.enable()
  const outcome = await play(fault)
  say(
    `  the machine: load ${loadavg()[0]?.toFixed(1)}, this program itself stood still for ${Math.round(own.max / 1e6)} ms at most`,
  )
  for (const line of [...(outcome.details ?? []), ...outcome.broken.slice(0, 20)]) say(`  ${line}`)
  table.push(rowOf(fault.name, outcome, Date.now() - since))
  isBroken ||= outcome.broken.length > 0
}
await server.stop()
say(`\n| ${HEAD} |\n|${'---|'.repeat(HEAD.split('|').length)}`)
for (const row of table) say(row)
process.exit(isBroken ? 1 : 0)
