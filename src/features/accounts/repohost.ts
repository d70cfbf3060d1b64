/** The repository host: the owner of a token, and what it gives access to. `platform/hosts` has the kinds of host. */

import type { RepohostKind } from '../../../schemas/common.js'
import { ApiError } from '../../errors.js'
import { hostKinds } from '../../platform/hosts/index.js'
import type { HostUser } from '../../platform/hosts/kind.js'
import type { Trace } from '../../platform/http/trace.js'
import { getJsonFrom, rateLimitedUpstream, type UpstreamAnswer } from '../../platform/http/upstream.js'
import { type Meter, noopMeter } from '../../platform/metrics/meter.js'

export type RepohostUser = HostUser

export interface Repohost {
  /** @throws {ApiError} `repohost_token_invalid`, `upstream_failed`, `upstream_timeout` */
  userOf(token: string, trace?: Trace): Promise<RepohostUser>
  /**
   * Whether the token belongs to the user with this id and gives access to the repository.
   * @throws {ApiError} `repohost_token_invalid`, `repo_access_denied`, `upstream_failed`, `upstream_timeout`
   */
  checkAccess(token: string, userId: number, owner: string, repo: string, trace?: Trace): Promise<void>
}

/** The time budget of all calls that one request makes. */
const BUDGET_MS = 5_000

export const createRepohost = (
  {
    kind,
    url,
    apiUrl,
    allowedClientIds,
  }: { kind: RepohostKind; url: string; apiUrl: string; allowedClientIds: string[] | undefined },
  meter: Meter = noopMeter,
): Repohost => {
  const host = hostKinds[kind]
  const getJson = getJsonFrom('repohost', meter)
  const get = (token: string, path: string, signal: AbortSignal, trace: Trace | undefined, base = apiUrl) =>
    getJson(
      `${base}${path}`,
      { ...host.apiHeaders(token), 'User-Agent': 'team-settings-cloud' },
      signal,
      trace,
    )

  const userOf = async (
    token: string,
    signal: AbortSignal,
    trace: Trace | undefined,
  ): Promise<RepohostUser> => {
    const answer = await get(token, host.userPath, signal, trace)
    const user = host.readUser(answer)
    if (typeof user === 'string') throw failureOf(user, answer)
    return user
  }

  /** The OAuth app of a token, where the host says it apart from the user. It is asked only if it matters. */
  const appOf = async (
    token: string,
    signal: AbortSignal,
    trace: Trace | undefined,
  ): Promise<{ clientId?: string }> => {
    const { appOfToken } = host
    if (!allowedClientIds || typeof appOfToken !== 'object') return {}
    const answer = await get(token, appOfToken.path, signal, trace, url)
    const app = appOfToken.read(answer)
    if (app === 'none') return {}
    if (typeof app === 'string') throw failureOf(app, answer)
    return app
  }

  return {
    userOf: async (token, trace) => {
      const signal = AbortSignal.timeout(BUDGET_MS)
      // Asked first: a token that is none of an app now is none later.
      const app = await appOf(token, signal, trace)
      return { ...(await userOf(token, signal, trace)), ...app }
    },
    checkAccess: async (token, userId, owner, repo, trace) => {
      const signal = AbortSignal.timeout(BUDGET_MS)
      const user = await userOf(token, signal, trace)
      if (user.id !== userId) throw new ApiError('repo_access_denied')
      const answer = await get(token, host.repoPath({ owner, repo }), signal, trace)
      const access = host.readRepo(answer, { owner, repo })
      if (access === 'denied') throw new ApiError('repo_access_denied')
      if (access !== 'granted') throw failureOf(access, answer)
    },
  }
}

const failureOf = (
  failure: 'token-invalid' | 'rate-limited' | 'failed',
  { headers }: UpstreamAnswer,
): ApiError => {
  switch (failure) {
    case 'token-invalid':
      return new ApiError('repohost_token_invalid')
    case 'rate-limited':
      return rateLimitedUpstream('repohost', headers)
    case 'failed':
      return new ApiError('upstream_failed', { upstream: 'repohost' })
  }
}
