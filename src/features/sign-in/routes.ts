import { createHash } from 'node:crypto'
import cookie from '@fastify/cookie'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CallbackQuery, LoginQuery, LogoutBody, VerifyBody, VerifyResult } from '../../../schemas/auth.js'
import { Ok, ref } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { anonymous, anyone } from '../../platform/access/access.js'
import { isFromTrustedOrigin } from '../../platform/access/caller.js'
import { beginCall } from '../../platform/hosts/repohost.js'
import { namesType } from '../../platform/http/content.js'
import { isAliasOf } from '../../platform/http/dashboard-page.js'
import { translate } from '../../platform/http/error-translation.js'
import {
  bearerOf,
  cookieOptionsOf,
  isKeySecret,
  revokeAllTokens,
  revokeToken,
  sessionCookiesOf,
} from '../sessions/index.js'
import { consumeOauthState, insertOauthState } from './queries.js'
import { connectOAuth } from './repohost-oauth.js'
import { signIn } from './sign-in.js'
import { SignInCookies } from './sign-in-cookies.js'

const PROBLEM_JSON = 'application/problem+json'

const hostFailure = (cause: Error) => new ApiError('upstream_failed', { upstream: 'repohost', cause })

const hashOf = (state: string) => createHash('sha256').update(state).digest('hex')

export const authRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, clients } = app
  const { revocations, accessKeys } = app.sessions
  await app.register(cookie)
  const oauth = await connectOAuth(app)
  const home = config.homeUrl
  const signInCookies = new SignInCookies(home)
  const cookieOptions = cookieOptionsOf(home)

  const sessionCookies = sessionCookiesOf(home)

  const setSessionCookies = (reply: FastifyReply, token: string) => {
    const options = { ...cookieOptions, maxAge: limits.session_days * 86_400 }
    for (const name of sessionCookies) reply.setCookie(name, token, options)
  }

  /**
   * Redirects to a page of the dashboard. `URL` encodes non-ASCII characters, which aren't allowed in a header. The
   * status is set too, because an error handler may start with the error's status.
   */
  const redirectHome = (reply: FastifyReply, path: string) => reply.redirect(new URL(path, home).href, 302)

  /** Counts how a sign-in ends. Undefined: the user declined. */
  const countOutcome = async <T>(way: 'token' | 'browser', work: () => Promise<T>): Promise<T> => {
    const end = (outcome: 'issued' | 'refused' | 'failed') =>
      app.meter.count('team_settings_sign_ins_total', { way, outcome })
    try {
      const session = await work()
      end(session === undefined ? 'refused' : 'issued')
      return session
    } catch (error) {
      end(error instanceof ApiError && error.status < 500 ? 'refused' : 'failed')
      throw error
    }
  }

  app.route({
    method: 'POST',
    url: '/verify',
    config: {
      access: anonymous,
      core: true,
      limit: 'sign_in',
      errors: [
        'repohost_token_invalid',
        'account_disabled',
        'csrf_rejected',
        'upstream_failed',
        'upstream_timeout',
      ],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'verifyRepohostToken',
      tags: ['auth'],
      summary: 'Exchange a repository-host token for a session token',
      description:
        'The service sends the token once to the repository host, to identify the caller, and doesn’t store it.',
      body: VerifyBody,
      response: { 200: ref(VerifyResult) },
    },
    handler: async (request, reply) => {
      const { repohost_token, cookie } = request.body
      if (cookie && !isFromTrustedOrigin(request)) throw new ApiError('csrf_rejected')
      const session = await countOutcome('token', () => {
        const call = beginCall(clients.repohost, repohost_token, request.trace)
        return signIn(app, { call, allowedClientIds: config.repohost.allowedClientIds })
      })
      if (cookie) setSessionCookies(reply, session.token)
      return session
    },
  })

  app.route({
    method: 'GET',
    url: '/repohost',
    config: { access: anyone, limit: 'sign_in', errors: ['oauth_not_configured'], headers: ['Set-Cookie'] },
    schema: {
      operationId: 'startLogin',
      tags: ['auth'],
      summary: 'Start the browser sign-in',
      description:
        "Redirects to the repository host's consent page (scope `read:user`, PKCE) and sets a state cookie for ten minutes. A sign-in that starts under another name of this machine, such as `localhost` for `127.0.0.1`, is first redirected to the name that the host will return to.",
      querystring: LoginQuery,
      response: { 302: Type.Null({ description: 'Redirects to the repository host.' }) },
    },
    handler: async (request, reply) => {
      if (!oauth) throw new ApiError('oauth_not_configured')
      const { return_to = '/' } = request.query
      if (isAliasOf(home, request.host)) {
        return redirectHome(reply, `/api/auth/repohost?return_to=${encodeURIComponent(return_to)}`)
      }
      const { location, state, verifier } = oauth.begin()
      await insertOauthState(database.write, hashOf(state), return_to)
      signInCookies.add(request, reply, { state, verifier })
      return reply.redirect(location)
    },
  })

  app.route({
    method: 'GET',
    url: '/callback',
    config: {
      access: anyone,
      limit: 'sign_in',
      errors: [
        'oauth_state_invalid',
        'account_disabled',
        'oauth_not_configured',
        'upstream_failed',
        'upstream_timeout',
      ],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'finishLogin',
      tags: ['auth'],
      summary: 'Complete the browser sign-in',
      description:
        'The repository host sends the browser here. Sets the HttpOnly cookie `svc_token` (over https, also `__Host-svc_token`), and redirects to the dashboard. If the user declined, the dashboard gets `?auth_error=access_denied`. If the host failed, it gets `?auth_error=upstream_failed`, unless `Accept` names JSON. If `Accept` names `text/html`, every other failure except `unavailable` also redirects to the dashboard, with its code in `auth_error`.',
      querystring: CallbackQuery,
      response: { 302: Type.Null({ description: 'Redirects to the dashboard.' }) },
    },
    handler: async (request, reply) => {
      if (!oauth) throw new ApiError('oauth_not_configured')
      const { error, code } = request.query
      const finished = await countOutcome('browser', async () => {
        const { returnTo, verifier } = await finishState(request, reply)
        if (error === 'access_denied') return undefined
        if (error !== undefined || code === undefined) throw hostFailure(new Error('The host sent no code'))
        const token = await oauth.finish(code, verifier)
        const call = beginCall(clients.repohost, token, request.trace)
        // The allow-list is about other apps; this token was made for our own.
        const session = await signIn(app, { call, allowedClientIds: undefined }).catch((cause) => {
          throw cause.code === 'repohost_token_invalid' ? hostFailure(cause) : cause
        })
        return { returnTo, ...session }
      })
      if (!finished) return redirectHome(reply, '/?auth_error=access_denied')
      setSessionCookies(reply, finished.token)
      return redirectHome(reply, finished.returnTo)
    },
    /** Sends people in a browser to the dashboard instead of showing a problem document. */
    errorHandler: (error, request, reply) => {
      const failure = translate(error, request)
      request.failure = failure
      const { accept } = request.headers
      const hostFailed = failure.extras.upstream !== undefined
      const asksForJson = namesType(accept, 'application/json') || namesType(accept, PROBLEM_JSON)
      // The user can only try again, which is all the dashboard could offer too.
      if (failure.code === 'unavailable') throw error
      if (!namesType(accept, 'text/html') && (!hostFailed || asksForJson)) throw error
      if (failure.status >= 500 && failure.code !== 'oauth_not_configured')
        request.log.warn({ err: failure }, 'the sign-in failed')
      return redirectHome(reply, `/?auth_error=${hostFailed ? 'upstream_failed' : failure.code}`)
    },
  })

  /** Makes sure that the same browser returns, and only once. */
  const finishState = async (request: FastifyRequest, reply: FastifyReply) => {
    const { state = '' } = request.query as { state?: string }
    const verifier = signInCookies.verifierOf(request, state)
    const returnTo = verifier && (await consumeOauthState(database.write, hashOf(state)))
    if (!verifier || returnTo === undefined) throw new ApiError('oauth_state_invalid')
    signInCookies.remove(reply, state)
    return { returnTo, verifier }
  }

  app.route({
    method: 'POST',
    url: '/logout',
    config: {
      access: { ...anyone, takesUnknownOrigin: true },
      core: true,
      errors: [
        'unauthenticated',
        'token_invalid',
        'token_expired',
        'token_revoked',
        'account_disabled',
        'csrf_rejected',
        'scope_missing',
      ],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'logout',
      tags: ['auth'],
      summary: 'Sign out',
      description:
        'Clears the session cookies and revokes the token of the request, if it has a valid one. Unlike other writes with the cookie, it needs neither `Origin` nor `Sec-Fetch-Site`, but rejects those of other sites. With `everywhere`, which requires a valid token, revokes all of the caller’s earlier tokens. Access keys stay: revoke them with `DELETE /api/me/keys/{key}`.',
      security: [{ bearer: [] }, { cookie: [] }, {}],
      body: LogoutBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request, reply) => {
      const { authorization } = request.headers
      const token = authorization === undefined ? '' : bearerOf(authorization)
      if (isKeySecret(token)) {
        const key = await accessKeys.find(request, token)
        if (!(key instanceof ApiError)) throw new ApiError('scope_missing', { scope: null })
      }
      if (request.body.everywhere) {
        const { userId } = request.caller
        const generation = await revokeAllTokens(database.write, userId)
        if (generation === undefined) throw new ApiError('token_invalid')
        revocations.addOlderThan(userId, generation)
        app.meter.count('team_settings_sessions_revoked_total', { scope: 'all_of_user' })
      } else if (!(request.session instanceof ApiError) && 'jti' in request.session) {
        const { jti, expiresAt } = request.session
        await revokeToken(database.write, jti, expiresAt)
        revocations.addToken(jti)
        app.meter.count('team_settings_sessions_revoked_total', { scope: 'one' })
      }
      for (const name of sessionCookies) reply.clearCookie(name, cookieOptions)
      signInCookies.removeAll(request, reply)
      return { ok: true } as const
    },
  })
}
