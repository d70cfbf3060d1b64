import type { FlushResult, Recording } from './api.js'
import { type FlushBody, MAX_ENTRIES, type Minutes, merge, toBody, toMinutes } from './batch.js'
import type { Client } from './client.js'
import { ApiProblem } from './problem.js'
import { isOff } from './recording.js'
import type { Batch, FlushStorage } from './storage.js'
import { nextTimezone, type PersonTimezone } from './timezone.js'

/** The clock and the timers. */
export interface Clock {
  now(): number
  /** Calls `work` after that many milliseconds. The returned function cancels it. */
  after(ms: number, work: () => void): () => void
}

export interface FlushQueueOptions {
  client: Client
  storage: FlushStorage
  clock?: Clock
  /** Called after every change. */
  onState?: (state: QueueState) => void
  /** The IANA name of the person's time zone. Default: the machine's, as it is when minutes are added. */
  timezone?: string | undefined
}

export type Status =
  | 'ready'
  | 'sending'
  /** A send failed. The next attempt is at `retryAt`. */
  | 'waiting'
  /** The client needs a new token. */
  | 'signed_out'
  | 'paused'
  /** The person has turned recording off at the service. */
  | 'recording_off'

export interface QueueState {
  status: Status
  retryAt?: number
  /** The result of a batch that didn't count in full. */
  report?: Report
}

export type Report =
  /** Set aside, because the service will never accept it. */
  | { kind: 'refused'; flushId: string; code: string; detail: string; entries: FlushBody['entries'] }
  /** Accepted, but these entries don't count in full: older than 30 days, in no workspace, too much for an hour, … */
  | {
      kind: 'not_counted'
      flushId: string
      entries: (FlushBody['entries'][number] & Pick<FlushResult['notes'][number], 'status' | 'code'>)[]
    }

export interface Pending {
  /** Minutes that this queue has stored and not yet sealed. */
  minutes: number
  /** Batches that wait to be sent, including those of other queues on the same storage. */
  batches: number
  /** Batches that were set aside. */
  refused: number
}

export interface FlushQueue {
  /**
   * Keeps minutes (1 to 60) of work on a repository in the UTC hour of `at`. Once the promise is fulfilled, they are
   * stored and survive the process. A crash can lose only calls that weren't fulfilled. During a pause and after
   * `dispose`, nothing is kept.
   */
  add(repo: string, at: Date | number, minutes: number): Promise<void>
  /**
   * Sends everything now, even after failures, including the batches of other queues on the storage. It only waits if the
   * service asked for it.
   */
  flush(): Promise<void>
  pending(): Promise<Pending>
  /** Keeps nothing and sends nothing until `resume`. Stored minutes stay. */
  pause(): void
  resume(): void
  /** Ends the queue. Stored minutes wait in the storage for the next queue. */
  dispose(): Promise<void>
}

const MINUTE_MS = 60_000
const SEAL_AFTER_MS = 10 * MINUTE_MS
const ASK_AFTER_MS = 60 * MINUTE_MS
const MAX_BACKOFF_MS = 15 * MINUTE_MS

const systemClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer: unknown = setTimeout(work, ms)
    // A waiting queue keeps no process alive, where the platform allows it.
    ;(timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer as number)
  },
}

/** Minutes belong to the days of the time zone in which they were added, so a batch has one time zone. */
interface OpenBatch {
  id: string
  since: number
  timezone: string | undefined
  minutes: Map<string, Minutes>
}

/** Begins with the time, so that ids sort by age. */
const newId = (now: number) => {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  )
  return `${now.toString(36).padStart(9, '0')}-${random.join('')}`
}

const parse = (text: string): FlushBody | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Sends active minutes so that each counts exactly once, whatever happens to the network, the process or the laptop.
 *
 * Minutes are merged into one open batch, which is stored under its `flush_id` with every new minute. Sealing only
 * changes the state of the stored batch, so a minute is always in exactly one batch. A sealed batch never changes. It's
 * sent with the same bytes until the service has answered, and is removed only then.
 *
 * Nothing that happens in between makes a minute count twice. After a lost response, after a crash, or when a second
 * window sends the same batch because the first one slept with its claim, the same flush_id and body are sent again,
 * and the service counts them once. The service remembers ids for 32 days by its own clock, and accepts an entry for at
 * most 31 (from the day before it begins). So an entry whose id is forgotten is too old to count. The clock of this
 * machine has no effect on that. It only decides which hour a minute belongs to, and when to retry.
 */
export const createFlushQueue = ({
  client,
  storage,
  clock = systemClock,
  onState,
  timezone: fixed,
}: FlushQueueOptions): FlushQueue => {
  let open: OpenBatch | undefined
  let recording: { last: Recording; timezone: PersonTimezone | undefined; askedAt: number } | undefined
  let paused = false
  let failures = 0
  /** The period in which nothing is sent, and whether the service asked for it. */
  let hold = { since: 0, until: 0, told: false }
  /** The token for which the service returned 401. */
  let refused: { token: string | undefined } | undefined
  let sending = false
  const disposal = new AbortController()
  let cancelWake = () => {}

  /** Changes of the open batch run one after another. */
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  /** A hold also ends if the clock was set back. */
  const isHeld = () => hold.since <= clock.now() && clock.now() < hold.until
  const isSignedOut = () => refused !== undefined && refused.token === client.token

  const tell = (report?: Report) => {
    const status: Status = paused
      ? 'paused'
      : recording?.last.paused
        ? 'recording_off'
        : isSignedOut()
          ? 'signed_out'
          : sending
            ? 'sending'
            : isHeld()
              ? 'waiting'
              : 'ready'
    try {
      onState?.({ status, ...(status === 'waiting' && { retryAt: hold.until }), ...(report && { report }) })
    } catch (error) {
      // An error in `onState` must not affect the queue.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  /** A laptop can travel while the queue waits. */
  const timezoneNow = () => fixed ?? Intl.DateTimeFormat().resolvedOptions().timeZone

  const isUnwanted = ({ repo, at }: Minutes, timezone: string | undefined) =>
    recording !== undefined &&
    isOff(recording.last, repo, at, recording.timezone && nextTimezone(recording.timezone, timezone))

  const bodyOf = ({ id, minutes, timezone }: OpenBatch) => toBody(id, minutes.values(), timezone)

  /** Seals the open batch. Call it only within a turn. */
  const seal = async () => {
    if (open === undefined) return
    const { id, minutes, timezone } = open
    // Minutes that were kept before the service said not to.
    const wanted = new Map([...minutes].filter(([, one]) => !isUnwanted(one, timezone)))
    if (wanted.size < minutes.size)
      await storage.update(id, JSON.stringify(bodyOf({ ...open, minutes: wanted })))
    await storage.seal(id)
    open = undefined
  }

  const keep = async (added: Minutes, timezone: string | undefined) => {
    if (open !== undefined && open.timezone !== timezone) await seal()
    if (open !== undefined) {
      const next = { ...open, minutes: merge(open.minutes, added) }
      const body = bodyOf(next)
      if (body.entries.length > MAX_ENTRIES) await seal()
      else if (await storage.update(open.id, JSON.stringify(body))) {
        open = next
        return
      }
      // If this fails, another queue has sealed the batch, with everything stored in it.
    }
    const now = clock.now()
    const next = { id: newId(now), since: now, timezone, minutes: merge(new Map(), added) }
    open = undefined
    await storage.create(next.id, JSON.stringify(bodyOf(next)))
    open = next
  }

  const learnRecording = async () => {
    const now = clock.now()
    if (recording !== undefined && Math.abs(now - recording.askedAt) < ASK_AFTER_MS) return
    const last = await askRecording()
    const timezone = last.hours === null ? undefined : await askTimezone()
    // Without the time zone, only the service can tell which minutes are in the hours.
    recording = { last: { ...last, hours: timezone ? last.hours : null }, timezone, askedAt: now }
  }

  /** Recording hours are in the person's time zone, and this machine may be a container, which runs in UTC. */
  const askTimezone = async (): Promise<PersonTimezone | undefined> => {
    try {
      const options = { retry: false, signal: disposal.signal } as const
      const { timezone, timezone_chosen } = (await client.request('GET /api/me', options)).data
      return { timezone, timezoneChosen: timezone_chosen }
    } catch (error) {
      // A key that may only write activity.
      if (error instanceof ApiProblem && error.code === 'scope_missing') return undefined
      throw error
    }
  }

  const askRecording = async (): Promise<Recording> => {
    try {
      const options = { retry: false, signal: disposal.signal } as const
      return (await client.request('GET /api/me/recording', options)).data
    } catch (error) {
      // An older service without recording preferences.
      if (error instanceof ApiProblem && error.status === 404)
        return { paused: false, repos_off: [], hours: null }
      throw error
    }
  }

  const post = async (body: FlushBody): Promise<FlushResult> => {
    const operation = 'POST /api/team/active-minutes'
    try {
      const { data } = await client.request(operation, { body, retry: false, signal: disposal.signal })
      // A captive portal can return anything.
      if (!Array.isArray(data?.notes)) throw new Error('This isn’t a response to a flush.')
      return data
    } catch (error) {
      const { timezone: unknown, ...rest } = body
      if (unknown === undefined || !(error instanceof ApiProblem && error.code === 'invalid_timezone'))
        throw error
      // The service doesn't know this time zone, and nothing was counted. Retries take the same two steps.
      return post(rest)
    }
  }

  const setAside = async (batch: Batch, entries: FlushBody['entries'], code: string, detail: string) => {
    await storage.refuse(batch)
    tell({ kind: 'refused', flushId: batch.id, code, detail, entries })
  }

  const send = async (batch: Batch) => {
    const body = parse(batch.body)
    if (body === undefined) return setAside(batch, [], 'unreadable', 'The storage has given back no flush.')
    const { entries } = body
    try {
      const { notes } = entries.length === 0 ? { notes: [] } : await post(body)
      await storage.remove(batch)
      const uncounted = notes.flatMap(({ index, status, code }) => {
        const entry = entries[index]
        return entry === undefined ? [] : [{ ...entry, status, code }]
      })
      if (uncounted.length > 0) tell({ kind: 'not_counted', flushId: batch.id, entries: uncounted })
    } catch (error) {
      const isFinal =
        error instanceof ApiProblem &&
        error.code !== 'unexpected_answer' &&
        [400, 409, 413].includes(error.status)
      if (isFinal) return setAside(batch, entries, error.code, error.detail)
      await storage.release(batch)
      throw error
    }
  }

  const holdAfter = (error: unknown) => {
    const problem = error instanceof ApiProblem ? error : undefined
    if (problem?.status === 401) {
      refused = { token: client.token }
      return
    }
    const told = problem?.status === 429 || problem?.status === 503 ? problem.retryAfter : undefined
    const longest = Math.min(MAX_BACKOFF_MS, 2000 * 2 ** failures++)
    const wait = told === undefined ? longest * (0.5 + Math.random() / 2) : told * 1000
    const since = clock.now()
    hold = { since, until: since + wait, told: told !== undefined }
  }

  const sendAll = async (now: boolean) => {
    sending = true
    tell()
    try {
      await learnRecording()
      await inTurn(async () => {
        if (now || (open !== undefined && Math.abs(clock.now() - open.since) >= SEAL_AFTER_MS)) await seal()
      })
      // Minutes left behind by a dead window must not wait for its lease to end. A live window starts another batch.
      if (now) {
        for (const { id, state } of await storage.list()) if (state === 'open') await storage.seal(id)
      }
      for (;;) {
        if (paused || recording?.last.paused || disposal.signal.aborted) break
        const batch = await storage.claim()
        if (batch === undefined) break
        await send(batch)
        failures = 0
      }
      refused = undefined
    } catch (error) {
      if (!disposal.signal.aborted) holdAfter(error)
    } finally {
      sending = false
      tell()
    }
  }

  /** Rounds run one after another too. */
  let rounds: Promise<void> = Promise.resolve()
  const round = (now: boolean): Promise<void> => {
    rounds = rounds.then(async () => {
      cancelWake()
      const held = now ? isHeld() && hold.told : isHeld() || isSignedOut()
      if (!held && !paused && !disposal.signal.aborted) await sendAll(now)
      if (disposal.signal.aborted) return
      const wait = isHeld() ? Math.min(hold.until - clock.now(), MINUTE_MS) : MINUTE_MS
      cancelWake = clock.after(wait, () => void round(false))
    })
    return rounds
  }
  void round(false)

  return {
    async add(repo, at, minutes) {
      const added = toMinutes(repo, at, minutes)
      const timezone = timezoneNow()
      // Checked now, because minutes added before the queue ends are kept, even if they're stored afterwards.
      if (paused || disposal.signal.aborted) return
      await inTurn(async () => {
        if (!isUnwanted(added, timezone)) await keep(added, timezone)
      })
    },
    flush: () => round(true),
    async pending() {
      const batches = await storage.list()
      const refusedOnes = batches.filter(({ state }) => state === 'refused').length
      const minutes = [...(open?.minutes.values() ?? [])].reduce((sum, { minutes }) => sum + minutes, 0)
      // Another queue may have sealed it.
      const own = batches.some(({ id, state }) => id === open?.id && state === 'open') ? 1 : 0
      return { minutes, batches: batches.length - refusedOnes - own, refused: refusedOnes }
    },
    pause() {
      paused = true
      tell()
    },
    resume() {
      paused = false
      tell()
    },
    async dispose() {
      disposal.abort(new Error('The flush queue has ended.'))
      cancelWake()
      await rounds
      await inTurn(seal)
    },
  }
}
