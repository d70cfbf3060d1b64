import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CallbackQuery, LoginQuery, LogoutBody, VerifyBody, VerifyResult } from '../../schemas/auth.js'
import { Ok, ref } from '../../schemas/common.js'
import { limits } from '../../schemas/limits.js'
import { ApiError } from '../errors.js'
import { signIn } from '../operations/sign-in.js'
import { STATE_COOKIE } from '../plugins/repohost-oauth.js'
import { callerOf, SESSION_COOKIE } from '../plugins/session.js'
import { anyone } from '../policies/access.js'
import { insertOauthState, revokeAllTokens, revokeToken, takeOauthState } from '../queries/sessions.js'

const hashOf = (state: string) => createHash('sha256').update(state).digest('hex')

export const authRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database, db, sessions, milestones, clients } = app
  const home = config.homeUrl
  const cookieOptions = {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: home.startsWith('https:'),
  } as const

  app.route({
    method: 'POST',
    url: '/verify',
    config: {
      access: anyone,
      core: true,
      limit: 'verify',
      errors: ['repohost_token_invalid', 'csrf_rejected', 'upstream_failed', 'upstream_timeout'],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'verifyRepohostToken',
      tags: ['auth'],
      summary: 'Exchange a repository-host token for a session token',
      description: 'The token is shown to the repository host once, to learn whose it is, and is not stored.',
      body: VerifyBody,
      response: { 200: ref(VerifyResult) },
    },
    handler: async ({ body }) => {
      const user = await clients.repohost.userOf(body.repohost_token)
      return signIn({ database, sessions, milestones }, user, config.repohost.allowedClientIds)
    },
  })

  app.route({
    method: 'GET',
    url: '/repohost',
    config: { access: anyone, errors: ['oauth_not_configured'], headers: ['Set-Cookie'] },
    schema: {
      operationId: 'startLogin',
      tags: ['auth'],
      summary: 'Sign in with the browser',
      description:
        "Redirects to the repository host's consent page (scope `read:user`, PKCE) and sets a state cookie for ten minutes.",
      querystring: LoginQuery,
      response: { 302: Type.Null({ description: 'To the repository host.' }) },
    },
    handler: async (request, reply) => {
      if (!app.repohostOAuth) throw new ApiError('oauth_not_configured')
      const location = await app.repohostOAuth.generateAuthorizationUri(request, reply)
      const state = new URL(location).searchParams.get('state') ?? ''
      await insertOauthState(db, hashOf(state), request.query.return_to ?? '/')
      return reply.redirect(location)
    },
  })

  app.route({
    method: 'GET',
    url: '/callback',
    config: {
      access: anyone,
      errors: ['oauth_state_invalid', 'oauth_not_configured'],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'finishLogin',
      tags: ['auth'],
      summary: 'Where the repository host sends the browser back to',
      description:
        'Sets the HttpOnly cookie `svc_token` and redirects to the dashboard; with `?auth_error=access_denied` when the user said no, with `?auth_error=upstream_failed` when the host failed.',
      querystring: CallbackQuery,
      response: { 302: Type.Null({ description: 'To the dashboard.' }) },
    },
    handler: async (request, reply) => {
      if (!app.repohostOAuth) throw new ApiError('oauth_not_configured')
      const returnTo = await finishState(request)
      // As a URL, because a header takes no other letters than ASCII.
      const leave = (path: string) => reply.redirect(new URL(path, home).href)
      if (request.query.error !== undefined || request.query.code === undefined) {
        clearOAuthCookies(reply)
        return leave(
          request.query.error === 'access_denied'
            ? '/?auth_error=access_denied'
            : '/?auth_error=upstream_failed',
        )
      }
      try {
        const { token } = await app.repohostOAuth.getAccessTokenFromAuthorizationCodeFlow(request, reply)
        const user = await clients.repohost.userOf(token.access_token)
        // The login was made for this service's own app, so no allow-list applies.
        const session = await signIn({ database, sessions, milestones }, user, undefined)
        reply.setCookie(SESSION_COOKIE, session.token, {
          ...cookieOptions,
          maxAge: limits.session_days * 86_400,
        })
        return leave(returnTo)
      } catch (error) {
        if (error instanceof ApiError && error.code === 'unavailable') throw error
        request.log.warn(
          { err: { message: (error as Error).message } },
          'the login at the repository host failed',
        )
        return leave('/?auth_error=upstream_failed')
      }
    },
  })

  /** The browser that comes back must be the one that left, and only once. */
  const finishState = async (request: FastifyRequest): Promise<string> => {
    const { state } = request.query as { state?: string }
    const cookie = request.cookies[STATE_COOKIE]
    const returnTo = state && cookie === state ? await takeOauthState(db, hashOf(state)) : undefined
    if (returnTo === undefined) throw new ApiError('oauth_state_invalid')
    return returnTo
  }

  const clearOAuthCookies = (reply: FastifyReply) => {
    for (const name of [STATE_COOKIE, 'oauth2-code-verifier']) reply.clearCookie(name, cookieOptions)
  }

  app.route({
    method: 'POST',
    url: '/logout',
    config: {
      access: anyone,
      core: true,
      errors: ['unauthenticated', 'token_invalid', 'token_expired', 'token_revoked', 'csrf_rejected'],
      headers: ['Set-Cookie'],
    },
    schema: {
      operationId: 'logout',
      tags: ['auth'],
      summary: 'Sign out',
      description:
        'Clears the session cookies and revokes the token that the call was sent with, if it came with a valid one. With `everywhere`, which needs a valid one, every token of the caller issued before is dead.',
      security: [{ bearer: [] }, { cookie: [] }, {}],
      body: LogoutBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request, reply) => {
      if (request.body.everywhere) {
        const { userId } = callerOf(request)
        sessions.revokeOlderThan(userId, await revokeAllTokens(db, userId))
      } else if (!(request.session instanceof ApiError)) {
        const { jti, expiresAt } = request.session
        await revokeToken(db, jti, expiresAt)
        sessions.revokeToken(jti)
      }
      reply.clearCookie(SESSION_COOKIE, cookieOptions)
      clearOAuthCookies(reply)
      return { ok: true } as const
    },
  })
}
