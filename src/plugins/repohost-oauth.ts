/** OAuth 2.0 at the repository host, with PKCE; absent unless a client id and secret are configured. */
import type { OAuth2Namespace } from '@fastify/oauth2'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    repohostOAuth: OAuth2Namespace | undefined
  }
}

export const STATE_COOKIE = 'oauth2-redirect-state'

export default fp(
  async (app) => {
    const { repohost, homeUrl: origin } = app.config
    if (!repohost.clientId || !repohost.clientSecret) {
      app.decorate('repohostOAuth', undefined)
      return
    }
    // Loaded only where it is used: its dependencies take longer to load than Fastify.
    await app.register(import('@fastify/oauth2'), {
      name: 'repohostOAuth',
      scope: ['read:user'],
      pkce: 'S256',
      credentials: {
        client: { id: repohost.clientId, secret: repohost.clientSecret },
        auth: {
          authorizeHost: repohost.url,
          authorizePath: `${new URL(repohost.url).pathname.replace(/\/$/, '')}/login/oauth/authorize`,
          tokenHost: repohost.url,
          tokenPath: `${new URL(repohost.url).pathname.replace(/\/$/, '')}/login/oauth/access_token`,
        },
        options: { authorizationMethod: 'body' },
        // Passed on to the HTTP client: a bounded wait and answer, and no redirects.
        http: { timeout: 5_000, maxBytes: 65_536, redirects: false, json: 'force' },
      } as never,
      // Never from the Host header, which the caller chooses.
      callbackUri: `${origin}/api/auth/callback`,
      cookie: {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: origin.startsWith('https:'),
        maxAge: 600,
      },
    })
  },
  { name: 'repohost-oauth', dependencies: ['@fastify/cookie'] },
)
