/** GitLab: docs.gitlab.com/api/{users,projects}, /integration/oauth_provider, /user/project/integrations/webhook_events. */
import type { UpstreamResponse } from '../http/upstream.js'
import { isDay } from '../time/days.js'
import type { Ask, HostKind, Report, StatedAddresses } from './kind.js'
import {
  accessOf,
  headerOf,
  idOfPrivateAddress,
  issueOf,
  leaveOf,
  listOf,
  listOrganizations,
  NOTHING,
  notDeliveredOf,
  objectOf,
  organizationOf,
  REDIRECTS,
  refusalOf,
  reportedCommit,
  sameName,
  textOf,
  userOf,
} from './reading.js'

/** Confidential issues have their own `X-Gitlab-Event`. */
const ISSUE_HOOKS = ['Issue Hook', 'Confidential Issue Hook']

/** `2017-09-15 16:50:55 UTC`, as older versions write times. */
const toRfc3339 = (time: string): string =>
  time.replace(/^([0-9-]{10}) ([0-9:]{8}) (?:UTC|\+0000)$/, '$1T$2Z')

/** Commits name their author by e-mail address. The payload has an id for only one of them, the pusher's public one. */
const readPush = (payload: unknown): Report => {
  const { ref, project, commits, total_commits_count, user_id, user_username, user_email } = objectOf(payload)
  const { path_with_namespace, default_branch } = objectOf(project)
  const repo = textOf(path_with_namespace)
  if (typeof default_branch !== 'string' || ref !== `refs/heads/${default_branch}`)
    return { ...NOTHING, canCount: true, repo }
  const email = textOf(user_email)?.toLowerCase()
  const delivered = listOf(commits)
  const found = delivered.flatMap((commit) => {
    const { id, timestamp, author } = objectOf(commit)
    const address = textOf(objectOf(author).email)
    const isPusher = address?.includes('@') && address.toLowerCase() === email
    return reportedCommit(id, timestamp, isPusher ? { id: user_id, login: user_username } : {}, address)
  })
  const notDelivered = notDeliveredOf(total_commits_count, delivered.length)
  return { ...NOTHING, canCount: true, repo, commits: found, notDelivered }
}

/**
 * An issue that was moved to another project, or that duplicates another one, isn't done. An epic comes in the same
 * event, but belongs to a group.
 */
const readIssue = (payload: unknown): Report => {
  const { project, object_attributes, user } = objectOf(payload)
  const attributes = objectOf(object_attributes)
  const { action, id, iid, closed_at, updated_at, moved_to_id, duplicated_to_id } = attributes
  const repo = textOf(objectOf(project).path_with_namespace)
  if (repo === undefined) return { ...NOTHING, repo }
  const nothing = { ...NOTHING, canCount: true, repo }
  const closed = action === 'close'
  if (!closed && action !== 'reopen') return nothing
  if (closed && (moved_to_id ?? duplicated_to_id ?? null) !== null) return nothing
  const time = textOf(closed ? (closed_at ?? updated_at) : updated_at)
  const at = time && toRfc3339(time)
  const { id: userId, username } = objectOf(user)
  return { ...nothing, issue: issueOf({ id, number: iid, closed, by: { id: userId, login: username }, at }) }
}

/** The access level of group owners. */
const OWNER = 50

/** Looks up a personal access token, or a token from the sign-in page. */
const canReadApi = async (ask: Ask): Promise<boolean> => {
  const personal = await ask('/personal_access_tokens/self')
  const { scopes } = objectOf(personal.json)
  const { scope } =
    personal.status === 200 ? { scope: scopes } : objectOf((await ask('/oauth/token/info', 'address')).json)
  const given = typeof scope === 'string' ? scope.split(' ') : listOf(scope)
  return given.some((name) => name === 'api' || name === 'read_api')
}

const ADDRESSES_PER_PAGE = 100

/** The profile has the first address, the list all others. Only addresses with a confirmation time are confirmed. */
const readAddresses = (user: UpstreamResponse, list: UpstreamResponse | undefined): StatedAddresses => {
  const others = list?.status === 200 ? list.json : undefined
  const confirmed = new Map<string, string>()
  const unconfirmed = new Set<string>()
  for (const stated of [user.json, ...listOf(others)]) {
    const { email, confirmed_at } = objectOf(stated)
    const address = textOf(email)?.toLowerCase()
    if (!address?.includes('@')) continue
    const at = Date.parse(textOf(confirmed_at) ?? '')
    if (Number.isNaN(at)) unconfirmed.add(address)
    else confirmed.set(address, new Date(at).toISOString().slice(0, 10))
  }
  return {
    confirmed: [...confirmed].map(([address, day]) => ({ address, day })).filter(({ day }) => isDay(day)),
    unconfirmed: [...unconfirmed].filter((address) => !confirmed.has(address)),
    isComplete: Array.isArray(others) && others.length < ADDRESSES_PER_PAGE,
  }
}

/** A group hook, or a self-managed host's system hook. */
const readLeave = (payload: unknown) => {
  const { event_name, group_id, user_id } = objectOf(payload)
  return event_name === 'user_remove_from_group' ? leaveOf(group_id, user_id) : undefined
}

export const gitlab: HostKind = {
  name: 'GitLab',
  defaultUrl: 'https://gitlab.com',
  // Also below a path.
  apiUrlOf: (url) => `${url}/api/v4`,
  tokenPage: '/-/user_settings/personal_access_tokens?name=Team%20activity&scopes=read_user',
  oauth: { authorizePath: '/oauth/authorize', tokenPath: '/oauth/token', scope: 'read_user' },

  appOfToken: {
    path: '/oauth/token/info',
    // 401: a personal, project or group access token, which doesn't belong to an app.
    read: ({ status, json }) => {
      if (status === 401) return 'none'
      if (status === 429) return 'rate-limited'
      const clientId = textOf(objectOf(objectOf(json).application).uid)
      return status === 200 && clientId !== undefined ? { clientId } : 'failed'
    },
  },
  apiHeaders: (token) => ({ Authorization: `Bearer ${token}`, Accept: 'application/json' }),
  userPath: '/user',
  // 403: the token lacks the scope `read_user`, or the user is blocked.
  readUser: (response) => userOf(response, 'username', [401, 403]),
  addresses: { path: `/user/emails?per_page=${ADDRESSES_PER_PAGE}`, read: readAddresses },
  repoPath: ({ owner, repo }) => `/projects/${encodeURIComponent(`${owner}/${repo}`)}`,
  // Moved projects redirect. Redirects that lead elsewhere end here. Projects that the token mustn't see return 404.
  readRepo: (response, name) => accessOf(response, name, 'path_with_namespace', [...REDIRECTS, 403, 404]),

  organizations: {
    scope: 'read_api',
    list: (ask) =>
      listOrganizations(ask, {
        pathOf: (page) => `/groups?min_access_level=10&order_by=id&per_page=100&page=${page}`,
        size: 100,
        read: ({ id, full_path }) => ({ id, name: full_path }),
        lacksScope: ({ json }) => objectOf(json).error === 'insufficient_scope',
      }),
    membership: async (ask, { id: userId }, { id }) => {
      const response = await ask(`/groups/${id}/members/all/${userId}`)
      const { id: found, state } = objectOf(response.json)
      if (response.status === 200) return found === userId && state === 'active' ? 'member' : 'unknown'
      return response.status === 404 && (await canReadApi(ask)) ? 'not-a-member' : 'unknown'
    },
    owns: async (ask, { id: userId }, { id }) => {
      const response = await ask(`/groups/${id}/members/all/${userId}`)
      const { id: found, state, access_level } = objectOf(response.json)
      const isClear = response.status === 200 && found === userId && state === 'active'
      return isClear && typeof access_level === 'number' ? access_level >= OWNER : undefined
    },
    administered: async (ask, { id: userId }, name) => {
      const response = await ask(`/groups/${encodeURIComponent(name)}?with_projects=false`)
      const { id, full_path } = objectOf(response.json)
      const group = response.status === 200 ? organizationOf({ id, name: full_path }) : undefined
      if (!group || !sameName(group.name, name)) return refusalOf(response)
      const own = await ask(`/groups/${group.id}/members/all/${userId}`)
      const { id: found, state, access_level } = objectOf(own.json)
      const isOwner = found === userId && state === 'active' && (access_level as number) >= OWNER
      return own.status === 200 && isOwner ? group : refusalOf(own)
    },
  },

  probePath: '/version',
  recognizes: ({ headers, status, json }) =>
    headers.has('x-gitlab-meta') || (status === 401 && objectOf(json).message === '401 Unauthorized'),

  readProof: (headers) => {
    const secret = headerOf(headers, 'x-gitlab-token')
    return secret ? { secret } : undefined
  },
  readEvent: (headers) => headerOf(headers, 'x-gitlab-event'),
  readDeliveryId: (headers) => headerOf(headers, 'idempotency-key', 'x-gitlab-event-uuid'),
  events: new Set(['Push Hook', ...ISSUE_HOOKS, 'Member Hook', 'System Hook']),
  signsPayloadOfForm: false,
  readReport: (event, payload) => {
    const isSystemPush = event === 'System Hook' && objectOf(payload).event_name === 'push'
    if (event === 'Push Hook' || isSystemPush) return readPush(payload)
    if (event === 'Member Hook' || event === 'System Hook')
      return { ...NOTHING, repo: undefined, left: readLeave(payload) }
    if (ISSUE_HOOKS.includes(event)) return readIssue(payload)
    return { ...NOTHING, repo: textOf(objectOf(objectOf(payload).project).path_with_namespace) }
  },
  ownerOfPrivateAddress: (address, hostname) => idOfPrivateAddress(address, '-', `users.noreply.${hostname}`),
}
