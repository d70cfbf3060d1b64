/** Reads the caller's session from the token in the header or the cookie, or finds an access key in the header. */
import { fastifyCookie } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { KeyInUse, Session } from '../../platform/access/caller.js'
import type { Db } from '../../platform/database/client.js'
import { measuredTask } from '../../platform/metrics/meter.js'
import { repeat } from '../../platform/process/async.js'
import { listDisabledUsers } from '../accounts/index.js'
import { AccessKeys } from '../keys/index.js'
import { type Revoked, readRevocations } from './queries/sessions.js'
import { bearerOf, isKeySecret, Tokens } from './tokens.js'

const LIFETIME_MS = limits.session_days * 86_400_000

/**
 * The tokens that were revoked before they expired, and the accounts that are disabled: kept in memory, so that no
 * request has to query for them.
 */
class Revocations {
  /** By token id: when the token has expired at the latest, in milliseconds since the process started. */
  private readonly tokens = new Map<string, number>()
  /** By user: the oldest valid generation of tokens, and the time at which all older ones have expired. */
  private readonly generations = new Map<string, { generation: number; until: number }>()
  private disabled: ReadonlySet<string> = new Set()

  includes({ jti, userId, generation }: Session): boolean {
    return this.tokens.has(jti) || generation < (this.generations.get(userId)?.generation ?? 0)
  }

  /** Whether the operator has disabled the account, as of the last refresh. */
  isDisabled(userId: string): boolean {
    return this.disabled.has(userId)
  }

  /** @param userIds all disabled accounts */
  setDisabled(userIds: string[]) {
    this.disabled = new Set(userIds)
  }

  addToken(jti: string) {
    this.take([{ jti, userId: null, generation: null }])
  }

  addOlderThan(userId: string, generation: number) {
    this.take([{ jti: null, userId, generation }])
  }

  /** Adds revocations that this instance or another one has made. */
  take(revoked: Revoked[]) {
    const until = performance.now() + LIFETIME_MS
    for (const { jti, userId, generation } of revoked) {
      if (jti !== null) this.tokens.set(jti, until)
      if (userId === null || generation === null) continue
      const known = this.generations.get(userId)?.generation ?? 0
      this.generations.set(userId, { generation: Math.max(generation, known), until })
    }
  }

  /** Drops revocations whose tokens have all expired. Measured without the clock, which may leap ahead and come back. */
  forgetExpired() {
    const now = performance.now()
    for (const [jti, until] of this.tokens) if (until < now) this.tokens.delete(jti)
    for (const [userId, { until }] of this.generations) if (until < now) this.generations.delete(userId)
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    sessions: Sessions
  }
}

interface Sessions {
  tokens: Tokens
  revocations: Revocations
  accessKeys: AccessKeys
  cookieNames: string[]
}

const SESSION_COOKIE = 'svc_token'

/**
 * The names of the session cookie for a browser whose dashboard is at `home`. If a browser sends several, the last one
 * wins. Hosts of the same site can set the first one for each other, but no host can set a `__Host-` cookie for another
 * one.
 */
export const sessionCookiesOf = (home: string): string[] =>
  home.startsWith('https:') ? [SESSION_COOKIE, `__Host-${SESSION_COOKIE}`] : [SESSION_COOKIE]

/** The options of cookies for a browser whose dashboard is at `home`. */
export const cookieOptionsOf = (home: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: home.startsWith('https:') }) as const
/** Sign-outs and disabled accounts take effect on all other instances within this time. */
const REFRESH_INTERVAL_MS = 2_000
const CLEANUP_INTERVAL_MS = 3_600_000

export default fp(
  async (app) => {
    const tokens = await Tokens.create(app, app.config.jwtSecrets)
    const revocations = new Revocations()
    const cookieNames = sessionCookiesOf(app.config.homeUrl)
    app.decorate('sessions', { tokens, revocations, cookieNames, accessKeys: new AccessKeys(app.database) })
    app.decorateRequest('session', null, [])
    app.decorateRequest('key', {
      getter() {
        const session: Session | KeyInUse | ApiError | null = this.session
        // Null for a request whose path can't be read.
        return session === null || session instanceof ApiError || 'jti' in session ? null : session
      },
    })
    app.decorateRequest('caller', {
      getter() {
        const { session } = this
        if (session instanceof ApiError) throw session
        if (session.userId === null) throw new Error('A workspace key has no person')
        return { userId: session.userId }
      },
    })
    app.decorateRequest('memberId', {
      getter() {
        return this.key?.createdBy ?? this.caller.userId
      },
    })

    let since: string | undefined
    const refresh = async (db: Db) => {
      const found = await readRevocations(db, since)
      // Read last, so that sessions of an account that's being disabled aren't reported as merely revoked.
      const disabled = await listDisabledUsers(db)
      revocations.take(found.revocations)
      revocations.setDisabled(disabled)
      since = found.asOf
    }
    // Startup allows more time than a refresh.
    await refresh(app.database.read)
    const refreshLater = measuredTask(app.meter, 'revocations', () => refresh(app.database.reserved))
    repeat(app, REFRESH_INTERVAL_MS, refreshLater, 'the refresh of revocations')
    repeat(
      app,
      CLEANUP_INTERVAL_MS,
      async () => revocations.forgetExpired(),
      'the deletion of expired revocations',
    )
  },
  { name: 'session', dependencies: ['admit'] },
)

/** Finds the caller by the token in the header or the cookie. @throws {ApiError} `rate_limited` for too many unknown keys */
export const findCaller = async (request: FastifyRequest): Promise<void> => {
  const { headers, routeOptions, server } = request
  const { access } = routeOptions.config
  const { authorization } = headers
  const isFromHeader = access?.tokenOf !== undefined || authorization !== undefined
  const token = access?.tokenOf
    ? access.tokenOf(request)
    : authorization === undefined
      ? cookieOf(request)
      : bearerOf(authorization)
  request.session = token === undefined ? new ApiError('unauthenticated') : sessionOf(token, server.sessions)
  // A key is never accepted as a cookie.
  if (token !== undefined && isFromHeader && isKeySecret(token) && access?.credential === 'session')
    request.session = await keyOf(request, token)
}

/** The cookie's token. Empty if there are several, because the browser doesn't say which host set which. */
const cookieOf = ({ headers, server }: FastifyRequest): string | undefined => {
  if (headers.cookie === undefined) return undefined
  const cookies = fastifyCookie.parse(headers.cookie)
  const name = server.sessions.cookieNames.findLast((name) => cookies[name] !== undefined)
  if (name === undefined) return undefined
  const values = new Set(headers.cookie.split(';').map((pair) => fastifyCookie.parse(pair)[name]))
  values.delete(undefined)
  return values.size === 1 ? cookies[name] : ''
}

const sessionOf = (token: string, { tokens, revocations }: Sessions): Session | ApiError => {
  const session = tokens.read(token)
  if (session instanceof ApiError) return session
  // A disabled account's sessions are revoked as well, but this gives the reason.
  if (revocations.isDisabled(session.userId)) return new ApiError('account_disabled')
  return revocations.includes(session) ? new ApiError('token_revoked') : session
}

const keyOf = async (request: FastifyRequest, secret: string): Promise<KeyInUse | ApiError> => {
  const { accessKeys, revocations } = request.server.sessions
  const key = await accessKeys.find(request, secret)
  const isDisabled = !(key instanceof ApiError) && revocations.isDisabled(key.createdBy)
  return isDisabled ? new ApiError('account_disabled') : key
}
