/** The differences between kinds of repository host. Each kind is one file beside this one. */
import type { IncomingHttpHeaders } from 'node:http'
import type { UpstreamResponse } from '../http/upstream.js'

export interface HostUser {
  /** The host's numeric id, which never changes hands. */
  id: number
  login: string
  avatarUrl: string
  /** The OAuth app that the token was made for, if the host says so. */
  clientId: string | undefined
}

/** A person about whom the host is asked. */
export type HostLogin = Pick<HostUser, 'id' | 'login'>

/** The result of a request about a token or about repository access. `failed`: the response has no known format. */
export type UserResponse = HostUser | 'token-invalid' | 'rate-limited' | 'failed'
/** `none` for tokens that people create themselves, without an app. */
export type AppResponse = { clientId: string } | 'none' | 'rate-limited' | 'failed'
export type RefusalResponse = 'denied' | 'token-invalid' | 'rate-limited' | 'failed'
/** `renamedTo`: the repository's current name at the host. The name's format isn't checked yet. */
export type RepoResponse = 'granted' | { renamedTo: string } | RefusalResponse

export interface RepoName {
  owner: string
  repo: string
}

/** An organization, or a GitLab group by its full path. */
export interface HostOrganization {
  /** The host never reassigns an id, unlike a name. */
  id: number
  name: string
}

/** Whether a person belongs to an organization. `unknown` is any answer that isn't a clear yes or no. */
export type MembershipResponse = 'member' | 'not-a-member' | 'unknown'

/** Requests a path below the host's API, or below its own address, as a person. @throws {ApiError} */
export type Ask = (path: string, below?: 'api' | 'address') => Promise<UpstreamResponse>

/** A host's response about the organizations that a person belongs to. */
export interface HostOrganizations {
  /** The scope that a token needs for this. */
  scope: string
  /** Organizations that the person belongs to, or some of very many. Undefined if the host doesn't say. */
  list(ask: Ask): Promise<HostOrganization[] | 'scope-missing' | undefined>
  /** Only a clear "no" removes people, and a name that has changed hands says nothing about the organization. */
  membership(ask: Ask, user: HostLogin, organization: HostOrganization): Promise<MembershipResponse>
  /** Whether the person owns or administers it, if the host says so clearly. */
  owns(ask: Ask, user: HostLogin, organization: HostOrganization): Promise<boolean | undefined>
  /** The organization with this name, if the person owns or administers it. */
  administered(ask: Ask, user: HostLogin, name: string): Promise<HostOrganization | RefusalResponse>
}

/** A person who left an organization, as reported by a webhook. */
export interface ReportedLeave {
  organizationId: number
  userId: number
}

/** A repository that got another name. Both are `owner/repo`. */
export interface ReportedRename {
  from: string
  to: string
}

/** A commit that was pushed to the default branch. */
export interface ReportedCommit {
  hash: string
  /** The author's id, login and e-mail address. Undefined if the payload doesn't have them. */
  id: number | undefined
  login: string | undefined
  address: string | undefined
  at: string
}

/** The person to whom the host has given a private address. */
export type AddressOwner = { id: number } | { login: string }

/** The addresses of the person who signs in, according to the host. */
export interface StatedAddresses {
  /** Each with the UTC day on which it was confirmed. */
  confirmed: { address: string; day: string }[]
  unconfirmed: string[]
  /** Whether these are all of the person's addresses. */
  isComplete: boolean
}

/** An issue that was closed or reopened. */
export interface ReportedIssue {
  /** The host's id of the issue. Undefined: the payload has none. */
  issueId: number | undefined
  number: number
  closed: boolean
  id: number | undefined
  login: string | undefined
  at: string
}

/** A delivery's content. Everything in it comes from the caller and is checked where it is used. */
export interface Report {
  /** Whether events of this kind can count, even if this one doesn't. */
  canCount: boolean
  /** `owner/repo`; at GitLab, the owner is a group path. */
  repo: string | undefined
  commits: ReportedCommit[]
  /** How many commits the host left out. */
  notDelivered: number
  issue: ReportedIssue | undefined
  left?: ReportedLeave | undefined
  renamed?: ReportedRename | undefined
}

/** How a delivery proves that it knows the secret: an HMAC-SHA256 of the body in hex, or the secret itself. */
export type Proof = { hmac: string } | { secret: string }

export interface HostKind {
  /** The display name. */
  name: string
  /** Undefined: every installation has its own. */
  defaultUrl: string | undefined
  /** Where a host at this address has its API. @param url without a slash at the end */
  apiUrlOf(url: string): string
  /** The page, below the host's address, where people create a token. */
  tokenPage: string
  oauth: { authorizePath: string; tokenPath: string; scope: string }

  /**
   * How the host says which OAuth app a token was made for: with the user (`HostUser.clientId`), or at a separate path
   * below its address. Undefined: it doesn't.
   */
  appOfToken: 'with the user' | { path: string; read(response: UpstreamResponse): AppResponse } | undefined
  apiHeaders(token: string): Record<string, string>
  userPath: string
  readUser(response: UpstreamResponse): UserResponse
  /** Undefined: the host's payloads name people by login, so their addresses aren't needed. */
  addresses:
    | { path: string; read(user: UpstreamResponse, list: UpstreamResponse | undefined): StatedAddresses }
    | undefined
  repoPath(name: RepoName): string
  readRepo(response: UpstreamResponse, name: RepoName): RepoResponse

  organizations: HostOrganizations

  /** The doctor requests this path without a token. */
  probePath: string
  /** Whether the response to `probePath` comes from a host of this kind. */
  recognizes(response: UpstreamResponse): boolean

  /** A delivery's proof. Undefined if it's missing or malformed. */
  readProof(headers: IncomingHttpHeaders): Proof | undefined
  readEvent(headers: IncomingHttpHeaders): string | undefined
  readDeliveryId(headers: IncomingHttpHeaders): string | undefined
  /** The events that can have an effect. All others aren't even read. */
  events: ReadonlySet<string>
  /** Whether the signature of a form covers the JSON in it, and not the form. */
  signsPayloadOfForm: boolean
  readReport(event: string, payload: unknown): Report
  /** @param address in lower case @param hostname of the host's own address. Hosts below a path use it, too. */
  ownerOfPrivateAddress(address: string, hostname: string): AddressOwner | undefined
}
