/** Calls of the API, through the typed client alone, and what the screens remember of them. */
import { effect, signal } from '@preact/signals'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { createClient } from '../client/src/client.js'
import type { Answer, AnswerOf, Operation, RequestOptions } from '../client/src/operations.js'
import { ApiProblem } from '../client/src/problem.js'
import { start } from './start.js'

type Reading = Extract<Operation, `GET ${string}`>

/** Signed out by the service in the middle of something: what is on screen stays, below a sign-in. */
export const signedIn = signal(start.signed_in)
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
  /** Whether trying again can help. */
  canRetry: boolean
  /** Seconds that the service asks to wait. */
  retryAfter: number | undefined
  /** The members that come with the code. */
  problem: Record<string, unknown>
}

type Words = [title: string, advice: string]

const ENDED: Words = ['Your session has ended', 'Sign in again to go on.']

const words: Record<string, Words> = {
  unreachable: [
    'The service cannot be reached',
    'Nothing that you typed is lost. Try again once it is back.',
  ],
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

export const failureOf = (error: unknown): Failure => {
  const reached = error instanceof ApiProblem
  const code = reached ? error.code : 'unreachable'
  const status = reached ? error.status : 0
  const [title, advice] = words[code] ?? [
    status >= 500 ? 'The service could not do that' : 'That did not work',
    (reached && error.detail) || 'Try again.',
  ]
  return {
    title,
    advice,
    code,
    status,
    requestId: reached ? error.requestId : undefined,
    canRetry: status === 0 || status === 429 || status >= 500,
    retryAfter: reached ? error.retryAfter : undefined,
    problem: (reached ? error : {}) as Record<string, unknown>,
  }
}

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
    const failure = failureOf(error)
    offline.value = failure.status === 0
    if (failure.status === 401 && !['repohost_token_invalid', 'admin_key_invalid'].includes(failure.code)) {
      if (signedIn.value) expired.value = true
    }
    throw failure
  }
}

const RETRY_SECONDS = 5

/** Asks everything that is on screen again. */
export const renewed = signal(0)
export const renew = () => {
  renewed.value++
}
addEventListener('online', renew)
// What failed may have been an action alone, which nothing repeats: whether the service is back has to be asked.
effect(() => {
  if (!offline.value) return
  const asking = setInterval(renew, RETRY_SECONDS * 1_000)
  return () => clearInterval(asking)
})
addEventListener('offline', () => {
  offline.value = true
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

  useEffect(() => {
    if (!name || !options) return
    const stop = new AbortController()
    let retry: ReturnType<typeof setTimeout> | undefined
    const arrived = seen.has(name) ? () => {} : waitFor()
    call(operation, { ...options, signal: stop.signal }).then(
      (answer) => {
        arrived()
        remember(name, answer)
        fail(undefined)
        settled(0)
      },
      (failure: Failure) => {
        if (stop.signal.aborted) return
        arrived()
        fail({ name, failure })
        const seconds = failure.retryAfter ?? RETRY_SECONDS
        if (failure.canRetry && !offline.value) retry = setTimeout(() => again(0), seconds * 1_000)
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
    again: () => again(0),
  }
}

/** An action of a person: what it failed with, and whether it is under way. */
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
      set({
        busy: false,
        failure: 'advice' in (failure as object) ? (failure as Failure) : failureOf(failure),
      })
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
