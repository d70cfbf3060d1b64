/** OAuth 2.0 at the repository host, with PKCE, if a client id and secret are configured. */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { secondsSince } from '../../platform/metrics/meter.js'
import type { LabelsOf } from '../../platform/metrics/metrics.js'
import { newState, newVerifier } from './sign-in-cookies.js'

export interface RepohostOAuth {
  /** The address of the host's consent page, and what the callback needs. */
  begin(): { location: string; state: string; verifier: string }
  /**
   * Exchanges the returned code for a host token.
   * @throws {ApiError} `upstream_failed`, `upstream_timeout`
   */
  finish(code: string, verifier: string): Promise<string>
}

/** The part of `simple-oauth2` that the plugin passes on, and doesn't declare. */
interface OAuthClient {
  authorizeURL(params: Record<string, string>): string
  getToken(params: Record<string, string>): Promise<{ token: { access_token?: unknown } }>
}

/** Register it in a scope with cookies, which the library needs. Undefined without a client id and secret. */
export const connectOAuth = async (app: FastifyInstance): Promise<RepohostOAuth | undefined> => {
  const { repohost, homeUrl: origin } = app.config
  if (!repohost.clientId || !repohost.clientSecret) return undefined
  const { oauth: ofKind } = hostKinds[repohost.kind]
  const scope = [...new Set([ofKind.scope, ...repohost.scopes])].join(' ')
  // Not derived from the Host header, which the caller chooses.
  const callbackUri = `${origin}/api/auth/callback`
  const path = new URL(repohost.url).pathname.replace(/\/$/, '')
  // Loaded only if configured, because it takes longer to load than Fastify.
  await app.register(import('@fastify/oauth2'), {
    name: 'oauth2',
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
    },
    callbackUri,
  })
  // The plugin keeps one sign-in per browser in its cookies, so state and PKCE are made here.
  const { oauth2: client } = (app as unknown as { oauth2: { oauth2: OAuthClient } }).oauth2
  return {
    begin: () => {
      const state = newState()
      const verifier = newVerifier()
      const location = client.authorizeURL({
        redirect_uri: callbackUri,
        scope,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })
      return { location, state, verifier }
    },
    finish: async (code, verifier) => {
      const since = performance.now()
      const end = (outcome: LabelsOf<'team_settings_upstream_duration_seconds'>['outcome']) =>
        app.meter.observe(
          'team_settings_upstream_duration_seconds',
          { upstream: 'repohost', outcome },
          secondsSince(since),
        )
      const { token } = await client
        .getToken({ code, redirect_uri: callbackUri, code_verifier: verifier })
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
}

/** The library's HTTP client reports a timeout as 408 or 504. */
const failureOf = (cause: Error & { output?: { statusCode?: number } }): ApiError => {
  const timedOut = [408, 504].includes(cause.output?.statusCode ?? 0)
  return new ApiError(timedOut ? 'upstream_timeout' : 'upstream_failed', { upstream: 'repohost', cause })
}
