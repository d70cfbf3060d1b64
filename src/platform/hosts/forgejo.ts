/** Forgejo, and Gitea, from which it comes: forgejo.org/docs/latest/user/{api-usage,oauth2-provider,webhooks}. */
import type { HostKind } from './kind.js'
import {
  accessOf,
  headerOf,
  hmacOf,
  isRateLimited,
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

  apiHeaders: (token) => ({ Authorization: `Bearer ${token}`, Accept: 'application/json' }),
  userPath: '/user',
  readUser: (answer) => {
    if (isRateLimited(answer)) return 'rate-limited'
    // 403: the token lacks the scope `read:user`.
    if ([401, 403].includes(answer.status)) return 'token-invalid'
    const user = answer.status === 200 ? userOf(answer.json, 'login') : undefined
    return user ? { ...user, clientId: undefined } : 'failed'
  },
  repoPath: (name) => `/repos/${pathOf(name)}`,
  readRepo: (answer, name) => {
    const { status, json } = answer
    if (status === 401) return 'token-invalid'
    if (isRateLimited(answer)) return 'rate-limited'
    // A renamed repository redirects.
    if ([301, 302, 307, 308, 403, 404].includes(status)) return 'denied'
    return status === 200 ? accessOf(objectOf(json).full_name, name) : 'failed'
  },

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
