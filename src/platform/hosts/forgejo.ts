/** Forgejo, and Gitea, from which it comes: forgejo.org/docs/latest/user/{api-usage,oauth2-provider,webhooks}. */
import type { HostKind } from './kind.js'
import {
  accessOf,
  headerOf,
  hmacOf,
  objectOf,
  pathOf,
  prefixedHmacOf,
  readGithubReport,
  userOf,
} from './reading.js'

export const forgejo: HostKind = {
  name: 'Forgejo',
  defaultUrl: undefined,
  defaultApiUrl: undefined,
  tokenPage: '/user/settings/applications',
  oauth: {
    authorizePath: '/login/oauth/authorize',
    tokenPath: '/login/oauth/access_token',
    scope: 'read:user',
  },

  appOfToken: undefined,
  apiHeaders: (token) => ({ Authorization: `Bearer ${token}`, Accept: 'application/json' }),
  userPath: '/user',
  // 403: the token lacks the scope `read:user`.
  readUser: (answer) => userOf(answer, 'login', [401, 403]),
  repoPath: (name) => `/repos/${pathOf(name)}`,
  // A renamed repository redirects.
  readRepo: (answer, name) => accessOf(answer, name, 'full_name', [301, 302, 307, 308, 403, 404]),

  probePath: '/version',
  recognises: ({ status, json }) => status === 200 && typeof objectOf(json).version === 'string',

  readProof: (headers) =>
    hmacOf(headerOf(headers, 'x-forgejo-signature', 'x-gitea-signature')) ??
    prefixedHmacOf(headerOf(headers, 'x-hub-signature-256')),
  readEvent: (headers) => headerOf(headers, 'x-forgejo-event', 'x-gitea-event', 'x-github-event'),
  readDeliveryId: (headers) =>
    headerOf(headers, 'x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery'),
  readReport: readGithubReport,
}
