/** GitLab: docs.gitlab.com/api/{users,projects}, /integration/oauth_provider, /user/project/integrations/webhook_events. */
import type { Ask, HostKind, Report } from './kind.js'
import {
  accessOf,
  headerOf,
  issueOf,
  leaveOf,
  listOf,
  listOrganizations,
  NOTHING,
  objectOf,
  organizationOf,
  refusalOf,
  reportedCommit,
  sameName,
  textOf,
  userOf,
} from './reading.js'

/** The hooks that matter, by the value of `X-Gitlab-Event`. */
const isIssueHook = (event: string) => ['Issue Hook', 'Confidential Issue Hook'].includes(event)

/** `2017-09-15 16:50:55 UTC`, as older versions write times. */
const toRfc3339 = (time: string): string =>
  time.replace(/^([0-9-]{10}) ([0-9:]{8}) (?:UTC|\+0000)$/, '$1T$2Z')

/** Commits name their author by e-mail address. The payload has a login for only one address, the pusher's. */
const readPush = (payload: unknown): Report => {
  const { ref, project, commits, user_username, user_email } = objectOf(payload)
  const { path_with_namespace, default_branch } = objectOf(project)
  const repo = textOf(path_with_namespace)
  if (typeof default_branch !== 'string' || ref !== `refs/heads/${default_branch}`)
    return { ...NOTHING, repo }
  const email = textOf(user_email)?.toLowerCase()
  const loginOf = (author: unknown) => {
    const own = textOf(objectOf(author).email)?.toLowerCase()
    return own?.includes('@') && own === email ? user_username : undefined
  }
  const found = listOf(commits).flatMap((commit) => {
    const { id, timestamp, author } = objectOf(commit)
    return reportedCommit(id, timestamp, loginOf(author))
  })
  return { ...NOTHING, repo, commits: found }
}

const readIssue = (payload: unknown): Report => {
  const { project, object_attributes, user } = objectOf(payload)
  const { action, iid, closed_at, updated_at } = objectOf(object_attributes)
  const repo = textOf(objectOf(project).path_with_namespace)
  if (action !== 'close' && action !== 'reopen') return { ...NOTHING, repo }
  const closed = action === 'close'
  const time = textOf(closed ? (closed_at ?? updated_at) : updated_at)
  const at = time && toRfc3339(time)
  return { ...NOTHING, repo, issue: issueOf({ number: iid, closed, login: objectOf(user).username, at }) }
}

/** The access level of group owners. */
const OWNER = 50

/** Looks up a personal access token, or a token from the sign-in page. */
const mayReadApi = async (ask: Ask): Promise<boolean> => {
  const personal = await ask('/personal_access_tokens/self')
  const { scopes } = objectOf(personal.json)
  const { scope } =
    personal.status === 200 ? { scope: scopes } : objectOf((await ask('/oauth/token/info', 'address')).json)
  const given = typeof scope === 'string' ? scope.split(' ') : listOf(scope)
  return given.some((name) => name === 'api' || name === 'read_api')
}

/** A group hook, or a self-managed host's system hook. */
const readLeave = (payload: unknown) => {
  const { event_name, group_id, user_id } = objectOf(payload)
  return event_name === 'user_remove_from_group' ? leaveOf(group_id, user_id) : undefined
}

export const gitlab: HostKind = {
  name: 'GitLab',
  defaultUrl: 'https://gitlab.com',
  defaultApiUrl: 'https://gitlab.com/api/v4',
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
  readUser: (answer) => userOf(answer, 'username', [401, 403]),
  repoPath: ({ owner, repo }) => `/projects/${encodeURIComponent(`${owner}/${repo}`)}`,
  // Moved projects redirect. Projects that the token mustn't see return 404.
  readRepo: (answer, name) => accessOf(answer, name, 'path_with_namespace', [301, 302, 307, 308, 403, 404]),

  organizations: {
    scope: 'read_api',
    list: (ask) =>
      listOrganizations(
        ask,
        (page) => `/groups?min_access_level=10&order_by=id&per_page=100&page=${page}`,
        100,
        ({ id, full_path }) => ({ id, name: full_path }),
      ),
    membership: async (ask, { id: userId }, { id }) => {
      const answer = await ask(`/groups/${id}/members/all/${userId}`)
      const { id: found, state } = objectOf(answer.json)
      if (answer.status === 200) return found === userId && state === 'active' ? 'member' : 'unknown'
      return answer.status === 404 && (await mayReadApi(ask)) ? 'not-a-member' : 'unknown'
    },
    owns: async (ask, { id: userId }, { id }) => {
      const answer = await ask(`/groups/${id}/members/all/${userId}`)
      const { id: found, state, access_level } = objectOf(answer.json)
      const isClear = answer.status === 200 && found === userId && state === 'active'
      return isClear && typeof access_level === 'number' ? access_level >= OWNER : undefined
    },
    administered: async (ask, { id: userId }, name) => {
      const answer = await ask(`/groups/${encodeURIComponent(name)}?with_projects=false`)
      const { id, full_path } = objectOf(answer.json)
      const group = answer.status === 200 ? organizationOf({ id, name: full_path }) : undefined
      if (!group || !sameName(group.name, name)) return refusalOf(answer)
      const own = await ask(`/groups/${group.id}/members/all/${userId}`)
      const { id: found, state, access_level } = objectOf(own.json)
      const isOwner = found === userId && state === 'active' && (access_level as number) >= OWNER
      return own.status === 200 && isOwner ? group : refusalOf(own)
    },
  },

  probePath: '/version',
  recognises: ({ headers, status, json }) =>
    headers.has('x-gitlab-meta') || (status === 401 && objectOf(json).message === '401 Unauthorized'),

  readProof: (headers) => {
    const secret = headerOf(headers, 'x-gitlab-token')
    return secret ? { secret } : undefined
  },
  readEvent: (headers) => headerOf(headers, 'x-gitlab-event'),
  readDeliveryId: (headers) => headerOf(headers, 'idempotency-key', 'x-gitlab-event-uuid'),
  readReport: (event, payload) => {
    if (event === 'Member Hook' || event === 'System Hook')
      return { ...NOTHING, repo: undefined, left: readLeave(payload) }
    if (event === 'Push Hook') return readPush(payload)
    if (isIssueHook(event)) return readIssue(payload)
    return { ...NOTHING, repo: textOf(objectOf(objectOf(payload).project).path_with_namespace) }
  },
}
