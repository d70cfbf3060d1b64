/** An ordinary caller on a thread of its own, so that the attackers' work in this process isn't measured with it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { url, headers, everyMs } = workerData as {
  url: string
  headers: Record<string, string>
  everyMs: number
}
let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
const times: number[] = []
const refused: number[] = []
while (!isOver) {
  const began = performance.now()
  const reply = await fetch(url, { headers }).catch(() => undefined)
  await reply?.arrayBuffer().catch(() => {})
  times.push(performance.now() - began)
  if (!reply?.ok) refused.push(reply?.status ?? 0)
  await sleep(everyMs)
}
parentPort?.postMessage({ times, refused })
