import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/subgroups.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { readToday } from '../../platform/time/clock.js'
import { addDays } from '../../platform/time/days.js'
import { markDays } from '../minutes/index.js'
import { holdRoles } from '../workspaces/index.js'
import { findMembers, isInside, registerPeople } from './queries/counts.js'
import {
  type AddedCount,
  addReportedCounts,
  nameReportedRepo,
  type ReportedRepo,
  setIssue,
  takeCommits,
  takeIssueBack,
} from './queries/reported-counts.js'
import { findWebhook, insertDelivery } from './queries/webhooks.js'
import type { DeliveredCommit, DeliveredIssue, Delivery } from './webhooks/delivery.js'

/** A delivery's name. */
export interface DeliveryHead {
  kind: RepohostKind
  webhookId: string
  workspaceId: string
  event: string
  deliveryId: string | undefined
}

interface Outcome {
  counted: number
  skipped: number
}

const NOTHING: Outcome = { counted: 0, skipped: 0 }

/** The workspace may be deleted in the meantime, and the same commits may arrive twice at once. */
const options = { rowsMayConflict: true }

/**
 * Counts everything in a signed delivery, or nothing. The counts don't depend on the order or the number of
 * deliveries.
 * @throws {ApiError} `webhook_not_found` if the webhook was deleted in the meantime
 */
export const takeDelivery = async (
  database: Database,
  head: DeliveryHead,
  { repo, commits, issue }: Delivery,
): Promise<void> => {
  const today = await readToday(database)
  const counts = ({ day }: { day: string }) =>
    day >= addDays(today, -limits.webhook_days) && day <= addDays(today, 1)
  const brought = { commits: commits.filter(counts), issue: issue && counts(issue) ? issue : undefined }
  await database.transaction(async (tx) => {
    const outcome = await count(tx, head, repo, brought)
    await list(tx, head, { repo, status: 200, ...outcome })
  }, options)
}

/** Lists a signed delivery that couldn't be read. */
export const noteFailure = (database: Database, head: DeliveryHead, failure: ApiError): Promise<void> =>
  database.transaction(
    (tx) => list(tx, head, { repo: undefined, status: failure.status, ...NOTHING }),
    options,
  )

/**
 * Lists the delivery, if the webhook still exists. Roles are locked only now, because no one can change one or delete
 * the workspace until the transaction ends.
 */
const list = async (
  tx: Db,
  { webhookId, workspaceId, event, deliveryId }: DeliveryHead,
  answer: Outcome & { repo: string | undefined; status: number },
): Promise<void> => {
  // Sent together. The webhook is read once the roles are locked.
  const [, webhook] = await Promise.all([
    holdRoles(tx, workspaceId),
    findWebhook(tx, webhookId),
    insertDelivery(tx, workspaceId, { event, deliveryId, ...answer }),
  ])
  if (!webhook) throw new ApiError('webhook_not_found')
}

interface Brought {
  commits: DeliveredCommit[]
  issue: DeliveredIssue | undefined
}

const count = async (
  tx: Db,
  { workspaceId, kind }: DeliveryHead,
  repo: string | undefined,
  { commits, issue }: Brought,
): Promise<Outcome> => {
  const total = commits.length + (issue?.closed ? 1 : 0)
  if (commits.length === 0 && !issue) return NOTHING
  const repoKey = repo?.toLowerCase()
  const outside = { counted: 0, skipped: total }
  if (repo === undefined || repoKey === undefined || !isRepoPath(repo, kind)) return outside
  const [inside, memberOf] = await Promise.all([
    isInside(tx, workspaceId, repoKey),
    findAuthors(tx, workspaceId, { commits, issue }),
  ])
  if (!inside) return outside
  const place = { workspaceId, repo, repoKey }
  const known = commits.flatMap((commit) => {
    const userId = memberOf(commit.login)
    return userId === null ? [] : [{ ...commit, userId }]
  })
  const closer = issue ? memberOf(issue.login) : null
  const people = new Set(known.map(({ userId }) => userId))
  if (closer !== null) people.add(closer)
  const [, , fresh] = await Promise.all([
    people.size > 0 && registerPeople(tx, workspaceId, [...people]),
    people.size > 0 && nameReportedRepo(tx, place),
    known.length > 0 ? takeCommits(tx, place, known) : new Set<string>(),
  ])
  const ofCommits = await countCommits(
    tx,
    place,
    known.filter(({ hash }) => fresh.has(hash)),
  )
  const ofIssue = issue ? await countIssue(tx, place, issue, closer) : 0
  const skipped = commits.length - known.length + (issue?.closed && closer === null ? 1 : 0)
  return { counted: ofCommits + ofIssue, skipped }
}

/** @returns a function from a login to its user, or null for people who aren't members */
const findAuthors = async (tx: Db, workspaceId: string, { commits, issue }: Brought) => {
  const logins = new Set<string>()
  for (const { login } of [...commits, ...(issue ? [issue] : [])]) if (login) logins.add(login.toLowerCase())
  const keys = [...logins]
  const userIds = keys.length > 0 ? await findMembers(tx, workspaceId, keys) : []
  const members = new Map(keys.map((key, index) => [key, userIds[index] ?? null]))
  return (login: string | undefined) => (login && members.get(login.toLowerCase())) ?? null
}

/** The counts of new commits. */
const countCommits = async (
  tx: Db,
  place: ReportedRepo,
  commits: (DeliveredCommit & { userId: string })[],
): Promise<number> => {
  const added = new Map<string, AddedCount & { key: string }>()
  for (const { day, userId, login } of commits) {
    const key = `${day} ${login?.toLowerCase()}`
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
  { number, day, at, closed }: DeliveredIssue,
  userId: string | null,
): Promise<number> => {
  const event = { number, day, at: new Date(at).toISOString(), closed, userId: closed ? userId : null }
  const changed = await setIssue(tx, place, event)
  if (!changed || changed.before === changed.now) return 0
  const { before, now } = changed
  const isLess = before !== null && (await takeIssueBack(tx, place, before, day))
  const more = now === null ? [] : [{ userId: now, day, more: 1 }]
  const isMore = (await addReportedCounts(tx, 'closed_issues', place, more)).length > 0
  if (isLess || isMore) await markDays(tx, place.workspaceId, [day])
  return isMore ? 1 : 0
}
