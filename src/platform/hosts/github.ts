/** GitHub and GitHub Enterprise Server: docs.github.com/en/rest (users, repos) and docs.github.com/en/webhooks. */
import type { HostKind } from './kind.js'
import {
  accessOf,
  headerOf,
  idOfPrivateAddress,
  leaveOf,
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

/** GitHub's own hosts have the API at a name of its own, GitHub Enterprise Server below its address. */
const apiUrlOf = (url: string): string => {
  const { hostname } = new URL(url)
  if (hostname === 'github.com' || hostname === 'www.github.com') return 'https://api.github.com'
  return hostname.endsWith('.ghe.com') ? `https://api.${hostname}` : `${url}/api/v3`
}

const named = (organization: unknown) => {
  const { id, login } = objectOf(organization)
  return { id, name: login }
}

const membershipPath = (name: string) => `/user/memberships/orgs/${encodeURIComponent(name)}`

/** Without such a scope, GitHub responds as if there were no organization. */
const canReadOrganizations = (headers: Headers): boolean =>
  (headers.get('x-oauth-scopes') ?? '')
    .split(',')
    .some((scope) => ['read:org', 'write:org', 'admin:org'].includes(scope.trim()))

const readLeave = (event: string, payload: unknown) => {
  const { action, organization, membership } = objectOf(payload)
  if (event !== 'organization' || action !== 'member_removed') return undefined
  return leaveOf(objectOf(organization).id, objectOf(objectOf(membership).user).id)
}

/** The old name has no owner, because a transfer is another event. */
const readRename = (event: string, payload: unknown) => {
  const { action, changes, repository } = objectOf(payload)
  const before = textOf(objectOf(objectOf(objectOf(changes).repository).name).from)
  const to = textOf(objectOf(repository).full_name)
  if (event !== 'repository' || action !== 'renamed' || before === undefined || to === undefined)
    return undefined
  return { from: `${to.slice(0, to.lastIndexOf('/'))}/${before}`, to }
}

export const github: HostKind = {
  name: 'GitHub',
  defaultUrl: 'https://github.com',
  apiUrlOf,
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
  readUser: (response) =>
    userOf(response, 'login', [401], response.headers.get('x-oauth-client-id') || undefined),
  addresses: undefined,
  repoPath: (name) => `/repos/${pathOf(name)}`,
  // Redirected elsewhere, forbidden, missing, taken down.
  readRepo: (response, name) => accessOf(response, name, 'full_name', [...REDIRECTS, 403, 404, 451]),

  organizations: {
    scope: 'read:org',
    list: (ask) =>
      listOrganizations(ask, {
        pathOf: (page) => `/user/memberships/orgs?state=active&per_page=100&page=${page}`,
        size: 100,
        read: ({ state, organization }) => (state === 'active' ? named(organization) : undefined),
        // A fine-grained token has no scopes. A secondary rate limit has `Retry-After`.
        lacksScope: ({ headers }) =>
          headers.has('x-oauth-scopes') && !canReadOrganizations(headers) && !headers.has('retry-after'),
      }),
    membership: async (ask, _user, { id, name }) => {
      const response = await ask(membershipPath(name))
      const { state, organization } = objectOf(response.json)
      if (response.status === 200)
        return named(organization).id === id && state === 'active' ? 'member' : 'unknown'
      if (response.status !== 404 || !canReadOrganizations(response.headers)) return 'unknown'
      // After a rename, the old name isn't found either, or belongs to someone else.
      const known = await ask(`/organizations/${id}`)
      const isGone = known.status === 404
      const isNamed = known.status === 200 && sameName(textOf(objectOf(known.json).login), name)
      return isGone || isNamed ? 'not-a-member' : 'unknown'
    },
    owns: async (ask, _user, { id, name }) => {
      const response = await ask(membershipPath(name))
      const { state, role, organization } = objectOf(response.json)
      const isClear = response.status === 200 && named(organization).id === id && state === 'active'
      return isClear ? role === 'admin' : undefined
    },
    administered: async (ask, _user, name) => {
      const response = await ask(membershipPath(name))
      const { state, role, organization } = objectOf(response.json)
      const found = organizationOf(named(organization))
      const isAdmin = response.status === 200 && state === 'active' && role === 'admin'
      return found && isAdmin && sameName(found.name, name) ? found : refusalOf(response)
    },
  },

  probePath: '/meta',
  recognizes: ({ json, headers }) =>
    headers.has('x-github-request-id') || 'verifiable_password_authentication' in objectOf(json),

  readProof: (headers) => prefixedHmacOf(headerOf(headers, 'x-hub-signature-256')),
  readEvent: (headers) => headerOf(headers, 'x-github-event'),
  readDeliveryId: (headers) => headerOf(headers, 'x-github-delivery'),
  events: new Set(['push', 'issues', 'organization', 'repository']),
  signsPayloadOfForm: false,
  readReport: (event, payload) => ({
    ...readGithubReport(event, payload),
    left: readLeave(event, payload),
    renamed: readRename(event, payload),
  }),
  // On GitHub Enterprise Server, ids in github.com addresses belong to other people.
  ownerOfPrivateAddress: (address, hostname) => idOfPrivateAddress(address, '+', `users.noreply.${hostname}`),
}
