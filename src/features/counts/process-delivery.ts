import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays } from '../../platform/time/days.js'
import { dayAt } from '../../platform/time/zones.js'
import type { AddressKey } from '../accounts/index.js'
import { markDays, nameRepos, registerPeople } from '../minutes/index.js'
import { lockWorkspace, shareLockRoles } from '../workspaces/index.js'
import { type FoundMember, findMembersBy, matchesPatterns } from './queries/counts.js'
import {
  type AddedCount,
  addReportedCounts,
  deleteIssueCount,
  type IssueEvent,
  type IssueKey,
  identifyIssue,
  lockCommits,
  type ReportedRepo,
  readIssue,
  recordCommits,
  setIssue,
} from './queries/reported-counts.js'
import { findWebhook, insertDelivery } from './queries/webhooks.js'
import type {
  DeliveredCommit,
  DeliveredIssue,
  DeliveredPerson,
  Delivery,
  SkippedCommit,
} from './webhooks/delivery.js'

/** Identifies a delivery. */
export interface DeliveryHead {
  kind: RepohostKind
  webhookId: string
  workspaceId: string
  event: string
  deliveryId: string | undefined
}

/** The dependencies for counting a delivery. */
export interface DeliveryTarget {
  database: Database
  addressKeys: AddressKey[]
}

/** The numbers of commits and closed issues in a delivery, by what became of them. */
export interface Outcome {
  counted: number
  /** The payload names a login or a host id that isn't a member's. */
  notAMember: number
  /** All other people. The service doesn't reveal whether they have an account. */
  unknownAuthor: number
  outsidePatterns: number
  /** Commits that the host left out of the payload. */
  notDelivered: number
  countedBefore: number
  uploadDecides: number
  outOfRange: number
  unreadable: number
}

/** How many of a delivery's skipped commits are listed. */
const MAX_LISTED = 100
const SHORT_HASH = 10

const NOTHING: Outcome = {
  counted: 0,
  notAMember: 0,
  unknownAuthor: 0,
  outsidePatterns: 0,
  notDelivered: 0,
  countedBefore: 0,
  uploadDecides: 0,
  outOfRange: 0,
  unreadable: 0,
}

/** The workspace may be deleted in the meantime, and the same commits may arrive twice at once. */
const options = { rowsCanConflict: true }

/**
 * Counts everything in a signed delivery, or nothing. The counts don't depend on the order or the number of
 * deliveries.
 * @throws {ApiError} `webhook_not_found` if the webhook was deleted in the meantime
 */
export const processDelivery = async (
  { database, addressKeys }: DeliveryTarget,
  head: DeliveryHead,
  delivery: Delivery,
): Promise<Outcome> => {
  const { repo, notDelivered, unreadable } = delivery
  const today = await readToday(database)
  return database.transaction(async (tx) => {
    const { skippedCommits, ...counted } = await count(tx, addressKeys, head, delivery, today)
    const outcome = { ...counted, notDelivered, unreadable }
    await list(tx, head, { repo, status: 200, outcome, skippedCommits })
    return outcome
  }, options)
}

/** Lists a signed delivery that couldn't be read. */
export const recordFailure = (database: Database, head: DeliveryHead, failure: ApiError): Promise<void> =>
  database.transaction(
    (tx) => list(tx, head, { repo: undefined, status: failure.status, outcome: NOTHING, skippedCommits: [] }),
    options,
  )

/**
 * Until the transaction ends, no one can delete the webhook.
 * @throws {ApiError} `webhook_not_found` if it was deleted in the meantime
 */
export const lockWebhook = async (tx: Db, { webhookId, workspaceId }: DeliveryHead): Promise<void> => {
  // Sent together. The webhook is read once the lock is held.
  const [, webhook] = await Promise.all([lockWorkspace(tx, workspaceId), findWebhook(tx, webhookId)])
  if (!webhook) throw new ApiError('webhook_not_found')
}

interface Listed {
  repo: string | undefined
  status: number
  outcome: Outcome
  skippedCommits: SkippedCommit[]
}

/**
 * Lists the delivery, if the webhook still exists. Roles are locked only now, because no one can change one or delete
 * the workspace until the transaction ends.
 */
const list = async (
  tx: Db,
  { webhookId, workspaceId, event, deliveryId }: DeliveryHead,
  { repo, status, outcome, skippedCommits }: Listed,
): Promise<void> => {
  const { counted, notAMember, unknownAuthor, outsidePatterns, notDelivered } = outcome
  const skipped = notAMember + unknownAuthor + outsidePatterns
  // Sent together. The webhook is read once the roles are locked.
  const [, webhook] = await Promise.all([
    shareLockRoles(tx, workspaceId),
    findWebhook(tx, webhookId),
    insertDelivery(tx, workspaceId, {
      ...{ event, deliveryId, repo, status, counted, skipped, notAMember, unknownAuthor, outsidePatterns },
      ...{
        notDelivered,
        skippedCommits: skippedCommits.length > 0 ? skippedCommits.slice(0, MAX_LISTED) : null,
      },
    }),
  ])
  if (!webhook) throw new ApiError('webhook_not_found')
}

const count = async (
  tx: Db,
  addressKeys: AddressKey[],
  { workspaceId, kind }: DeliveryHead,
  { repo, commits, issue }: Delivery,
  today: string,
): Promise<Outcome & Pick<Listed, 'skippedCommits'>> => {
  if (commits.length === 0 && !issue) return { ...NOTHING, skippedCommits: [] }
  const isRecent = ({ day }: { day: string }) =>
    day >= addDays(today, -limits.webhook_days) && day <= addDays(today, 1)
  const repoKey = repo?.toLowerCase()
  const isPath = repo !== undefined && repoKey !== undefined && isRepoPath(repo, kind)
  const [inside, membersBy] = await Promise.all([
    isPath && matchesPatterns(tx, workspaceId, repoKey),
    findPeople(tx, addressKeys, workspaceId, [...commits.map(({ author }) => author), issue?.by]),
  ])
  const dated = commits.map((commit) => {
    const member = memberOf(membersBy, commit.author)
    return { ...commit, member, day: commit.shownDay ?? dayAt(zoneOf(member), commit.at) }
  })
  const recent = dated.filter(isRecent)
  const closer = issue?.closed ? memberOf(membersBy, issue.by) : null
  const datedIssue = issue && { ...issue, day: dayAt(zoneOf(closer), issue.at) }
  const recentIssue = datedIssue && isRecent(datedIssue) ? datedIssue : undefined
  const closed = recentIssue?.closed ? [recentIssue] : []
  const outOfRange = dated.length - recent.length + (issue && !recentIssue ? 1 : 0)
  if (!isPath || !inside) {
    const outsidePatterns = recent.length + closed.length
    return { ...NOTHING, outOfRange, outsidePatterns, skippedCommits: recent.map(outsideCommit) }
  }
  const place = { workspaceId, repo, repoKey }
  const known = recent.flatMap(({ member, ...commit }) => (member ? [{ ...commit, member }] : []))
  const people = new Set(known.map(({ member }) => member.userId))
  if (closer && recentIssue) people.add(closer.userId)
  const [, , , fresh] = await Promise.all([
    known.length > 0 && lockCommits(tx, workspaceId),
    people.size > 0 && registerPeople(tx, workspaceId, [...people]),
    people.size > 0 && nameRepos(tx, workspaceId, [place]),
    known.length > 0 ? recordCommits(tx, place, known) : new Set<string>(),
  ])
  const ofCommits = await countCommits(
    tx,
    place,
    known.filter(({ hash }) => fresh.has(hash)),
  )
  const ofIssue = recentIssue ? await countIssue(tx, place, recentIssue, closer) : 0
  const strangers = [
    ...recent.flatMap(({ member, author }) => (member ? [] : [author])),
    ...(closer ? [] : closed.map(({ by }) => by)),
  ]
  const unknownAuthor = strangers.filter(isUnknown).length
  return {
    ...NOTHING,
    counted: ofCommits + ofIssue,
    notAMember: strangers.length - unknownAuthor,
    unknownAuthor,
    countedBefore: known.length - fresh.size,
    uploadDecides: fresh.size - ofCommits,
    outOfRange,
    skippedCommits: recent.filter(({ member }) => !member).map(strangersCommit),
  }
}

const isUnknown = (person: DeliveredPerson | undefined): boolean =>
  person === undefined || 'address' in person

/** The author may be a member, whose work in other repositories isn't the workspace's business. */
const outsideCommit = ({ hash }: DeliveredCommit): SkippedCommit => ({
  hash: hash.slice(0, SHORT_HASH),
  author: null,
  because: 'outside_patterns',
})

const strangersCommit = ({ hash, author, login }: DeliveredCommit): SkippedCommit => ({
  hash: hash.slice(0, SHORT_HASH),
  author: login ?? null,
  ...(login !== undefined && { login: login.toLowerCase() }),
  because: isUnknown(author) ? 'unknown_author' : 'not_a_member',
})

const zoneOf = (member: FoundMember | null): string => member?.timezone ?? 'UTC'

interface MembersBy {
  login: Map<string, FoundMember>
  id: Map<number, FoundMember>
  address: Map<string, FoundMember>
}

/** The members among the people whom a payload names. */
const findPeople = async (
  tx: Db,
  addressKeys: AddressKey[],
  workspaceId: string,
  people: (DeliveredPerson | undefined)[],
): Promise<MembersBy> => {
  const logins = new Set<string>()
  const ids = new Set<number>()
  const addresses = new Map<string, string>()
  for (const person of people) {
    if (!person) continue
    if ('login' in person) logins.add(person.login.toLowerCase())
    else if ('id' in person) ids.add(person.id)
    else for (const key of addressKeys) addresses.set(key.hmacOf(person.address), person.address)
  }
  // PostgreSQL can't store NUL, so no member has it in the login.
  const possible = [...logins].filter((login) => !login.includes('\0'))
  const [login, id, byHmac] = await Promise.all([
    findMembersBy(tx, workspaceId, 'login', possible),
    findMembersBy(tx, workspaceId, 'id', [...ids]),
    findMembersBy(tx, workspaceId, 'address', [...addresses.keys()]),
  ])
  const address = new Map([...byHmac].map(([hmac, member]) => [addresses.get(hmac) ?? '', member]))
  return { login, id, address }
}

const memberOf = (found: MembersBy, person: DeliveredPerson | undefined): FoundMember | null => {
  if (!person) return null
  if ('login' in person) return found.login.get(person.login.toLowerCase()) ?? null
  return ('id' in person ? found.id.get(person.id) : found.address.get(person.address)) ?? null
}

/** The counts of new commits. */
const countCommits = async (
  tx: Db,
  place: ReportedRepo,
  commits: { day: string; member: FoundMember }[],
): Promise<number> => {
  const added = new Map<string, AddedCount & { key: string }>()
  for (const { day, member } of commits) {
    const { userId, loginKey } = member
    const key = `${day} ${loginKey}`
    const known = added.get(key)
    if (known) known.more++
    else added.set(key, { key, day, userId, more: 1 })
  }
  const counts = [...added.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  const changed = await addReportedCounts(tx, 'commits', place, counts)
  if (changed.length === 0) return 0
  await markDays(tx, place.workspaceId, [...new Set(changed.map(({ day }) => day))])
  const places = new Set(changed.map(({ userId, day }) => `${userId} ${day}`))
  return counts
    .filter(({ userId, day }) => places.has(`${userId} ${day}`))
    .reduce((sum, { more }) => sum + more, 0)
}

const countIssue = async (
  tx: Db,
  place: ReportedRepo,
  issue: DeliveredIssue & { day: string },
  closer: FoundMember | null,
): Promise<number> => {
  const { id, number } = issue
  const { workspaceId, repoKey } = place
  const key = id === undefined ? { workspaceId, repoKey, number } : { workspaceId, repoKey: '', number: id }
  if (id !== undefined) await identifyIssue(tx, place, number, id)
  const event = await placeIssue(tx, key, issue, closer)
  if (!event) return 0
  const { day } = event
  const changed = await setIssue(tx, key, place, event)
  if (!changed) return 0
  const { before, countedIn, now } = changed
  const isLess =
    before !== null && (await deleteIssueCount(tx, { ...place, repoKey: countedIn }, before, day))
  const more = now === null ? [] : [{ userId: now, day, more: 1 }]
  const isMore = (await addReportedCounts(tx, 'closed_issues', place, more)).length > 0
  if (isLess || isMore) await markDays(tx, place.workspaceId, [day])
  return isMore ? 1 : 0
}

/**
 * Finds the event that decides, and the day that it counts on. A closed issue counts on the closer's local
 * day, unless it was reopened that day. Reopening it is stored on the day on which closing it counted, even
 * if the closer's time zone has changed. Undefined: the event is known.
 */
const placeIssue = async (
  tx: Db,
  key: IssueKey,
  { day, at, closed }: DeliveredIssue & { day: string },
  closer: FoundMember | null,
): Promise<IssueEvent | undefined> => {
  const userId = closer?.userId ?? null
  const known = (await readIssue(tx, key, day)).map((one) => ({ ...one, ms: Date.parse(one.at) }))
  if (known.some((one) => one.ms === at && one.closed === closed && one.userId === userId)) return undefined
  const event = { day, at: new Date(at).toISOString(), closed, userId }
  if (closed) {
    const zone = zoneOf(closer)
    const reopened = known.findLast((one) => !one.closed && one.ms > at && dayAt(zone, one.ms) === day)
    return reopened ? { ...event, at: reopened.at, closed: false, userId: null } : event
  }
  const undone = known.findLast((one) => one.closed && one.ms < at)
  if (!undone) return event
  const zone = undone.timezone ?? 'UTC'
  const daySeen = dayAt(zone, at)
  return { ...event, day: daySeen === dayAt(zone, undone.ms) ? undone.day : daySeen }
}
