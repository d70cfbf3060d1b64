/** Reads and validates the parts of a delivery that can count. The rest of the payload is dropped. */
import type { RepohostKind } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { hostKinds } from '../../../platform/hosts/index.js'
import type { ReportedLeave } from '../../../platform/hosts/kind.js'
import { parseBody } from '../../../platform/http/json-body.js'
import type { BodyReader } from '../../../platform/http/large-body.js'
import { readPayload } from './form.js'

export interface DeliveryContext {
  kind: RepohostKind
  event: string
  /** Whether the body is form-encoded, with the payload in one field. */
  isForm: boolean
}

export interface DeliveredCommit {
  hash: string
  /** The UTC day of the commit. */
  day: string
  /** Undefined: the payload doesn't name a login that a member could have. */
  login: string | undefined
}

export interface DeliveredIssue {
  number: number
  closed: boolean
  login: string | undefined
  /** Milliseconds since the epoch. */
  at: number
  day: string
}

export interface Delivery {
  /** The name in the payload, if there is one. */
  repo: string | undefined
  /** Each hash once. */
  commits: DeliveredCommit[]
  issue: DeliveredIssue | undefined
  left: ReportedLeave | undefined
}

/** A payload with more commits than allowed in one delivery. */
export interface TooMuch {
  tooMany: number
}

const HASH = /^[0-9A-Za-z_-]{1,64}$/
const TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})$/
const REPO_LENGTH = 500

const momentOf = (text: string): number | undefined => {
  const moment = TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) || moment < 0 ? undefined : moment
}

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

const loginOf = (login: string | undefined): string | undefined =>
  login !== undefined && login.length <= limits.login_length && !login.includes('\0') ? login : undefined

const bounds = { depth: limits.json_depth, values: limits.webhook_json_values }

/** @throws {StrictJsonError} */
const readDelivery = (bytes: Buffer, { kind, event, isForm }: DeliveryContext): Delivery | TooMuch => {
  const payload = parseBody(isForm ? readPayload(bytes) : bytes, bounds)
  const { repo, commits, issue, left } = hostKinds[kind].readReport(event, payload)
  if (commits.length > limits.webhook_commits) return { tooMany: commits.length }
  const found = new Map<string, DeliveredCommit>()
  for (const { hash, login, at } of commits) {
    const moment = momentOf(at)
    if (moment === undefined || !HASH.test(hash)) continue
    // A commit with a named author replaces the same commit without one.
    const login_ = loginOf(login)
    if (!found.has(hash) || login_ !== undefined) found.set(hash, { hash, day: dayOf(moment), login: login_ })
  }
  const closedAt = issue && momentOf(issue.at)
  return {
    left,
    repo: repo !== undefined && repo.length <= REPO_LENGTH ? repo : undefined,
    commits: [...found.values()],
    issue:
      issue === undefined || closedAt === undefined
        ? undefined
        : { ...issue, login: loginOf(issue.login), at: closedAt, day: dayOf(closedAt) },
  }
}

export const reader: BodyReader<Delivery | TooMuch, DeliveryContext> = {
  module: import.meta.url,
  read: readDelivery,
}
