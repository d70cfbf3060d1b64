/** OAuth 2.0 at the repository host, with PKCE, if a client id and secret are configured. */
import type { OAuth2Namespace } from '@fastify/oauth2'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { secondsSince } from '../../platform/metrics/meter.js'
import type { LabelsOf } from '../../platform/metrics/metrics.js'
import { cookieOptionsOf } from './session.js'

declare module 'fastify' {
  interface FastifyInstance {
    repohostOAuth: RepohostOAuth | undefined
  }
}

export interface RepohostOAuth {
  /** Sets a login's cookies. @returns the address of the host's consent page, and the login's state */
  begin(request: FastifyRequest, reply: FastifyReply): Promise<{ location: string; state: string }>
  /**
   * Exchanges the returned code for a host token.
   * @throws {ApiError} `upstream_failed`, `upstream_timeout`
   */
  finish(request: FastifyRequest, reply: FastifyReply): Promise<string>
}

/** The cookies for a login in progress. The prefix keeps other hosts and plain HTTP from setting them. */
export const oauthCookiesOf = (origin: string) => {
  const prefix = origin.startsWith('https:') ? '__Host-' : ''
  return { state: `${prefix}oauth2-redirect-state`, verifier: `${prefix}oauth2-code-verifier` }
}

export default fp(
  async (app) => {
    const { repohost, homeUrl: origin } = app.config
    if (!repohost.clientId || !repohost.clientSecret) {
      app.decorate('repohostOAuth', undefined)
      return
    }
    const cookies = oauthCookiesOf(origin)
    const { oauth: ofKind } = hostKinds[repohost.kind]
    const path = new URL(repohost.url).pathname.replace(/\/$/, '')
    // Loaded only if configured, because it takes longer to load than Fastify.
    await app.register(import('@fastify/oauth2'), {
      name: 'oauth2',
      scope: [...new Set([ofKind.scope, ...repohost.scopes])],
      pkce: 'S256',
      credentials: {
        client: { id: repohost.clientId, secret: repohost.clientSecret },
        auth: {
          authorizeHost: repohost.url,
          authorizePath: `${path}${ofKind.authorizePath}`,
          tokenHost: repohost.url,
          tokenPath: `${path}${ofKind.tokenPath}`,
        },
        options: { authorizationMethod: 'body' },
        // HTTP client options: bounded time and size, no redirects.
        http: { timeout: 5_000, maxBytes: 65_536, redirects: false, json: 'force' },
      } as never,
      redirectStateCookieName: cookies.state,
      verifierCookieName: cookies.verifier,
      // Not derived from the Host header, which the caller chooses.
      callbackUri: `${origin}/api/auth/callback`,
      cookie: { ...cookieOptionsOf(origin), maxAge: 600 },
    })
    const { oauth2 } = app as unknown as { oauth2: OAuth2Namespace }
    const oauth: RepohostOAuth = {
      begin: async (request, reply) => {
        const location = await oauth2.generateAuthorizationUri(request, reply)
        return { location, state: new URL(location).searchParams.get('state') ?? '' }
      },
      finish: async (request, reply) => {
        const since = performance.now()
        const end = (outcome: LabelsOf<'team_settings_upstream_duration_seconds'>['outcome']) =>
          app.meter.observe(
            'team_settings_upstream_duration_seconds',
            { upstream: 'repohost', outcome },
            secondsSince(since),
          )
        const { token } = await oauth2
          .getAccessTokenFromAuthorizationCodeFlow(request, reply)
          .catch((cause) => {
            const failure = failureOf(cause)
            end(failure.code === 'upstream_timeout' ? 'timeout' : 'failed')
            throw failure
          })
        const isGiven = typeof token.access_token === 'string'
        end(isGiven ? 'answered' : 'refused')
        // Hosts respond to a wrong code with status 200.
        if (!isGiven) throw failureOf(new Error('The host gave no token'))
        return token.access_token as string
      },
    }
    app.decorate('repohostOAuth', oauth)
  },
  { name: 'repohost-oauth', dependencies: ['@fastify/cookie'] },
)

/** The library's HTTP client reports a timeout as 408 or 504. */
const failureOf = (cause: Error & { output?: { statusCode?: number } }): ApiError => {
  const timedOut = [408, 504].includes(cause.output?.statusCode ?? 0)
  return new ApiError(timedOut ? 'upstream_timeout' : 'upstream_failed', { upstream: 'repohost', cause })
}
