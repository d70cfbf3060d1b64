/** Who is calling: the session of the token that a request carries, in the header or in the cookie. */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import { asTask } from '../../platform/metrics/task.js'
import { repeat } from '../../platform/process/repeat.js'
import { readRevocations } from './queries/sessions.js'
import { Revocations } from './revocations.js'
import { type Session, Tokens } from './tokens.js'

declare module 'fastify' {
  interface FastifyInstance {
    tokens: Tokens
    revocations: Revocations
  }
  interface FastifyRequest {
    /** The session, or why there is none. */
    session: Session | ApiError
    /** The session of a route that needs one. Elsewhere it throws why there is none. */
    readonly caller: Session
    /** Whether the token came in the cookie, which a browser sends without being asked. */
    sessionFromCookie: boolean
  }
}

const SESSION_COOKIE = 'svc_token'

/**
 * The names of the session cookie of a browser that belongs at `home`; the last one that is there decides. Hosts of the
 * same site can set the first one for each other, but no host can set a `__Host-` cookie for another one.
 */
export const sessionCookiesOf = (home: string): string[] =>
  home.startsWith('https:') ? [SESSION_COOKIE, `__Host-${SESSION_COOKIE}`] : [SESSION_COOKIE]

/** Of the cookies of a browser that belongs at `home`. */
export const cookieOptionsOf = (home: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: home.startsWith('https:') }) as const
/** A logout on one instance holds on all others after this time. */
const REFRESH_MS = 2_000
const FORGET_MS = 3_600_000

export default fp(
  async (app) => {
    const tokens = await Tokens.create(app, app.config.jwtSecrets)
    const revocations = new Revocations()
    app.decorate('tokens', tokens)
    app.decorate('revocations', revocations)
    app.decorateRequest('session', null as never)
    app.decorateRequest('sessionFromCookie', false)
    app.decorateRequest('caller', {
      getter() {
        if (this.session instanceof ApiError) throw this.session
        return this.session
      },
    })

    const sessionOf = (token: string): Session | ApiError => {
      const session = tokens.read(token)
      if (session instanceof ApiError) return session
      return revocations.includes(session) ? new ApiError('token_revoked') : session
    }

    const names = sessionCookiesOf(app.config.homeUrl)
    /** The token of the cookie. Empty where the browser has several, because it does not say who has set which. */
    const cookieOf = ({ cookies, headers }: FastifyRequest): string | undefined => {
      const name = names.findLast((name) => cookies[name] !== undefined)
      if (name === undefined) return undefined
      const values = new Set(headers.cookie?.split(';').map((pair) => app.parseCookie(pair)[name]))
      values.delete(undefined)
      return values.size === 1 ? cookies[name] : ''
    }

    app.addHook('onRequest', (request, _reply, done) => {
      const { authorization } = request.headers
      // Node has removed trailing blanks; a pattern that also did so would need cubic time.
      const bearer = authorization?.match(/^Bearer +(\S*)$/i)?.[1]
      const cookie = cookieOf(request)
      request.sessionFromCookie = authorization === undefined && cookie !== undefined
      const token = authorization === undefined ? cookie : (bearer ?? '')
      request.session = token === undefined ? new ApiError('unauthenticated') : sessionOf(token)
      done()
    })

    let since: string | undefined
    const refresh = async () => {
      const found = await readRevocations(app.database.reserved, since)
      revocations.take(found.revocations)
      since = found.asOf
    }
    await refresh()
    repeat(app, REFRESH_MS, asTask(app.meter, 'revocations', refresh), 'the refresh of revocations')
    repeat(app, FORGET_MS, async () => revocations.forgetExpired(), 'the forgetting of revocations')
  },
  { name: 'session', dependencies: ['@fastify/cookie'] },
)
