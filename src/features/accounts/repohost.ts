/** The repository host: who owns a token, and what it gives access to. The kinds of host are in `platform/hosts`. */

import type { RepohostKind } from '../../../schemas/common.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { ApiError } from '../../errors.js'
import { hostKinds } from '../../platform/hosts/index.js'
import type {
  Ask,
  HostOrganization,
  HostUser,
  MembershipResponse,
  RepoName,
  StatedAddresses,
} from '../../platform/hosts/kind.js'
import type { Trace } from '../../platform/http/trace.js'
import { getJsonFrom, rateLimitedUpstream, type UpstreamResponse } from '../../platform/http/upstream.js'
import { type Meter, noopMeter } from '../../platform/metrics/meter.js'

export interface RepohostUser extends HostUser {
  /** Undefined: they aren't needed. */
  addresses: StatedAddresses | undefined
}

/** The host's response about the organizations that a person belongs to. Never fails. */
export interface Memberships {
  /** Undefined if the host doesn't say. */
  list(): Promise<HostOrganization[] | undefined>
  membership(organization: HostOrganization): Promise<MembershipResponse>
  /** Whether the person owns or administers the organization. Undefined: the host doesn't say clearly. */
  owns(organization: HostOrganization): Promise<boolean | undefined>
}

export interface HostPerson {
  memberships: Memberships
  /**
   * @throws {ApiError} `repohost_token_invalid`, `repo_access_denied`, `repo_renamed`, `upstream_failed`,
   *   `upstream_timeout`
   */
  requireAccess(repository: RepoName): Promise<void>
  /**
   * Checks that `from` leads to `to`, or that the person doesn't see `from`, and sees `to`.
   * @throws {ApiError} `repohost_token_invalid`, `repo_access_denied`, `upstream_failed`, `upstream_timeout`
   */
  requireRename(from: RepoName, to: RepoName): Promise<void>
}

export interface Repohost {
  /** Begins the time for all of a request's calls. */
  newBudget(): AbortSignal
  /**
   * The person who signs in. Their addresses are looked up as far as the host says them in time.
   * @throws {ApiError} `repohost_token_invalid`, `upstream_failed`, `upstream_timeout`
   */
  userOf(token: string, trace: Trace | undefined, budget: AbortSignal): Promise<RepohostUser>
  membershipsOf(
    token: string,
    user: Pick<RepohostUser, 'id' | 'login'>,
    trace: Trace | undefined,
    budget: AbortSignal,
  ): Memberships
  /**
   * The organization with this name, if the token proves that the user with this id owns or administers it.
   * @throws {ApiError} `repohost_token_invalid`, `organization_access_denied`, `upstream_failed`, `upstream_timeout`
   */
  administeredBy(token: string, userId: number, name: string, trace?: Trace): Promise<HostOrganization>
  /**
   * The host’s facts about the user with this id, whose token it must be.
   * @throws {ApiError} `repohost_token_invalid`, `repo_access_denied`, `upstream_failed`, `upstream_timeout`
   */
  personOf(token: string, userId: number, trace?: Trace): Promise<HostPerson>
}

const NOT_SHOWN =
  'With this token, the repository host doesn’t show that `to` is the new name of `from`. Send your own token with access to `to`, and check both names.'

/** The time budget for all of a request's calls. */
const BUDGET_MS = 5_000

/** How many redirects are followed from a repository's name. Hosts use one for each time that it got another name. */
const MAX_REDIRECTS = 5

/** A repository as a person sees it. */
type Sight = 'granted' | 'denied' | { renamedTo: string }

export const createRepohost = (
  {
    kind,
    url,
    apiUrl,
    allowedClientIds,
  }: { kind: RepohostKind; url: string; apiUrl: string; allowedClientIds: string[] | undefined },
  { budgetMs = BUDGET_MS, meter = noopMeter }: { budgetMs?: number; meter?: Meter } = {},
): Repohost => {
  const newBudget = () => AbortSignal.timeout(budgetMs)
  const host = hostKinds[kind]
  const getJson = getJsonFrom('repohost', meter)
  const get = (
    token: string,
    path: string,
    signal: AbortSignal,
    trace: Trace | undefined,
    below: 'api' | 'address' = 'api',
  ) =>
    getJson(
      `${below === 'api' ? apiUrl : url}${path}`,
      { ...host.apiHeaders(token), 'User-Agent': 'team-settings-cloud' },
      signal,
      trace,
    )

  const readUser = (response: UpstreamResponse): HostUser => {
    const user = host.readUser(response)
    if (typeof user === 'string') throw failureOf(user, response)
    return user
  }

  const userOf = async (token: string, signal: AbortSignal, trace: Trace | undefined): Promise<HostUser> =>
    readUser(await get(token, host.userPath, signal, trace))

  /** A token's OAuth app, on hosts that report it separately from the user. Looked up only if it matters. */
  const appOf = async (
    token: string,
    signal: AbortSignal,
    trace: Trace | undefined,
  ): Promise<{ clientId?: string }> => {
    const { appOfToken } = host
    if (!allowedClientIds || typeof appOfToken !== 'object') return {}
    const response = await get(token, appOfToken.path, signal, trace, 'address')
    const app = appOfToken.read(response)
    if (app === 'none') return {}
    if (typeof app === 'string') throw failureOf(app, response)
    return app
  }

  const membershipsOf: Repohost['membershipsOf'] = (token, user, trace, signal) => {
    const ask: Ask = (path, below) => get(token, path, signal, trace, below)
    const { list, membership, owns } = host.organizations
    const memberships: Memberships = {
      list: () => list(ask).catch(() => undefined),
      membership: (organization) => membership(ask, user, organization).catch(() => 'unknown' as const),
      owns: async (organization) => {
        const response = await owns(ask, user, organization).catch(() => undefined)
        if (response !== undefined) return response
        return (await memberships.membership(organization)) === 'not-a-member' ? false : undefined
      },
    }
    return memberships
  }

  /** The path, below the API, that a response redirects to. Undefined if it doesn't, or leads out of the API. */
  const redirectedPath = ({ status, headers }: UpstreamResponse, path: string): string | undefined => {
    const location = headers.get('location')
    if (![301, 302, 307, 308].includes(status) || location === null) return undefined
    const requestedUrl = `${apiUrl}${path}`
    if (!URL.canParse(location, requestedUrl)) return undefined
    const { origin, pathname, search } = new URL(location, requestedUrl)
    const api = new URL(`${apiUrl}/`)
    if (origin !== api.origin || !pathname.startsWith(api.pathname)) return undefined
    return `${pathname.slice(api.pathname.length - 1)}${search}`
  }

  const seeRepo = async (
    token: string,
    repository: RepoName,
    signal: AbortSignal,
    trace: Trace | undefined,
  ): Promise<Sight> => {
    let path: string | undefined = host.repoPath(repository)
    let response = await get(token, path, signal, trace)
    for (let followed = 0; followed < MAX_REDIRECTS; followed++) {
      path = redirectedPath(response, path)
      if (path === undefined) break
      response = await get(token, path, signal, trace)
    }
    const access = host.readRepo(response, repository)
    if (access === 'granted' || access === 'denied') return access
    if (typeof access === 'string') throw failureOf(access, response)
    return isRepoPath(access.renamedTo, kind) ? access : 'denied'
  }

  return {
    newBudget,
    userOf: async (token, trace, budget) => {
      // Checked first, because a token without an app never gets one.
      const app = await appOf(token, budget, trace)
      const response = await get(token, host.userPath, budget, trace)
      const user = { ...readUser(response), ...app }
      if (!host.addresses) return { ...user, addresses: undefined }
      const list = await get(token, host.addresses.path, budget, trace).catch(() => undefined)
      return { ...user, addresses: host.addresses.read(response, list) }
    },
    membershipsOf,
    administeredBy: async (token, userId, name, trace) => {
      const signal = newBudget()
      const user = await userOf(token, signal, trace)
      if (user.id !== userId) throw new ApiError('organization_access_denied')
      let last: UpstreamResponse | undefined
      const ask: Ask = async (path, below) => {
        last = await get(token, path, signal, trace, below)
        return last
      }
      const found = await host.organizations.administered(ask, user, name)
      if (typeof found !== 'string') return found
      if (found === 'denied' || !last) throw new ApiError('organization_access_denied')
      throw failureOf(found, last)
    },
    personOf: async (token, userId, trace) => {
      const signal = newBudget()
      const user = await userOf(token, signal, trace)
      if (user.id !== userId) throw new ApiError('repo_access_denied')
      return {
        memberships: membershipsOf(token, user, trace, signal),
        requireAccess: async (repository) => {
          const seen = await seeRepo(token, repository, signal, trace)
          if (seen === 'denied') throw new ApiError('repo_access_denied')
          if (seen !== 'granted')
            throw new ApiError('repo_renamed', {
              renamed_to: seen.renamedTo,
              detail: `The repository is called ${seen.renamedTo} at the repository host now. Use that name, for example in the address of your clone. An admin can move the stored settings to it.`,
            })
        },
        requireRename: async (from, to) => {
          const seen = await seeRepo(token, from, signal, trace)
          const isShown =
            typeof seen === 'object'
              ? seen.renamedTo.toLowerCase() === `${to.owner}/${to.repo}`.toLowerCase()
              : seen === 'denied' && (await seeRepo(token, to, signal, trace)) === 'granted'
          if (!isShown) throw new ApiError('repo_access_denied', { detail: NOT_SHOWN })
        },
      }
    },
  }
}

const failureOf = (
  failure: 'token-invalid' | 'rate-limited' | 'failed',
  { headers }: UpstreamResponse,
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
