/** Forgejo, and Gitea, which it was forked from: forgejo.org/docs/latest/user/{api-usage,oauth2-provider,webhooks}. */
import type { HostKind } from './kind.js'
import {
  accessOf,
  headerOf,
  hmacOf,
  listOrganizations,
  objectOf,
  organizationOf,
  pathOf,
  prefixedHmacOf,
  REDIRECTS,
  readGithubReport,
  refusalOf,
  sameName,
  textOf,
  userOf,
} from './reading.js'

export const forgejo: HostKind = {
  name: 'Forgejo',
  defaultUrl: undefined,
  // Also below a path.
  apiUrlOf: (url) => `${url}/api/v1`,
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
  readUser: (response) => userOf(response, 'login', [401, 403]),
  addresses: undefined,
  repoPath: (name) => `/repos/${pathOf(name)}`,
  // A renamed repository redirects. Redirects that lead elsewhere end here.
  readRepo: (response, name) => accessOf(response, name, 'full_name', [...REDIRECTS, 403, 404]),

  organizations: {
    scope: 'read:organization',
    list: (ask) =>
      listOrganizations(ask, {
        pathOf: (page) => `/user/orgs?limit=50&page=${page}`,
        size: 50,
        read: ({ id, name, username }) => ({ id, name: name ?? username }),
        lacksScope: ({ json }) => textOf(objectOf(json).message)?.includes('required scope') === true,
      }),
    // A token without the scope gets 403, and a renamed organization redirects.
    membership: async (ask, { login }, { id, name }) => {
      const path = `/orgs/${encodeURIComponent(name)}`
      const { status } = await ask(`${path}/members/${encodeURIComponent(login)}`)
      if (status !== 204 && status !== 404) return 'unknown'
      const known = await ask(path)
      const isSame = known.status === 200 && objectOf(known.json).id === id
      if (status === 204) return isSame ? 'member' : 'unknown'
      // People who have left get 404 for a private organization.
      return isSame || known.status === 404 ? 'not-a-member' : 'unknown'
    },
    owns: async (ask, { login }, { id, name }) => {
      const path = `/orgs/${encodeURIComponent(name)}`
      const rights = await ask(`/users/${encodeURIComponent(login)}${path}/permissions`)
      const { is_owner, is_admin } = objectOf(rights.json)
      if (rights.status !== 200 || typeof is_owner !== 'boolean') return undefined
      const known = await ask(path)
      const isSame = known.status === 200 && objectOf(known.json).id === id
      return isSame ? is_owner || is_admin === true : undefined
    },
    administered: async (ask, { login }, name) => {
      const path = `/orgs/${encodeURIComponent(name)}`
      const rights = await ask(`/users/${encodeURIComponent(login)}${path}/permissions`)
      const { is_owner, is_admin } = objectOf(rights.json)
      if (rights.status !== 200 || (is_owner !== true && is_admin !== true)) return refusalOf(rights)
      const response = await ask(path)
      const { id, name: own, username } = objectOf(response.json)
      const found = organizationOf({ id, name: own ?? username })
      return response.status === 200 && found && sameName(found.name, name) ? found : refusalOf(response)
    },
  },

  probePath: '/version',
  recognizes: ({ status, json }) => status === 200 && typeof objectOf(json).version === 'string',

  readProof: (headers) =>
    hmacOf(headerOf(headers, 'x-forgejo-signature', 'x-gitea-signature')) ??
    prefixedHmacOf(headerOf(headers, 'x-hub-signature-256')),
  readEvent: (headers) => headerOf(headers, 'x-forgejo-event', 'x-gitea-event', 'x-github-event'),
  readDeliveryId: (headers) =>
    headerOf(headers, 'x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery'),
  events: new Set(['push', 'issues']),
  signsPayloadOfForm: true,
  readReport: readGithubReport,
  ownerOfPrivateAddress: (address, hostname) => {
    const [login = '', domain = '', ...more] = address.split('@')
    return login !== '' && domain === `noreply.${hostname}` && more.length === 0 ? { login } : undefined
  },
}
