/** GitHub and GitHub Enterprise Server: docs.github.com/en/rest (users, repos) and docs.github.com/en/webhooks. */
import type { HostKind } from './kind.js'
import { accessOf, headerOf, objectOf, pathOf, prefixedHmacOf, readGithubReport, userOf } from './reading.js'

export const github: HostKind = {
  name: 'GitHub',
  defaultUrl: 'https://github.com',
  defaultApiUrl: 'https://api.github.com',
  tokenPage: '/settings/tokens/new?description=Team%20activity',
  oauth: {
    authorizePath: '/login/oauth/authorize',
    tokenPath: '/login/oauth/access_token',
    scope: 'read:user',
  },

  appOfToken: 'with the user',
  apiHeaders: (token) => ({
    Authorization: `Bearer ${token}`,
    Accept: 'application/vnd.github+json',
    'X-GitHub-Api-Version': '2022-11-28',
  }),
  userPath: '/user',
  readUser: (answer) => userOf(answer, 'login', [401], answer.headers.get('x-oauth-client-id') || undefined),
  repoPath: (name) => `/repos/${pathOf(name)}`,
  // Renamed, forbidden, missing, taken down.
  readRepo: (answer, name) => accessOf(answer, name, 'full_name', [301, 403, 404, 451]),

  probePath: '/meta',
  recognises: ({ json, headers }) =>
    headers.has('x-github-request-id') || 'verifiable_password_authentication' in objectOf(json),

  readProof: (headers) => prefixedHmacOf(headerOf(headers, 'x-hub-signature-256')),
  readEvent: (headers) => headerOf(headers, 'x-github-event'),
  readDeliveryId: (headers) => headerOf(headers, 'x-github-delivery'),
  readReport: readGithubReport,
}
