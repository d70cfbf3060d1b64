/** Calls of the API, through the typed client alone, and what the screens remember of them. */
import { effect, signal } from '@preact/signals'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { createClient } from '../client/src/client.js'
import type { Answer, AnswerOf, Operation, RequestOptions } from '../client/src/operations.js'
import { ApiProblem } from '../client/src/problem.js'
import { count } from './format.js'
import { start } from './start.js'

type Reading = Extract<Operation, `GET ${string}`>

export const signedIn = signal(start.signed_in)
/** Signed out by the service in the middle of something. */
export const ended = signal(false)
/** The sign-in is on top of what was on screen; it can be put aside. */
export const expired = signal(false)
export const offline = signal(!navigator.onLine)
/** How many answers are waited for that were not seen before. */
export const loading = signal(0)

const client = createClient({ baseUrl: '', cookie: true })

/** What went wrong, in words that say what to do. */
export interface Failure {
  title: string
  advice: string
  code: string
  status: number
  requestId: string | undefined
  /** Whether trying again can help, so that reads are repeated by themselves. */
  canRetry: boolean
  /** The session has ended: what helps is to sign in. */
  isEnd: boolean
  /** Seconds that the service asks to wait. */
  retryAfter: number | undefined
  /** The members that come with the code. */
  problem: Record<string, unknown>
}

type Words = [title: string, advice: string]

const ENDED: Words = ['Your session has ended', 'Sign in again to go on. Nothing that you typed is lost.']

const words: Record<string, Words> = {
  unreachable: [
    'The service cannot be reached',
    'Nothing that you typed is lost. Try again once it is back.',
  ],
  no_answer: ['No answer came', 'The service, or the way to it, is slow. Try again.'],
  perhaps_done: ['No answer came', 'It may have been done all the same: look before you try again.'],
  unexpected_answer: [
    'Something else answered in place of the service',
    'It may be a proxy, or a network that wants you to sign in. Try again in a moment, then load the page again.',
  ],
  invalid_range: ['These days cannot be shown', 'A range has at most 366 days and ends after it begins.'],
  unauthenticated: ENDED,
  token_invalid: ENDED,
  token_expired: ENDED,
  token_revoked: ENDED,
  pro_required: ['This needs a subscription', 'Under Account you can start one.'],
  admin_required: [
    'Only admins of this workspace may do that',
    'Ask one of them: they are listed under People.',
  ],
  workspace_not_found: [
    'There is no such workspace for you',
    'It was deleted, or you are not a member. Ask an admin for an invite.',
  ],
  not_a_member: ['No workspace of yours covers this repository', 'Ask an admin to add a matching pattern.'],
  member_detail_hidden: [
    'This workspace shows no numbers of single people',
    'Its privacy level is “team”. Take the filter by person away.',
  ],
  never_synced: [
    'Nothing was pushed for this repository yet',
    'Push its settings from the editor extension.',
  ],
  member_not_found: ['There is no such member', 'They may have left in the meantime. Load the list again.'],
  invite_not_found: [
    'There is no such invite',
    'Look whether the whole link was copied, or ask for a new one.',
  ],
  invite_expired: ['This invite has expired', 'Ask for a new one.'],
  invite_exhausted: ['This invite was used as often as it may be', 'Ask for a new one.'],
  invite_revoked: ['This invite was revoked', 'Ask for a new one.'],
  last_admin: ['A workspace needs an admin', 'Make somebody else admin first.'],
  personal_workspace: ['This is a personal workspace', 'Nobody joins or leaves it.'],
  version_conflict: [
    'Somebody else changed this in the meantime',
    'Compare both sides below, then save again.',
  ],
  rate_limited: ['That was too often', 'Wait a moment, then try again. Nothing that you typed is lost.'],
  unavailable: ['The service is busy or starting', 'Try again in a moment. Nothing that you typed is lost.'],
  repohost_token_invalid: [
    'The repository host does not know this token',
    'Copy it again, or make a new one.',
  ],
  billing_not_configured: ['This installation has no billing', 'There is nothing to pay here.'],
  no_subscription: ['You never had a subscription', 'Start one first.'],
  admin_key_invalid: ['The service does not know this key', 'The operator has it: ADMIN_KEYS.'],
  csrf_rejected: ['The browser did not say where this comes from', 'Load the page again.'],
}

/** What the service said about single fields, such as `from must be a day of the calendar`. */
const faultsOf = (error: ApiProblem): string | undefined => {
  const { errors } = error as { errors?: { path: string; message: string }[] }
  return errors?.map(({ path, message }) => `${path.split('/').at(-1)} ${message}`).join('; ')
}

const codeOf = (error: unknown, operation: Operation): string => {
  if (error instanceof ApiProblem) return error.code
  if (!(error instanceof DOMException && error.name === 'TimeoutError')) return 'unreachable'
  return operation.startsWith('GET ') ? 'no_answer' : 'perhaps_done'
}

const failureOf = (error: unknown, operation: Operation): Failure => {
  const problem = error instanceof ApiProblem ? error : undefined
  const code = codeOf(error, operation)
  const status = problem?.status ?? 0
  const retryAfter = problem?.retryAfter
  const [title, advice] = words[code] ?? [
    status >= 500 ? 'The service could not do that' : 'That did not work',
    (problem && (faultsOf(problem) ?? problem.detail)) || 'Try again.',
  ]
  return {
    title,
    advice: retryAfter ? `${advice} The service asks for ${count(Math.ceil(retryAfter))} seconds.` : advice,
    code,
    status,
    requestId: problem?.requestId,
    canRetry: status === 0 || status === 429 || status >= 500 || code === 'unexpected_answer',
    isEnd: status === 401 && !['repohost_token_invalid', 'admin_key_invalid'].includes(code),
    retryAfter,
    problem: (problem ?? {}) as Record<string, unknown>,
  }
}

const HEALTH = 'GET /api/health'

/** One call. @throws {Failure} */
export const call = async <O extends Operation>(
  operation: O,
  options: RequestOptions<O>,
): Promise<Answer<AnswerOf<O>>> => {
  try {
    // What fails is shown at once, and repeated by the screen.
    const answer = await client.request(operation, { ...options, retry: false })
    offline.value = false
    return answer
  } catch (error) {
    if (options.signal?.aborted) throw error
    const failure = failureOf(error, operation)
    if (failure.status > 0) offline.value = false
    // One call alone may be kept away by something in the browser.
    else if (failure.code === 'unreachable' && operation !== HEALTH) tryNow()
    if (failure.isEnd && signedIn.value) {
      ended.value = true
      expired.value = true
    }
    throw failure
  }
}

/**
 * How long to wait before what failed is tried again, in ms: twice as long every time, at least as long as the service
 * asks for, and never the same for two, so that not everybody comes back at once.
 */
const pauseAfter = (failures: number, retryAfter = 0): number => {
  const seconds = Math.max(Math.min(60, 2 * 2 ** failures), Math.min(86_400, retryAfter))
  return seconds * (1 + Math.random() / 4) * 1_000
}

/** Asks everything that is on screen again. */
export const renewed = signal(0)
export const renew = () => {
  renewed.value++
}

/** Asks whether the service can be reached. */
export const tryNow = () =>
  call(HEALTH, {}).then(
    () => {},
    ({ code }: Failure) => {
      if (code === 'unreachable') offline.value = true
    },
  )
addEventListener('online', tryNow)
addEventListener('offline', () => {
  offline.value = true
})

/** How often the service was away in a row; being back for a minute ends the row. */
let absences = 0
let backSince = 0
const LASTING_MS = 60_000
// One small question is repeated, and what is on screen is asked for again only when that is answered.
effect(() => {
  if (!offline.value) return
  if (Date.now() - backSince > LASTING_MS) absences = 0
  let asking: ReturnType<typeof setTimeout>
  let isBack = false
  const askLater = () => {
    if (isBack) return
    asking = setTimeout(() => tryNow().then(askLater), pauseAfter(absences++))
  }
  askLater()
  return () => {
    isBack = true
    backSince = Date.now()
    clearTimeout(asking)
    renew()
  }
})

export interface Asked<T> {
  data: T | undefined
  /** Of the state that `data` shows. */
  etag: string | undefined
  failure: Failure | undefined
  /** What is shown belongs to an earlier question. */
  stale: boolean
  again: () => void
}

/** Answers that were seen, so that they are on screen at once when they are asked for again. */
const seen = new Map<string, Answer<unknown>>()
const SEEN_MAX = 60

export const forgetSeen = () => seen.clear()

const remember = (name: string, answer: Answer<unknown>) => {
  seen.delete(name)
  seen.set(name, answer)
  for (const oldest of seen.keys()) {
    if (seen.size <= SEEN_MAX) break
    seen.delete(oldest)
  }
}

/** @returns what to call, perhaps more than once, when it is there */
const waitFor = () => {
  let waits = true
  loading.value++
  return () => {
    if (waits) loading.value--
    waits = false
  }
}

/**
 * The answer to a read, asked for again when the question changes; `undefined` asks nothing. What was seen last stays
 * until the new answer is there.
 */
export const useAsk = <O extends Reading>(
  operation: O,
  options: RequestOptions<O> | undefined,
): Asked<AnswerOf<O>> => {
  const name = options && `${operation} ${JSON.stringify(options)}`
  const [, settled] = useReducer((n: number) => n + 1, 0)
  const [round, again] = useReducer((n: number) => n + 1, 0)
  const shown = useRef<Answer<AnswerOf<O>>>(undefined)
  const [failed, fail] = useState<{ name: string; failure: Failure }>()
  const failures = useRef({ name, count: 0 })

  useEffect(() => {
    if (!name || !options) return
    if (failures.current.name !== name) failures.current = { name, count: 0 }
    const stop = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const arrived = seen.has(name) ? () => {} : waitFor()
    call(operation, { ...options, signal: stop.signal }).then(
      (answer) => {
        failures.current.count = 0
        arrived()
        remember(name, answer)
        fail(undefined)
        settled(0)
      },
      (failure: Failure) => {
        if (stop.signal.aborted) return
        arrived()
        fail({ name, failure })
        if (!failure.canRetry) return
        const pause = pauseAfter(failures.current.count++, failure.retryAfter)
        // Once a service that is away is back, all is asked for again.
        retry = setTimeout(() => offline.value || again(0), pause)
      },
    )
    return () => {
      stop.abort()
      arrived()
      clearTimeout(retry)
    }
  }, [name, round, renewed.value])

  const known = name === undefined ? undefined : (seen.get(name) as Answer<AnswerOf<O>> | undefined)
  if (known !== undefined) shown.current = known
  return {
    data: shown.current?.data,
    etag: shown.current?.etag,
    failure: failed && failed.name === name ? failed.failure : undefined,
    stale: known === undefined && shown.current !== undefined,
    again: () => {
      // Whoever asks again sees that it is being asked.
      fail(undefined)
      again(0)
    },
  }
}

/** An action of a person, made of calls: what it failed with, and whether it is under way. */
export const useAct = () => {
  const [state, set] = useState<{ busy: boolean; failure?: Failure }>({ busy: false })
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    // Buttons stay where the keyboard is while something is under way; pressed again, they do nothing.
    if (state.busy) return false
    set({ busy: true })
    try {
      await work()
      set({ busy: false })
      return true
    } catch (failure) {
      set({ busy: false, failure: failure as Failure })
      return false
    }
  }
  return { ...state, act, clear: () => set({ busy: false }) }
}

/** A list that comes in pages: those that were asked for so far, and a way to the next one if there is one. */
export const usePages = <T extends { next_cursor: string | null }>(
  asked: Asked<T>,
  load: (cursor: string) => Promise<{ data: T }>,
) => {
  const [further, set] = useState<{ after: T | undefined; pages: T[] }>({ after: undefined, pages: [] })
  const { busy, failure, act } = useAct()
  const first = asked.data
  const pages = first ? [first, ...(further.after === first ? further.pages : [])] : []
  const cursor = pages.at(-1)?.next_cursor ?? null
  const more =
    cursor === null
      ? undefined
      : () =>
          act(async () => {
            const { data } = await load(cursor)
            set({ after: first, pages: [...pages.slice(1), data] })
          })
  return { pages, more, busy, failure }
}
