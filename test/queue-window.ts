/**
 * A window of an editor, as a process that can be killed: it adds minutes to the queue on a folder, keeps a journal of
 * what it did, and sends. Started by `playQueue`, which tells it everything on standard input.
 */
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, createFlushQueue } from '../client/src/index.js'
import { folderStorage } from '../client/src/node.js'
import type { Given } from './queue-faults.js'

/** Hours of waiting pass in seconds. */
const HASTE = 500

const { url, token, folder, journal, adds, window }: Given = JSON.parse(await text(process.stdin))

const client = createClient({
  baseUrl: url,
  token,
  // The network loses connections, one request each.
  fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, connection: 'close' } }),
})
const queue = createFlushQueue({
  client,
  // So short that even windows that are alive but slow are overtaken by the others.
  storage: folderStorage(folder, { open: 300, claim: 200 }),
  timezone: 'UTC',
  clock: {
    now: () => Date.now() * HASTE,
    after(ms, work) {
      const timer = setTimeout(work, ms / HASTE)
      return () => clearTimeout(timer)
    },
  },
  onState: ({ report }) => {
    if (report !== undefined) appendFileSync(journal, `! ${JSON.stringify(report)}\n`)
  },
})

for (const { repo, at } of adds) {
  const what = `${repo} ${new Date(at).toISOString().slice(0, 13)}\n`
  appendFileSync(journal, `? ${what}`)
  await queue.add(repo, at, 1)
  appendFileSync(journal, `+ ${what}`)
  if (Math.random() < 0.4) await queue.flush()
  await sleep(Math.random() * 10)
}
// Until no batch is left.
for (;;) {
  await queue.flush()
  const { batches, minutes } = await queue.pending()
  if (batches === 0 && minutes === 0) break
  await sleep(20)
}
await queue.dispose()
appendFileSync(journal, `. ${window}\n`)
