/** Shared by all kinds of host: reads answers and payloads, which can contain anything. */
import type { IncomingHttpHeaders } from 'node:http'
import type { UpstreamAnswer } from '../http/upstream.js'
import type { HostUser, Proof, RepoAnswer, RepoName, Report, ReportedCommit, ReportedIssue } from './kind.js'

export type Json = Record<string, unknown>

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const headerOf = (headers: IncomingHttpHeaders, ...names: string[]): string | undefined => {
  const name = names.find((candidate) => headers[candidate] !== undefined)
  return name === undefined ? undefined : textOf(headers[name])
}

export const isRateLimited = ({ status, headers }: UpstreamAnswer): boolean =>
  status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')

/** @param loginMember where the host has the login */
export const userOf = (json: unknown, loginMember: string): Omit<HostUser, 'clientId'> | undefined => {
  const user = objectOf(json)
  const { id, avatar_url } = user
  const login = textOf(user[loginMember])
  if (!Number.isSafeInteger(id) || (id as number) <= 0) return undefined
  if (login === undefined || !/^[A-Za-z0-9_.-]{1,100}$/.test(login)) return undefined
  return { id: id as number, login, avatarUrl: textOf(avatar_url) ?? '' }
}

/** Only an answer about this very repository is access to it. A renamed repository answers under its new name. */
export const accessOf = (fullName: unknown, { owner, repo }: RepoName): RepoAnswer => {
  if (typeof fullName !== 'string') return 'failed'
  return fullName.toLowerCase() === `${owner}/${repo}`.toLowerCase() ? 'granted' : 'denied'
}

export const pathOf = ({ owner, repo }: RepoName): string =>
  `${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`

/** An HMAC-SHA256 in hex. */
export const hmacOf = (text: string | undefined): Proof | undefined =>
  text !== undefined && /^[0-9a-f]{64}$/.test(text) ? { hmac: text } : undefined

/** `sha256=` and an HMAC, as GitHub writes it. */
export const prefixedHmacOf = (text: string | undefined): Proof | undefined =>
  text?.startsWith('sha256=') ? hmacOf(text.slice('sha256='.length)) : undefined

const NOTHING = { commits: [], issue: undefined }

/** `push` and `issues` as GitHub sends them; Forgejo and Gitea send the same members. */
export const readGithubReport = (event: string, payload: unknown): Report => {
  const { ref, repository, commits, action, issue, sender } = objectOf(payload)
  const { full_name, default_branch } = objectOf(repository)
  const repo = textOf(full_name)
  if (event === 'push' && typeof default_branch === 'string' && ref === `refs/heads/${default_branch}`) {
    return { ...NOTHING, repo, commits: listOf(commits).flatMap(commitOf) }
  }
  if (event === 'issues' && (action === 'closed' || action === 'reopened')) {
    const { number, closed_at, updated_at } = objectOf(issue)
    const closed = action === 'closed'
    const at = textOf(closed ? (closed_at ?? updated_at) : updated_at)
    return { ...NOTHING, repo, issue: issueOf({ number, closed, login: objectOf(sender).login, at }) }
  }
  return { ...NOTHING, repo }
}

const commitOf = (commit: unknown): ReportedCommit[] => {
  const { id, timestamp, author } = objectOf(commit)
  return reportedCommit(id, timestamp, objectOf(author).username)
}

export const reportedCommit = (id: unknown, timestamp: unknown, login: unknown): ReportedCommit[] => {
  const [hash, at] = [textOf(id), textOf(timestamp)]
  return hash === undefined || at === undefined ? [] : [{ hash, at, login: textOf(login) || undefined }]
}

export const issueOf = (found: {
  number: unknown
  closed: boolean
  login: unknown
  at: string | undefined
}): ReportedIssue | undefined => {
  const { number, closed, login, at } = found
  if (!Number.isSafeInteger(number) || at === undefined) return undefined
  return { number: number as number, closed, login: textOf(login) || undefined, at }
}
