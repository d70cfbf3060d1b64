/** Reads responses and payloads, which can contain anything, for all kinds of host. */
import type { IncomingHttpHeaders } from 'node:http'
import type { UpstreamResponse } from '../http/upstream.js'
import type {
  AddressOwner,
  Ask,
  HostOrganization,
  HostOrganizations,
  Proof,
  RefusalResponse,
  RepoName,
  RepoResponse,
  Report,
  ReportedCommit,
  ReportedIssue,
  ReportedLeave,
  UserResponse,
} from './kind.js'

export type Json = Record<string, unknown>

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const headerOf = (headers: IncomingHttpHeaders, ...names: string[]): string | undefined => {
  const name = names.find((candidate) => headers[candidate] !== undefined)
  return name === undefined ? undefined : textOf(headers[name])
}

const isRateLimited = ({ status, headers }: UpstreamResponse): boolean =>
  status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')

/**
 * @param loginProperty where the host has the login
 * @param invalid the statuses that mean that the token isn't valid, or not for this request
 */
export const userOf = (
  response: UpstreamResponse,
  loginProperty: string,
  invalid: number[],
  clientId?: string,
): UserResponse => {
  if (isRateLimited(response)) return 'rate-limited'
  if (invalid.includes(response.status)) return 'token-invalid'
  if (response.status !== 200) return 'failed'
  const user = objectOf(response.json)
  const { id, avatar_url } = user
  const login = textOf(user[loginProperty])
  if (!Number.isSafeInteger(id) || (id as number) <= 0) return 'failed'
  if (login === undefined || !/^[A-Za-z0-9_.-]{1,100}$/.test(login)) return 'failed'
  return { id: id as number, login, avatarUrl: textOf(avatar_url) ?? '', clientId }
}

/** Statuses of a redirect that doesn't lead to a repository. */
export const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Only a response about this very repository proves access to it. A renamed repository answers under its new name, or
 * at the end of a redirect.
 * @param pathProperty where the host has `owner/repo`
 * @param denied the statuses that mean the token doesn't give access
 */
export const accessOf = (
  response: UpstreamResponse,
  { owner, repo }: RepoName,
  pathProperty: string,
  denied: number[],
): RepoResponse => {
  if (response.status === 401) return 'token-invalid'
  if (isRateLimited(response)) return 'rate-limited'
  if (denied.includes(response.status)) return 'denied'
  const path = textOf(objectOf(response.json)[pathProperty])
  if (response.status !== 200 || path === undefined) return 'failed'
  return sameName(path, `${owner}/${repo}`) ? 'granted' : { renamedTo: path }
}

export const pathOf = ({ owner, repo }: RepoName): string =>
  `${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`

/** An HMAC-SHA256 in hex. */
export const hmacOf = (text: string | undefined): Proof | undefined =>
  text !== undefined && /^[0-9a-f]{64}$/.test(text) ? { hmac: text } : undefined

/** `sha256=` and an HMAC, as GitHub writes it. */
export const prefixedHmacOf = (text: string | undefined): Proof | undefined =>
  text?.startsWith('sha256=') ? hmacOf(text.slice('sha256='.length)) : undefined

const MAX_PAGES = 5

interface OrganizationPages {
  /** A page's path, from 1. */
  pathOf(page: number): string
  /** The number of items on a full page. */
  size: number
  read(item: Json): { id: unknown; name: unknown } | undefined
  /** Whether a response that isn't rate-limited says clearly that the token lacks the scope. */
  lacksScope(response: UpstreamResponse): boolean
}

/** All pages of a list. */
export const listOrganizations = async (
  ask: Ask,
  { pathOf, size, read, lacksScope }: OrganizationPages,
): ReturnType<HostOrganizations['list']> => {
  const found: HostOrganization[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const response = await ask(pathOf(page))
    const { status, json } = response
    if (status === 403 && !isRateLimited(response) && lacksScope(response)) return 'scope-missing'
    if (status !== 200 || !Array.isArray(json)) return undefined
    for (const item of json) {
      const organization = organizationOf(read(objectOf(item)))
      if (organization) found.push(organization)
    }
    if (json.length < size) break
  }
  return found
}

export const organizationOf = (
  given: { id: unknown; name: unknown } | undefined,
): HostOrganization | undefined => {
  const id = idOf(given?.id)
  const name = textOf(given?.name)
  return id === undefined || name === undefined ? undefined : { id, name }
}

/** One of the host's numeric ids. */
export const idOf = (id: unknown): number | undefined =>
  Number.isSafeInteger(id) && (id as number) > 0 ? (id as number) : undefined

/** Decides what a response without the organization means for someone who wants to link it. */
export const refusalOf = (response: UpstreamResponse): RefusalResponse => {
  if (response.status === 401) return 'token-invalid'
  if (isRateLimited(response)) return 'rate-limited'
  return [200, ...REDIRECTS, 403, 404].includes(response.status) ? 'denied' : 'failed'
}

export const sameName = (one: string | undefined, other: string): boolean =>
  one?.toLowerCase() === other.toLowerCase()

/** Parses the host's report that someone left an organization. Undefined if malformed. */
export const leaveOf = (organizationId: unknown, userId: unknown): ReportedLeave | undefined => {
  const [organization, user] = [idOf(organizationId), idOf(userId)]
  return organization === undefined || user === undefined
    ? undefined
    : { organizationId: organization, userId: user }
}

export const NOTHING = { canCount: false, commits: [], notDelivered: 0, issue: undefined }

/** How many commits of a push the host left out. @param total how many there are, if the host says so */
export const notDeliveredOf = (total: unknown, delivered: number): number =>
  Number.isInteger(total) ? Math.min(Math.max((total as number) - delivered, 0), MAX_COMMITS) : 0
/** The database's integers end there. */
const MAX_COMMITS = 2_147_483_647

/**
 * The owner of a private address that starts with the host's id of the person: `7+ada@…` or `7-ada@…`.
 * @param domain where the host's private addresses are
 */
export const idOfPrivateAddress = (
  address: string,
  separator: '+' | '-',
  domain: string,
): AddressOwner | undefined => {
  const [local = '', ...rest] = address.split('@')
  const end = local.indexOf(separator)
  if (rest.length !== 1 || rest[0] !== domain || end === local.length - 1) return undefined
  const digits = local.slice(0, Math.max(end, 0))
  const id = /^[1-9][0-9]*$/.test(digits) ? idOf(Number(digits)) : undefined
  return id === undefined ? undefined : { id }
}

/** `push` and `issues` as GitHub sends them; Forgejo and Gitea send the same properties. */
export const readGithubReport = (event: string, payload: unknown): Report => {
  const { ref, repository, commits, size, total_commits, action, issue, sender, pusher } = objectOf(payload)
  const { full_name, default_branch, owner } = objectOf(repository)
  const repo = textOf(full_name)
  if (event === 'push' && typeof default_branch === 'string' && ref === `refs/heads/${default_branch}`) {
    const delivered = listOf(commits)
    // GitHub says `size`, Forgejo and Gitea `total_commits`.
    const notDelivered = notDeliveredOf(size ?? total_commits, delivered.length)
    const people = [sender, pusher, owner].map(objectOf)
    return {
      ...NOTHING,
      canCount: true,
      repo,
      commits: delivered.flatMap((commit) => commitOf(commit, people)),
      notDelivered,
    }
  }
  if (event === 'issues' && (action === 'closed' || action === 'reopened')) {
    const { id, number, closed_at, updated_at } = objectOf(issue)
    const closed = action === 'closed'
    const at = textOf(closed ? (closed_at ?? updated_at) : updated_at)
    const found = issueOf({ id, number, closed, by: objectOf(sender), at })
    return { ...NOTHING, canCount: true, repo, issue: found }
  }
  return { ...NOTHING, canCount: event === 'push' || event === 'issues', repo }
}

/** A commit names its author without an id. @param people those whom the payload names with an id */
const commitOf = (commit: unknown, people: Json[]): ReportedCommit[] => {
  const { id, timestamp, author } = objectOf(commit)
  const { username, email } = objectOf(author)
  const login = textOf(username) || undefined
  const person = people.find((one) => login !== undefined && sameName(textOf(one.login), login))
  return reportedCommit(id, timestamp, { id: person?.id, login }, email)
}

export const reportedCommit = (
  id: unknown,
  timestamp: unknown,
  author: { id?: unknown; login?: unknown },
  address: unknown,
): ReportedCommit[] => {
  const [hash, at] = [textOf(id), textOf(timestamp)]
  if (hash === undefined || at === undefined) return []
  return [{ hash, at, ...identityOf(author), address: textOf(address) || undefined }]
}

/** The id and the login by which a payload names a person. */
const identityOf = ({ id, login }: { id?: unknown; login?: unknown }) => ({
  id: idOf(id),
  login: textOf(login) || undefined,
})

export const issueOf = (found: {
  id: unknown
  number: unknown
  closed: boolean
  by: { id?: unknown; login?: unknown }
  at: string | undefined
}): ReportedIssue | undefined => {
  const { id, number, closed, by, at } = found
  if (!Number.isSafeInteger(number) || at === undefined) return undefined
  return { issueId: idOf(id), number: number as number, closed, ...identityOf(by), at }
}
