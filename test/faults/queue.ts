/**
 * Five windows on one folder, killed and put to sleep at random, over a network that loses three of ten exchanges, and
 * prints what was kept, what was counted, and where the two differ.
 *   node build/test/faults/queue.js [--minutes 30000]
 */
import { parseArgs } from 'node:util'
import { startTestServer } from '../database.js'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30000' }, rest: { type: 'string', default: '3000' } },
})
const say = (line: string) => process.stdout.write(`${line}\n`)

const server = await startTestServer(say)
process.env.TEST_DATABASE_URL = server.url
// Read by what is imported here.
const { playQueue } = await import('../queue-faults.js')

const ends: (() => unknown)[] = []
try {
  const begun = Date.now()
  const test = { teardown: (end: () => unknown) => ends.push(end), fail: say, passing: () => true }
  const { figures, wrong, reports } = await playQueue(test, {
    minutes: Number(values.minutes),
    restMs: Number(values.rest),
  })
  for (const [what, count] of Object.entries(figures)) say(`${what}: ${count}`)
  say(`seconds: ${Math.round((Date.now() - begun) / 1_000)}`)
  say(`reported: ${reports.length}${reports.slice(0, 5).map((line) => `\n  ${line}`)}`)
  say(wrong.length === 0 ? 'Every minute counted once.' : `Counted wrongly:\n${wrong.join('\n')}`)
  if (wrong.length > 0 || reports.length > 0) process.exitCode = 1
} finally {
  for (const end of ends.reverse()) await end()
  await server.stop()
}
