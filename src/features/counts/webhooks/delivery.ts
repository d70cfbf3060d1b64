/** Reads and validates the parts of a delivery that can count. The rest of the payload is dropped. */
import { createHash } from 'node:crypto'
import type { RepohostKind } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { isRepoPath } from '../../../../schemas/owners.js'
import { hostKinds } from '../../../platform/hosts/index.js'
import type {
  AddressOwner,
  ReportedCommit,
  ReportedIssue,
  ReportedLeave,
  ReportedRename,
} from '../../../platform/hosts/kind.js'
import { readJson } from '../../../platform/http/json-values.js'
import { isDay } from '../../../platform/time/days.js'
import { readPayload } from './form.js'

export interface DeliveryContext {
  kind: RepohostKind
  /** The hostname of the repository host. */
  hostname: string
  event: string
  /** Whether the body is form-encoded, with the payload in one field. */
  isForm: boolean
}

/** A person in a payload. The address is in lower case; only the host knows who owns it. */
export type DeliveredPerson = AddressOwner | { address: string }

export interface DeliveredCommit {
  hash: string
  /** Milliseconds since the epoch. */
  at: number
  /**
   * The author's local date, from the timestamp's offset. Null: the timestamp is in UTC, which says nothing about the
   * author.
   */
  shownDay: string | null
  /** Undefined: the payload doesn't name anyone. */
  author: DeliveredPerson | undefined
  /** The author's login in the payload. */
  login: string | undefined
}

/** A commit in a delivery that doesn't count. */
export interface SkippedCommit {
  /** The first characters of the commit's hash. */
  hash: string
  /** A login. Null: the payload has none, or the commit is outside the patterns. */
  author: string | null
  because: 'not_a_member' | 'unknown_author' | 'outside_patterns'
  /** The login in lower case, by which the deletion of an account finds it. */
  login?: string
}

export interface DeliveredIssue {
  /** The host's id. Undefined: the payload has none. */
  id: number | undefined
  number: number
  closed: boolean
  /** The person who closed or reopened it. */
  by: DeliveredPerson | undefined
  /** Milliseconds since the epoch. */
  at: number
}

export interface Delivery {
  /** Whether the event has an effect, or is of a kind that can count. */
  isListed: boolean
  /** The name in the payload, if there is one. */
  repo: string | undefined
  /** Commits with a hash and a time, each hash once. */
  commits: DeliveredCommit[]
  /** Commits without a hash or a time. */
  unreadable: number
  /** How many commits the host left out. */
  notDelivered: number
  issue: DeliveredIssue | undefined
  left: ReportedLeave | undefined
  /** `hash` is the SHA-256 of the payload, which tells whether the report is new. */
  renamed: (ReportedRename & { hash: string }) | undefined
}

/** A payload with more commits than allowed in one delivery. */
export interface TooMuch {
  tooMany: number
}

const HASH = /^[0-9A-Za-z_-]{1,64}$/
const TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})$/
const REPO_LENGTH = 500
/** PostgreSQL can't store NUL. */
const NUL = '\0'

/** The longest valid e-mail address. */
const MAX_EMAIL_LENGTH = 320

const parseTimestamp = (text: string): number | undefined => {
  const moment = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) || moment < 0 ? undefined : moment
}

/** No member's login is longer, so cutting it here changes none. */
const cutLogin = (login: string): string => login.slice(0, limits.login_length + 1)

/** The id decides, because a login can change hands. */
const personOf = ({ id, login }: Pick<ReportedIssue, 'id' | 'login'>): DeliveredPerson | undefined => {
  if (id !== undefined) return { id }
  return login === undefined ? undefined : { login: cutLogin(login) }
}

/** Prefers an id to a login, and a login to an address. Addresses are compared in lower case. */
const authorOf = (
  commit: ReportedCommit,
  { kind, hostname }: DeliveryContext,
): DeliveredPerson | undefined => {
  const isAddress = commit.address !== undefined && commit.address.length <= MAX_EMAIL_LENGTH
  const address = isAddress ? commit.address?.toLowerCase() : undefined
  const owner = address === undefined ? undefined : hostKinds[kind].ownerOfPrivateAddress(address, hostname)
  if (owner && 'id' in owner) return owner
  return personOf(commit) ?? owner ?? (address === undefined ? undefined : { address })
}

/** The login in a commit, without what PostgreSQL's JSON can't hold: NUL and lone surrogates. */
const shownLogin = ({ login }: ReportedCommit): string | undefined =>
  login === undefined ? undefined : cutLogin(login).replaceAll(NUL, '').toWellFormed()

/** Commit messages and the like may contain anything, so the properties that matter are checked below. */
const bounds = {
  depth: limits.webhook_json_depth,
  values: limits.webhook_json_values,
  lenient: true,
} as const

/** @throws {StrictJsonError} */
export const readDelivery = async (bytes: Buffer, context: DeliveryContext): Promise<Delivery | TooMuch> => {
  const { kind, event, isForm } = context
  const text = isForm ? await readPayload(bytes) : bytes
  const payload = await readJson(text, bounds)
  const report = hostKinds[kind].readReport(event, payload)
  const { repo, commits, notDelivered, issue, left, renamed } = report
  if (commits.length > limits.webhook_commits) return { tooMany: commits.length }
  const found = new Map<string, DeliveredCommit>()
  let unreadable = 0
  for (const commit of commits) {
    const { hash, at: written } = commit
    const at = parseTimestamp(written)
    if (at === undefined || !HASH.test(hash)) {
      unreadable++
      continue
    }
    // A commit with a named author replaces the same commit without one.
    if (found.has(hash) && commit.id === undefined && commit.login === undefined) continue
    const shownDay = written.endsWith('Z') ? null : written.slice(0, 10)
    found.set(hash, { hash, at, shownDay, author: authorOf(commit, context), login: shownLogin(commit) })
  }
  const closedAt = issue && parseTimestamp(issue.at)
  const isRename = renamed !== undefined && isRepoPath(renamed.from, kind) && isRepoPath(renamed.to, kind)
  return {
    isListed: report.canCount || left !== undefined || isRename,
    left,
    renamed: isRename ? { ...renamed, hash: createHash('sha256').update(text).digest('hex') } : undefined,
    repo: repo !== undefined && repo.length <= REPO_LENGTH && !repo.includes(NUL) ? repo : undefined,
    commits: [...found.values()],
    unreadable,
    notDelivered,
    issue:
      issue === undefined || closedAt === undefined
        ? undefined
        : {
            id: issue.issueId,
            number: issue.number,
            closed: issue.closed,
            by: personOf(issue),
            at: closedAt,
          },
  }
}
