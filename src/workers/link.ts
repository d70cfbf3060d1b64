/** A worker's way to the primary process, which keeps what the workers of one instance share. */
import { type Counted, type Counts, LocalCounts } from '../limits/counts.js'
import { createLocalPlaces, NoPlace, type Places } from '../limits/places.js'
import { Circuit } from '../runtime/circuit.js'
import type { Ask, Asks, Done, FromPrimary, Order, Request } from './messages.js'

/** What limits are counted by, over all workers. While the primary does not answer, each worker counts for itself. */
export interface Shared {
  counts: Counts
  places: Places
  /** Tells the other workers that a token was revoked. */
  tellRevocation(): void
  /** Calls back when another worker has revoked one. */
  onRevocation(callback: () => void): void
}

export interface Link extends Shared {
  /** Asks for what only the primary knows. */
  databaseUrl(): Promise<string>
  /** Says that this worker serves. */
  ready(): void
  /** Calls back whenever the primary orders something. */
  onOrder(callback: (order: Order) => unknown): void
  /** Begins to look after the primary. */
  watch(report: { lost: (reason: unknown) => void; found: () => void }): Promise<void>
  close(): void
}

/** How long a request waits for the primary, before that counts as away. */
const ANSWER_MS = 1_000

export const linkToPrimary = (): Link => {
  const local = { counts: new LocalCounts(), places: createLocalPlaces() }
  const waiting = new Map<number, (value: never) => void>()
  const listeners: ((order: Order) => unknown)[] = []
  let asks: Ask[] = []
  let latest = 0

  const send = (message: Asks | Done) => {
    // Without the primary there is nobody to tell, and Node ends this process.
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  }
  /** What is asked in one turn of the event loop is sent together. */
  const ask = <T>(request: Request): Promise<T> =>
    new Promise((resolve) => {
      if (asks.length === 0)
        setImmediate(() => {
          send({ asks })
          asks = []
        })
      waiting.set(++latest, resolve as (value: never) => void)
      asks.push([latest, ...request])
    })
  process.on('message', (message: FromPrimary) => {
    if ('order' in message) for (const listener of listeners) listener(message.order)
    else if ('answers' in message)
      for (const [id, value] of message.answers) {
        waiting.get(id)?.(value as never)
        waiting.delete(id)
      }
  })

  let report = { lost: (_reason: unknown) => {}, found: () => {} }
  const circuit = new Circuit({
    probe: () => ask(['ping']),
    lost: (reason) => report.lost(reason),
    found: () => report.found(),
  })

  const counts: Counts = {
    add: async (...counted) => {
      try {
        return await circuit.run(() => ask<Counted>(['add', ...counted]), ANSWER_MS)
      } catch {
        return local.counts.add(...counted)
      }
    },
  }
  let entered = 0
  const places: Places = {
    enter: async (kind, key) => {
      const place = ++entered
      const leave = () => void ask(['leave', place])
      let asked: Promise<boolean> | undefined
      let isGranted: boolean
      try {
        isGranted = await circuit.run(() => {
          asked = ask<boolean>(['enter', place, kind, key])
          return asked
        })
      } catch {
        // A place that is granted after all is not used.
        void asked?.then(() => leave())
        return local.places.enter(kind, key)
      }
      if (!isGranted) throw new NoPlace()
      let isInside = true
      return () => {
        if (isInside) leave()
        isInside = false
      }
    },
  }
  return {
    counts,
    places,
    tellRevocation: () => void ask(['revoked']),
    onRevocation: (callback) => listeners.push((order) => order === 'refresh' && callback()),
    databaseUrl: () => ask(['databaseUrl']),
    ready: () => send({ done: 'ready' }),
    onOrder: (callback) => listeners.push(callback),
    watch: (given) => {
      report = given
      return circuit.start()
    },
    close: () => circuit.close(),
  }
}
