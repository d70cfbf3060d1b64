/** The repository host: who owns a token, and what it gives access to. Each kind of host is one file beside this one. */
import type { RepohostKind } from '../../../schemas/common.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { ApiError } from '../../errors.js'
import type { Trace } from '../http/trace.js'
import { getJsonFrom, rateLimitedUpstream, type UpstreamResponse } from '../http/upstream.js'
import type { Meter } from '../metrics/meter.js'
import { hostKinds } from './index.js'
import type { Ask, HostLogin, HostOrganization, HostUser, RepoName, StatedAddresses } from './kind.js'

/** The host, as the operator has configured it. */
export interface Repohost {
  kind: RepohostKind
  url: string
  apiUrl: string
  /** The OAuth apps whose tokens are accepted. Undefined: all. */
  allowedClientIds: string[] | undefined
  /** The time for all of a request's calls. */
  budgetMs: number
  meter: Meter
}

export const BUDGET_MS = 5_000

/** A person's token, and the time that is left to call the host with it. */
export interface HostCall {
  token: string
  trace: Trace | undefined
  budget: AbortSignal
}

/** Starts the time for all of a request's calls. */
export const beginCall = ({ budgetMs }: Repohost, token: string, trace: Trace | undefined): HostCall => ({
  token,
  trace,
  budget: AbortSignal.timeout(budgetMs),
})

/** A token, and the host's user that it must belong to. */
interface PresentedToken {
  token: string
  userId: number
  trace: Trace | undefined
}

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

const notGranted = (failure: Failure, response: UpstreamResponse): NotGranted =>
  (failure === 'token-invalid' ? rejected : failed)(failureOf(failure, response))

type Failure = 'token-invalid' | 'rate-limited' | 'failed'

const failureOf = (failure: Failure, { headers }: UpstreamResponse): ApiError => {
  switch (failure) {
    case 'token-invalid':
      return new ApiError('repohost_token_invalid')
    case 'rate-limited':
      return rateLimitedUpstream('repohost', headers)
    case 'failed':
      return new ApiError('upstream_failed', { upstream: 'repohost' })
  }
}

/** Requests a path below the host's API, or below its own address, as the token's user. @throws {ApiError} */
const get = (
  { kind, url, apiUrl, meter }: Repohost,
  { token, trace, budget }: HostCall,
  path: string,
  below: 'api' | 'address' = 'api',
): Promise<UpstreamResponse> =>
  getJsonFrom('repohost', meter)(
    `${below === 'api' ? apiUrl : url}${path}`,
    { ...hostKinds[kind].apiHeaders(token), 'User-Agent': 'team-settings-cloud' },
    budget,
    trace,
  )

const askAs =
  (host: Repohost, call: HostCall): Ask =>
  (path, below) =>
    get(host, call, path, below)

// Sign-ins

export interface RepohostUser extends HostUser {
  /** Undefined: they aren't needed. */
  addresses: StatedAddresses | undefined
}

/**
 * The person who signs in. Their addresses are included if the host returns them in time.
 * @throws {ApiError} `repohost_token_invalid`, `upstream_failed`, `upstream_timeout`
 */
export const readTokenUser = async (host: Repohost, call: HostCall): Promise<RepohostUser> => {
  const kind = hostKinds[host.kind]
  // Checked first, because a token without an app never gets one.
  const app = await readTokenApp(host, call)
  const response = await get(host, call, kind.userPath)
  const found = kind.readUser(response)
  if (typeof found === 'string') throw failureOf(found, response)
  const user = { ...found, ...app }
  if (!kind.addresses) return { ...user, addresses: undefined }
  const list = await get(host, call, kind.addresses.path).catch(() => undefined)
  return { ...user, addresses: kind.addresses.read(response, list) }
}

/** A token's OAuth app, on hosts that report it separately from the user. Looked up only if it matters. */
const readTokenApp = async (host: Repohost, call: HostCall): Promise<{ clientId?: string }> => {
  const { appOfToken } = hostKinds[host.kind]
  if (!host.allowedClientIds || typeof appOfToken !== 'object') return {}
  const response = await get(host, call, appOfToken.path, 'address')
  const app = appOfToken.read(response)
  if (app === 'none') return {}
  if (typeof app === 'string') throw failureOf(app, response)
  return app
}

// Organizations

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

/** The organizations that the token's user belongs to. Undefined if the host doesn't say. Never fails. */
export const listOrganizations = (
  host: Repohost,
  call: HostCall,
): Promise<HostOrganization[] | 'scope-missing' | undefined> =>
  hostKinds[host.kind].organizations.list(askAs(host, call)).catch(() => undefined)

/** Asks about all organizations at once. Never fails. */
export const askMemberships = async (
  host: Repohost,
  call: HostCall,
  user: HostLogin,
  { owns = [], belongsTo = [] }: MembershipQuestions,
): Promise<MembershipAnswers> => {
  const [owned, joined] = await Promise.all([
    Promise.all(owns.map((organization) => askOwns(host, call, user, organization))),
    Promise.all(belongsTo.map((organization) => askBelongsTo(host, call, user, organization))),
  ])
  return { owns: clearAnswers(owns, owned), belongsTo: clearAnswers(belongsTo, joined) }
}

const askBelongsTo = async (
  host: Repohost,
  call: HostCall,
  user: HostLogin,
  organization: HostOrganization,
): Promise<boolean | undefined> => {
  const { membership } = hostKinds[host.kind].organizations
  const response = await membership(askAs(host, call), user, organization).catch(() => 'unknown' as const)
  return response === 'unknown' ? undefined : response === 'member'
}

const askOwns = async (
  host: Repohost,
  call: HostCall,
  user: HostLogin,
  organization: HostOrganization,
): Promise<boolean | undefined> => {
  const { owns } = hostKinds[host.kind].organizations
  const response = await owns(askAs(host, call), user, organization).catch(() => undefined)
  if (response !== undefined) return response
  return (await askBelongsTo(host, call, user, organization)) === false ? false : undefined
}

const clearAnswers = (
  organizations: HostOrganization[],
  answers: (boolean | undefined)[],
): Map<number, boolean> =>
  new Map(
    organizations.flatMap(({ id }, index) => {
      const answer = answers[index]
      return answer === undefined ? [] : [[id, answer] as const]
    }),
  )

/** Another organization can be tried with the same token. */
const organizationDenied = (): NotGranted => failed(new ApiError('organization_access_denied'))

/** The organization with this name, if the token proves that its user owns or administers it. Never fails. */
export const checkOrganizationAccess = async (
  host: Repohost,
  shown: PresentedToken,
  name: string,
): Promise<(Granted & { organization: HostOrganization }) | NotGranted> => {
  const call = beginCall(host, shown.token, shown.trace)
  const person = await identify(host, call, shown.userId)
  if (person.outcome === 'foreign') return organizationDenied()
  if (person.outcome !== 'granted') return person
  let last: UpstreamResponse | undefined
  const ask: Ask = async (path, below) => {
    last = await get(host, call, path, below)
    return last
  }
  try {
    const found = await hostKinds[host.kind].organizations.administered(ask, person.user, name)
    if (typeof found !== 'string') return { outcome: 'granted', organization: found }
    return found === 'denied' || !last ? organizationDenied() : notGranted(found, last)
  } catch (error) {
    return failed(error)
  }
}

/** The token's user. `foreign`: it isn't the expected one. */
const identify = async (
  host: Repohost,
  call: HostCall,
  userId: number,
): Promise<(Granted & { user: HostUser }) | NotGranted | { outcome: 'foreign' }> => {
  const { userPath, readUser } = hostKinds[host.kind]
  try {
    const response = await get(host, call, userPath)
    const user = readUser(response)
    if (typeof user === 'string') return notGranted(user, response)
    return user.id === userId ? { outcome: 'granted', user } : { outcome: 'foreign' }
  } catch (error) {
    return failed(error)
  }
}

// Repositories

const repoDenied = (): NotGranted => rejected(new ApiError('repo_access_denied'))

const repoRenamed = (renamedTo: string): ApiError =>
  new ApiError('repo_renamed', {
    renamed_to: renamedTo,
    detail: `The repository is called ${renamedTo} at the repository host now. Use that name, for example in the address of your clone. An admin can move the stored settings to it.`,
  })

/** Whether the user sees a repository, and what else the host says about the user. Never fails. */
export const checkPushAccess = async (
  host: Repohost,
  shown: PresentedToken,
  repository: RepoName,
  questions: MembershipQuestions,
): Promise<(Granted | NotGranted) & { memberships: MembershipAnswers }> => {
  const call = beginCall(host, shown.token, shown.trace)
  const person = await identify(host, call, shown.userId)
  if (person.outcome === 'foreign') return { ...repoDenied(), memberships: noAnswers() }
  if (person.outcome !== 'granted') return { ...person, memberships: noAnswers() }
  // At the same time, so that a slow answer about an organization leaves enough of the time for the repository.
  const [memberships, seen] = await Promise.all([
    askMemberships(host, call, person.user, questions),
    checkRepo(host, call, repository),
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
}

const RENAME_NOT_CONFIRMED =
  'With this token, the repository host doesn’t show that `to` is the new name of `from`. Send your own token with access to `to`, and check both names.'

const renameDenied = (): NotGranted =>
  rejected(new ApiError('repo_access_denied', { detail: RENAME_NOT_CONFIRMED }))

/** Whether `from` leads to `to`, or the user doesn't see `from`, and sees `to`. Never fails. */
export const checkMoveAccess = async (
  host: Repohost,
  shown: PresentedToken,
  from: RepoName,
  to: RepoName,
): Promise<Granted | NotGranted> => {
  const call = beginCall(host, shown.token, shown.trace)
  const person = await identify(host, call, shown.userId)
  if (person.outcome === 'foreign') return repoDenied()
  if (person.outcome !== 'granted') return person
  const old = await checkRepo(host, call, from)
  if (old.kind === 'unseen') return old.because
  if (old.kind === 'granted') return renameDenied()
  if (old.kind === 'renamed')
    return old.renamedTo.toLowerCase() === `${to.owner}/${to.repo}`.toLowerCase()
      ? { outcome: 'granted' }
      : renameDenied()
  const renamed = await checkRepo(host, call, to)
  if (renamed.kind === 'unseen') return renamed.because
  return renamed.kind === 'granted' ? { outcome: 'granted' } : renameDenied()
}

/** A repository as a person sees it. */
type RepoVisibility =
  | { kind: 'granted' | 'denied' }
  | { kind: 'renamed'; renamedTo: string }
  | { kind: 'unseen'; because: NotGranted }

/** How many redirects are followed from a repository's name. Hosts use one for each rename. */
const MAX_REDIRECTS = 5

const checkRepo = async (host: Repohost, call: HostCall, repository: RepoName): Promise<RepoVisibility> => {
  const { repoPath, readRepo } = hostKinds[host.kind]
  try {
    let path: string | undefined = repoPath(repository)
    let response = await get(host, call, path)
    for (let followed = 0; followed < MAX_REDIRECTS; followed++) {
      path = redirectedPath(host.apiUrl, response, path)
      if (path === undefined) break
      response = await get(host, call, path)
    }
    const access = readRepo(response, repository)
    if (access === 'granted' || access === 'denied') return { kind: access }
    if (typeof access === 'string') return { kind: 'unseen', because: notGranted(access, response) }
    const { renamedTo } = access
    return isRepoPath(renamedTo, host.kind) ? { kind: 'renamed', renamedTo } : { kind: 'denied' }
  } catch (error) {
    return { kind: 'unseen', because: failed(error) }
  }
}

/** The path, below the API, that a response redirects to. Undefined if it doesn't, or leads out of the API. */
const redirectedPath = (
  apiUrl: string,
  { status, headers }: UpstreamResponse,
  path: string,
): string | undefined => {
  const location = headers.get('location')
  if (![301, 302, 307, 308].includes(status) || location === null) return undefined
  const requestedUrl = `${apiUrl}${path}`
  if (!URL.canParse(location, requestedUrl)) return undefined
  const { origin, pathname, search } = new URL(location, requestedUrl)
  const api = new URL(`${apiUrl}/`)
  if (origin !== api.origin || !pathname.startsWith(api.pathname)) return undefined
  return `${pathname.slice(api.pathname.length - 1)}${search}`
}
