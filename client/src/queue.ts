import type { FlushResult, Recording } from './api.js'
import { type FlushBody, MAX_ENTRIES, type Minutes, merge, toBody, toMinutes } from './batch.js'
import type { Client } from './client.js'
import { ApiProblem } from './problem.js'
import { isOff } from './recording.js'
import type { Batch, FlushStorage } from './storage.js'

/** When it is, and waking up later. */
export interface Clock {
  now(): number
  /** Calls `work` after that many milliseconds, unless what it returns is called before. */
  after(ms: number, work: () => void): () => void
}

export interface FlushQueueOptions {
  client: Client
  storage: FlushStorage
  clock?: Clock
  /** Told whenever something has changed. */
  onState?: (state: QueueState) => void
  /** IANA name of the person's time zone; default: that of the machine. */
  timezone?: string | undefined
}

export type Status =
  | 'ready'
  | 'sending'
  /** After a failure, until `retryAt`. */
  | 'waiting'
  /** Until the client has another token. */
  | 'signed_out'
  | 'paused'
  /** The person has switched recording off at the service. */
  | 'recording_off'

export interface QueueState {
  status: Status
  retryAt?: number
  /** What has just become of a batch, where it was not all counted. */
  report?: Report
}

export type Report =
  /** Set aside: the service will never take it. */
  | { kind: 'refused'; flushId: string; code: string; detail: string; entries: FlushBody['entries'] }
  /** Taken, but these do not count in full: outside of the 30 days, of no workspace, too much for an hour, … */
  | {
      kind: 'not_counted'
      flushId: string
      entries: (FlushBody['entries'][number] & Pick<FlushResult['notes'][number], 'status' | 'code'>)[]
    }

export interface Pending {
  /** Minutes that this queue has kept and not sealed. */
  minutes: number
  /** Batches that wait to be sent, those of other queues on the same storage included. */
  batches: number
  /** Batches that were set aside. */
  refused: number
}

export interface FlushQueue {
  /**
   * Keeps minutes (1 to 60) that were worked on a repository in the UTC hour of `at`. They are stored when the promise
   * is fulfilled, and then survive the process; a call that was not is all that a crash can lose. In a pause and after
   * `dispose` nothing is kept.
   */
  add(repo: string, at: Date | number, minutes: number): Promise<void>
  /**
   * Sends everything now, whatever went wrong before, and also what other queues on the storage have kept; only a wait
   * that the service asked for is kept.
   */
  flush(): Promise<void>
  pending(): Promise<Pending>
  /** Keeps nothing and sends nothing until `resume`; what was kept before stays. */
  pause(): void
  resume(): void
  /** Ends it; what was kept waits in the storage for the next one. */
  dispose(): Promise<void>
}

const MINUTE_MS = 60_000
const SEAL_AFTER_MS = 10 * MINUTE_MS
const ASK_AFTER_MS = 60 * MINUTE_MS
const LONGEST_BACKOFF_MS = 15 * MINUTE_MS

const systemClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer: unknown = setTimeout(work, ms)
    // A queue that waits keeps no process alive, where that can be said.
    ;(timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer as number)
  },
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
 * Minutes are merged into one open batch, which is stored under its `flush_id` with every minute that comes in. Sealing
 * only changes the state of what is stored, so a minute is in one batch at any moment, and in no other ever. A sealed
 * batch never changes, is sent with the same bytes until the service has answered, and only then removed.
 *
 * Nothing that can happen in between counts twice. Lost answers, a crash after the answer, a second window that sends
 * the same batch because the first one slept with its claim: all of them repeat a flush_id with the same body, which the
 * service counts once. It remembers ids for 32 days by its own clock, and takes an entry for at most 31 (from the day
 * before it begins): what is so late that the id is forgotten is too old to be counted. The clock of this machine plays
 * no part in that; it only decides which hour a minute belongs to, and when to try again.
 */
export const createFlushQueue = ({
  client,
  storage,
  clock = systemClock,
  onState,
  timezone = Intl.DateTimeFormat().resolvedOptions().timeZone,
}: FlushQueueOptions): FlushQueue => {
  let open: { id: string; since: number; batch: Map<string, Minutes> } | undefined
  let recording: { last: Recording; askedAt: number } | undefined
  let paused = false
  let failures = 0
  /** From when until when nothing is sent, and whether the service asked for that. */
  let hold = { since: 0, until: 0, told: false }
  /** With which token the service said 401. */
  let refused: { token: string | undefined } | undefined
  let sending = false
  const disposal = new AbortController()
  let cancelWake = () => {}

  /** Changes of the open batch come one after another. */
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  /** A clock that was set back ends it. */
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
      // Its failure is not the queue's.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  const isUnwanted = ({ repo, at }: Minutes) =>
    recording !== undefined && isOff(recording.last, repo, at, timezone)

  const textOf = (id: string, batch: Map<string, Minutes>) =>
    JSON.stringify(toBody(id, batch.values(), timezone))

  /** In turn only. */
  const seal = async () => {
    if (open === undefined) return
    const { id, batch } = open
    // What was kept before the service had said that it should not be.
    const wanted = new Map([...batch].filter(([, minutes]) => !isUnwanted(minutes)))
    if (wanted.size < batch.size) await storage.update(id, textOf(id, wanted))
    await storage.seal(id)
    open = undefined
  }

  const keep = async (minutes: Minutes) => {
    if (open !== undefined) {
      const batch = merge(open.batch, minutes)
      if (toBody(open.id, batch.values(), timezone).entries.length > MAX_ENTRIES) await seal()
      else if (await storage.update(open.id, textOf(open.id, batch))) {
        open.batch = batch
        return
      }
      // Otherwise another queue has sealed it, with all that was stored in it.
    }
    const now = clock.now()
    const id = newId(now)
    const batch = merge(new Map(), minutes)
    open = undefined
    await storage.create(id, textOf(id, batch))
    open = { id, since: now, batch }
  }

  const learnRecording = async () => {
    const now = clock.now()
    if (recording !== undefined && Math.abs(now - recording.askedAt) < ASK_AFTER_MS) return
    recording = { last: await askRecording(), askedAt: now }
  }

  const askRecording = async (): Promise<Recording> => {
    try {
      const options = { retry: false, signal: disposal.signal } as const
      return (await client.request('GET /api/me/recording', options)).data
    } catch (error) {
      // A service from before people could switch it off.
      if (error instanceof ApiProblem && error.status === 404)
        return { paused: false, repos_off: [], hours: null }
      throw error
    }
  }

  const post = async (body: FlushBody): Promise<FlushResult> => {
    const operation = 'POST /api/team/active-minutes'
    try {
      const { data } = await client.request(operation, { body, retry: false, signal: disposal.signal })
      // A network that lets nobody through until they have signed in answers anything.
      if (!Array.isArray(data?.notes)) throw new Error('This is no answer to a flush.')
      return data
    } catch (error) {
      const { timezone: unknown, ...rest } = body
      if (unknown === undefined || !(error instanceof ApiProblem && error.code === 'invalid_timezone'))
        throw error
      // The service's list of time zones is another one; nothing was counted. Retries go the same two steps.
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
    const longest = Math.min(LONGEST_BACKOFF_MS, 2000 * 2 ** failures++)
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
      // Minutes of a window that has died must not wait for its lease. A living one begins another batch.
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

  /** Rounds come one after another as well. */
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
      // Decided now: what was added before the end is kept, though its turn comes after it.
      if (paused || disposal.signal.aborted) return
      await inTurn(async () => {
        if (!isUnwanted(added)) await keep(added)
      })
    },
    flush: () => round(true),
    async pending() {
      const batches = await storage.list()
      const refusedOnes = batches.filter(({ state }) => state === 'refused').length
      const minutes = [...(open?.batch.values() ?? [])].reduce((sum, { minutes }) => sum + minutes, 0)
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
