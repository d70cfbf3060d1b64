/** The repository host, in the API shapes of GitHub (docs.github.com/en/rest: users, repos). */

import { ApiError } from '../../errors.js'
import type { Trace } from '../../platform/http/trace.js'
import { getJsonFrom, rateLimitedUpstream, type UpstreamAnswer } from '../../platform/http/upstream.js'
import { type Meter, silentMeter } from '../../platform/metrics/meter.js'

export interface RepohostUser {
  /** The host's numeric id, which never changes hands. */
  id: number
  login: string
  avatarUrl: string
  /** The OAuth app that the token was made for, when the host says so. */
  clientId: string | undefined
}

export interface Repohost {
  /** @throws {ApiError} `repohost_token_invalid`, `upstream_failed`, `upstream_timeout` */
  userOf(token: string, trace?: Trace): Promise<RepohostUser>
  /**
   * Whether the token belongs to the user with this id and gives access to the repository.
   * @throws {ApiError} `repohost_token_invalid`, `repo_access_denied`, `upstream_failed`, `upstream_timeout`
   */
  checkAccess(token: string, userId: number, owner: string, repo: string, trace?: Trace): Promise<void>
}

/** For all calls that one request makes. */
const BUDGET_MS = 5_000

export const createRepohost = (apiUrl: string, meter: Meter = silentMeter): Repohost => {
  const getJson = getJsonFrom('repohost', meter)
  const get = (token: string, path: string, signal: AbortSignal, trace: Trace | undefined) =>
    getJson(
      `${apiUrl}${path}`,
      {
        Authorization: `Bearer ${token}`,
        Accept: 'application/vnd.github+json',
        'X-GitHub-Api-Version': '2022-11-28',
        'User-Agent': 'team-settings-cloud',
      },
      signal,
      trace,
    )

  const userOf = async (
    token: string,
    signal: AbortSignal,
    trace: Trace | undefined,
  ): Promise<RepohostUser> => {
    const answer = await get(token, '/user', signal, trace)
    if (answer.status === 401) throw new ApiError('repohost_token_invalid')
    if (isRateLimited(answer)) throw rateLimitedUpstream('repohost', answer.headers)
    const user = answer.status === 200 ? readUser(answer.json) : undefined
    if (!user) throw new ApiError('upstream_failed', { upstream: 'repohost' })
    return { ...user, clientId: answer.headers.get('x-oauth-client-id') || undefined }
  }

  return {
    userOf: (token, trace) => userOf(token, AbortSignal.timeout(BUDGET_MS), trace),
    checkAccess: async (token, userId, owner, repo, trace) => {
      const signal = AbortSignal.timeout(BUDGET_MS)
      const user = await userOf(token, signal, trace)
      if (user.id !== userId) throw new ApiError('repo_access_denied')
      const answer = await get(
        token,
        `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`,
        signal,
        trace,
      )
      if (answer.status === 401) throw new ApiError('repohost_token_invalid')
      if (isRateLimited(answer)) throw rateLimitedUpstream('repohost', answer.headers)
      if ([301, 403, 404, 451].includes(answer.status)) throw new ApiError('repo_access_denied')
      if (answer.status !== 200) throw new ApiError('upstream_failed', { upstream: 'repohost' })
      // An answer about another repository is no access to this one.
      const fullName = (answer.json as { full_name?: unknown } | undefined)?.full_name
      if (typeof fullName !== 'string') throw new ApiError('upstream_failed', { upstream: 'repohost' })
      if (fullName.toLowerCase() !== `${owner}/${repo}`.toLowerCase())
        throw new ApiError('repo_access_denied')
    },
  }
}

const isRateLimited = ({ status, headers }: UpstreamAnswer) =>
  status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')

const readUser = (json: unknown) => {
  const { id, login, avatar_url } = (json ?? {}) as { id?: unknown; login?: unknown; avatar_url?: unknown }
  if (!Number.isSafeInteger(id) || (id as number) <= 0) return undefined
  if (typeof login !== 'string' || !/^[A-Za-z0-9_.-]{1,100}$/.test(login)) return undefined
  return { id: id as number, login, avatarUrl: typeof avatar_url === 'string' ? avatar_url : '' }
}
