/** The repository host: who owns a token, and what it gives access to. The kinds of host are in `platform/hosts`. */

import type { RepohostKind } from '../../../schemas/common.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { ApiError } from '../../errors.js'
import { hostKinds } from '../../platform/hosts/index.js'
import type { Ask, HostOrganization, HostUser, RepoName, StatedAddresses } from '../../platform/hosts/kind.js'
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
  ask(questions: MembershipQuestions): Promise<MembershipAnswers>
}

/** Organizations about which the host is asked whether a person owns or administers them, or belongs to them. */
export interface MembershipQuestions {
  owns?: HostOrganization[]
  belongsTo?: HostOrganization[]
}

/** The host's answers, by organization id. Organizations without a clear answer are left out. */
export interface MembershipAnswers {
  owns: Map<number, boolean>
  belongsTo: Map<number, boolean>
}

const noAnswers = (): MembershipAnswers => ({ owns: new Map(), belongsTo: new Map() })

interface Granted {
  outcome: 'granted'
}

interface NotGranted {
  /**
   * `rejected`: the token is invalid, or doesn't show what it should, so it may be a guess.
   * `failed`: anything else, such as a host that doesn't respond.
   */
  outcome: 'rejected' | 'failed'
  error: unknown
}

const rejected = (error: ApiError): NotGranted => ({ outcome: 'rejected', error })
const failed = (error: unknown): NotGranted => ({ outcome: 'failed', error })
const repoDenied = (): NotGranted => rejected(new ApiError('repo_access_denied'))
const renameDenied = (): NotGranted =>
  rejected(new ApiError('repo_access_denied', { detail: RENAME_NOT_CONFIRMED }))
/** Another organization can be tried with the same token. */
const organizationDenied = (): NotGranted => failed(new ApiError('organization_access_denied'))

type PushAnswer = (Granted | NotGranted) & { memberships: MembershipAnswers }

/** A token, and the host's user that it must belong to. */
interface PresentedToken {
  token: string
  userId: number
  trace: Trace | undefined
}

export interface Repohost {
  /** Starts the time budget for all of a request's calls. */
  newBudget(): AbortSignal
  /**
   * The person who signs in. Their addresses are included if the host returns them in time.
   * @throws {ApiError} `repohost_token_invalid`, `upstream_failed`, `upstream_timeout`
   */
  userOf(token: string, trace: Trace | undefined, budget: AbortSignal): Promise<RepohostUser>
  membershipsOf(
    token: string,
    user: Pick<RepohostUser, 'id' | 'login'>,
    trace: Trace | undefined,
    budget: AbortSignal,
  ): Memberships
  /** The organization with this name, if the token proves that its user owns or administers it. Never fails. */
  checkOrganizationAccess(
    shown: PresentedToken,
    name: string,
  ): Promise<(Granted & { organization: HostOrganization }) | NotGranted>
  /** Whether the user sees a repository, and what else the host says about the user. Never fails. */
  checkPushAccess(
    shown: PresentedToken,
    repository: RepoName,
    questions: MembershipQuestions,
  ): Promise<PushAnswer>
  /** Whether `from` leads to `to`, or the user doesn't see `from`, and sees `to`. Never fails. */
  checkMoveAccess(shown: PresentedToken, from: RepoName, to: RepoName): Promise<Granted | NotGranted>
}

const RENAME_NOT_CONFIRMED =
  'With this token, the repository host doesn’t show that `to` is the new name of `from`. Send your own token with access to `to`, and check both names.'

/** The time budget for all of a request's calls. */
const BUDGET_MS = 5_000

/** How many redirects are followed from a repository's name. Hosts use one for each rename. */
const MAX_REDIRECTS = 5

/** A repository as a person sees it. */
type RepoVisibility =
  | { kind: 'granted' | 'denied' }
  | { kind: 'renamed'; renamedTo: string }
  | { kind: 'unseen'; because: NotGranted }

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

  /** The token's user. `foreign`: it isn't the expected one. */
  const identify = async (
    { token, userId, trace }: PresentedToken,
    signal: AbortSignal,
  ): Promise<(Granted & { user: HostUser }) | NotGranted | { outcome: 'foreign' }> => {
    try {
      const response = await get(token, host.userPath, signal, trace)
      const user = host.readUser(response)
      if (typeof user === 'string') return notGranted(user, response)
      return user.id === userId ? { outcome: 'granted', user } : { outcome: 'foreign' }
    } catch (error) {
      return failed(error)
    }
  }

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
    const belongsTo = async (organization: HostOrganization): Promise<boolean | undefined> => {
      const response = await membership(ask, user, organization).catch(() => 'unknown' as const)
      return response === 'unknown' ? undefined : response === 'member'
    }
    const ownsOne = async (organization: HostOrganization): Promise<boolean | undefined> => {
      const response = await owns(ask, user, organization).catch(() => undefined)
      if (response !== undefined) return response
      return (await belongsTo(organization)) === false ? false : undefined
    }
    return {
      list: () => list(ask).catch(() => undefined),
      ask: async (questions) => {
        const [ownsEach, belongsToEach] = await Promise.all([
          definiteAnswers(ownsOne, questions.owns),
          definiteAnswers(belongsTo, questions.belongsTo),
        ])
        return { owns: ownsEach, belongsTo: belongsToEach }
      },
    }
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

  const checkRepo = async (
    { token, trace }: PresentedToken,
    repository: RepoName,
    signal: AbortSignal,
  ): Promise<RepoVisibility> => {
    try {
      let path: string | undefined = host.repoPath(repository)
      let response = await get(token, path, signal, trace)
      for (let followed = 0; followed < MAX_REDIRECTS; followed++) {
        path = redirectedPath(response, path)
        if (path === undefined) break
        response = await get(token, path, signal, trace)
      }
      const access = host.readRepo(response, repository)
      if (access === 'granted' || access === 'denied') return { kind: access }
      if (typeof access === 'string') return { kind: 'unseen', because: notGranted(access, response) }
      const { renamedTo } = access
      return isRepoPath(renamedTo, kind) ? { kind: 'renamed', renamedTo } : { kind: 'denied' }
    } catch (error) {
      return { kind: 'unseen', because: failed(error) }
    }
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
    checkOrganizationAccess: async (shown, name) => {
      const { token, trace } = shown
      const signal = newBudget()
      const person = await identify(shown, signal)
      if (person.outcome === 'foreign') return organizationDenied()
      if (person.outcome !== 'granted') return person
      let last: UpstreamResponse | undefined
      const ask: Ask = async (path, below) => {
        last = await get(token, path, signal, trace, below)
        return last
      }
      try {
        const found = await host.organizations.administered(ask, person.user, name)
        if (typeof found !== 'string') return { outcome: 'granted', organization: found }
        return found === 'denied' || !last ? organizationDenied() : notGranted(found, last)
      } catch (error) {
        return failed(error)
      }
    },
    checkPushAccess: async (shown, repository, questions) => {
      const signal = newBudget()
      const person = await identify(shown, signal)
      if (person.outcome === 'foreign') return { ...repoDenied(), memberships: noAnswers() }
      if (person.outcome !== 'granted') return { ...person, memberships: noAnswers() }
      const { token, trace } = shown
      // At the same time, so that a slow answer about an organization leaves enough of the time for the repository.
      const [memberships, seen] = await Promise.all([
        membershipsOf(token, person.user, trace, signal).ask(questions).catch(noAnswers),
        checkRepo(shown, repository, signal),
      ])
      switch (seen.kind) {
        case 'granted':
          return { outcome: 'granted', memberships }
        case 'denied':
          return { ...repoDenied(), memberships }
        case 'renamed':
          return { ...failed(repoRenamed(seen.renamedTo)), memberships }
        case 'unseen':
          return { ...seen.because, memberships }
      }
    },
    checkMoveAccess: async (shown, from, to) => {
      const signal = newBudget()
      const person = await identify(shown, signal)
      if (person.outcome === 'foreign') return repoDenied()
      if (person.outcome !== 'granted') return person
      const old = await checkRepo(shown, from, signal)
      if (old.kind === 'unseen') return old.because
      if (old.kind === 'granted') return renameDenied()
      if (old.kind === 'renamed')
        return old.renamedTo.toLowerCase() === `${to.owner}/${to.repo}`.toLowerCase()
          ? { outcome: 'granted' }
          : renameDenied()
      const renamed = await checkRepo(shown, to, signal)
      if (renamed.kind === 'unseen') return renamed.because
      return renamed.kind === 'granted' ? { outcome: 'granted' } : renameDenied()
    },
  }
}

/** Asks about all organizations at once. */
const definiteAnswers = async (
  ask: (organization: HostOrganization) => Promise<boolean | undefined>,
  organizations: HostOrganization[] = [],
): Promise<Map<number, boolean>> => {
  const answers = await Promise.all(organizations.map(ask))
  return new Map(
    organizations.flatMap(({ id }, index) => {
      const answer = answers[index]
      return answer === undefined ? [] : [[id, answer] as const]
    }),
  )
}

const repoRenamed = (renamedTo: string): ApiError =>
  new ApiError('repo_renamed', {
    renamed_to: renamedTo,
    detail: `The repository is called ${renamedTo} at the repository host now. Use that name, for example in the address of your clone. An admin can move the stored settings to it.`,
  })

const notGranted = (
  failure: 'token-invalid' | 'rate-limited' | 'failed',
  response: UpstreamResponse,
): NotGranted => (failure === 'token-invalid' ? rejected : failed)(failureOf(failure, response))

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
