/** Membership that follows an organization on the repository host. Decides who joins and who leaves. */
import type { FastifyInstance } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { hostKinds } from '../../platform/hosts/index.js'
import type { HostLogin, HostOrganization, ReportedLeave } from '../../platform/hosts/kind.js'
import {
  askMemberships,
  type HostCall,
  listOrganizations,
  type MembershipAnswers,
  type MembershipQuestions,
  type Repohost,
} from '../../platform/hosts/repohost.js'
import { lockUser, personKeysOf, type User } from '../accounts/index.js'
import { canLeave, withdraw } from './change-members.js'
import { createChange } from './change-workspace.js'
import { insertAuditEntry, SERVICE_ACTOR } from './queries/audit.js'
import { deleteMember, insertMember, lockRole, lockRoles, readMember } from './queries/members.js'
import {
  admitsAnyone,
  confirmLinks,
  confirmMemberships,
  countJoinedByOrganization,
  countRemovals,
  denyLink,
  type Followed,
  insertOrganizationMember,
  listAdmitting,
  listFollowed,
  listOpenWorkspaces,
  readOrganization,
  recordLeaveReport,
} from './queries/organizations.js'
import { recordRemoval, registerLeaveReport, wasRemoved } from './queries/removals.js'
import { findUserByRepohostId, lockWorkspace } from './queries/workspaces.js'

type FollowContext = Pick<FastifyInstance, 'config' | 'database' | 'sessions'>

/** Someone who signs in, at the host. */
interface PersonAtHost {
  host: Repohost
  /** The token is used in the time that's left, and isn't stored. */
  call: HostCall
  person: HostLogin
}

/** How many organizations one sign-in or push may look up one by one. */
const MAX_QUESTIONS = 10

/**
 * Updates memberships at a sign-in. The host is asked only if a workspace follows an organization, and only a clear
 * answer changes anything.
 * @returns the scope that the token lacks, if the host says so, and a membership depends on it
 */
export const followAtSignIn = async (
  context: FollowContext,
  user: User,
  { host, call, person }: PersonAtHost,
): Promise<string | undefined> => {
  const db = context.database.write
  const [followed, isOpen] = await Promise.all([listFollowed(db, user.id), admitsAnyone(db)])
  if (followed.length === 0 && !isOpen) return undefined
  const { owns } = await askMemberships(host, call, person, {
    owns: organizationsOf(followed.filter(isOwnLink)),
  })
  await checkLinks(context, user, followed, owns)
  const answer = await listOrganizations(host, call)
  const lacksScope = answer === 'scope-missing'
  const listed = lacksScope ? undefined : answer
  if (isOpen) await joinWorkspaces(context, user, await namesOf({ host, call, person }, listed, db))
  const known = new Map(listed?.map(({ id }) => [id, true]))
  const others = followed.filter((one) => isChecked(one) && !known.has(one.hostId))
  const { belongsTo } = await askMemberships(host, call, person, { belongsTo: organizationsOf(others) })
  await leaveOrganizations(context, user, followed, new Map([...belongsTo, ...known]))
  const isNeeded = isOpen || followed.some((one) => isChecked(one) || isOwnLink(one))
  return lacksScope && isNeeded ? hostKinds[host.kind].organizations.scope : undefined
}

/** The current names of the organizations that the person belongs to, by their ids. */
const namesOf = async (
  { host, call, person }: PersonAtHost,
  listed: HostOrganization[] | undefined,
  db: Db,
): Promise<Map<number, string>> => {
  if (listed) return new Map(listed.map(({ id, name }) => [id, name]))
  const admitting = uniqueById(await listAdmitting(db, MAX_QUESTIONS))
  const { belongsTo } = await askMemberships(host, call, person, { belongsTo: admitting })
  return new Map(admitting.filter(({ id }) => belongsTo.get(id)).map(({ id, name }) => [id, name]))
}

/** What a push asks the host about the organizations that a person's workspaces follow. */
const membershipQuestions = (followed: Followed[]): MembershipQuestions => ({
  owns: organizationsOf(followed.filter(isOwnLink)),
  belongsTo: organizationsOf(followed.filter(isChecked)),
})

/** The organizations that a person's workspaces follow, with what a push asks the host about them. */
interface PushCheck {
  followed: Followed[]
  questions: MembershipQuestions
}

export const readPushCheck = async (db: Db, userId: string): Promise<PushCheck> => {
  const followed = await listFollowed(db, userId)
  return { followed, questions: membershipQuestions(followed) }
}

/** Pauses links and ends memberships according to the host's answers at a push. */
export const followAtPush = async (
  context: FollowContext,
  user: User,
  followed: Followed[],
  { owns, belongsTo }: MembershipAnswers,
): Promise<void> => {
  await checkLinks(context, user, followed, owns)
  await leaveOrganizations(context, user, followed, belongsTo)
}

/** Lists each organization once. */
const uniqueById = (organizations: HostOrganization[]): HostOrganization[] =>
  [...new Map(organizations.map((one) => [one.id, one])).values()].slice(0, MAX_QUESTIONS)

const organizationsOf = (followed: Followed[]): HostOrganization[] =>
  uniqueById(followed.map(({ hostId, name }) => ({ id: hostId, name })))

const isOwnLink = ({ isCreator }: Followed): boolean => isCreator
/** Whether the host is asked if the person still belongs to the organization. */
const isChecked = ({ leaves, isKnown }: Followed): boolean => leaves === 'remove' || isKnown

/** Links that the person made stay active while the host confirms the person as an owner. A clear "no" pauses them. */
const checkLinks = async (
  { database }: Pick<FollowContext, 'database'>,
  user: User,
  followed: Followed[],
  owns: Map<number, boolean>,
): Promise<void> => {
  const ownLinks = followed.filter(isOwnLink)
  const confirmed = ownLinks.filter(({ hostId }) => owns.get(hostId) === true)
  const [first] = confirmed
  if (first) await confirmLinks(database.write, user.id, confirmed, first.listedAt)
  for (const { workspaceId, hostId } of ownLinks.filter(({ hostId }) => owns.get(hostId) === false))
    await database.transaction(async (tx) => {
      if (!(await lockWorkspace(tx, workspaceId))) return
      await lockRoles(tx, workspaceId)
      await pauseLinkOf(tx, { workspaceId, hostId, userId: user.id })
    })
}

/** The host has said that a link's creator doesn't own the organization. Needs the roles lock, which joins hold. */
const pauseLinkOf = async (
  tx: Db,
  link: { workspaceId: string; hostId: number; userId: string },
): Promise<void> => {
  if (!(await denyLink(tx, link))) return
  await insertAuditEntry(tx, {
    workspaceId: link.workspaceId,
    actor: SERVICE_ACTOR,
    action: 'organization.paused',
    details: { because: 'maker_not_owner' },
  })
}

const leaveOrganizations = async (
  context: FollowContext,
  user: User,
  followed: Followed[],
  belongsTo: Map<number, boolean>,
): Promise<void> => {
  const confirmed = followed.filter(({ hostId, isKnown }) => isKnown && belongsTo.get(hostId) === true)
  const [first] = confirmed
  if (first) {
    const workspaceIds = confirmed.map(({ workspaceId }) => workspaceId)
    await confirmMemberships(context.database.write, user.id, workspaceIds, first.listedAt)
  }
  const left = followed.filter((one) => isChecked(one) && belongsTo.get(one.hostId) === false)
  for (const { workspaceId, hostId } of left)
    await removeDepartedMember(context, workspaceId, hostId, user.id)
}

/** @param belongsTo the current names of the organizations that the person belongs to, by their ids */
const joinWorkspaces = async (
  { database, config }: FollowContext,
  user: User,
  belongsTo: Map<number, string>,
): Promise<void> => {
  if (belongsTo.size === 0) return
  const open = await listOpenWorkspaces(database.write, user.id, [...belongsTo.keys()])
  // The workspace's patterns contain the name, which may now belong to someone else.
  const meant = open.filter(({ hostId, name }) => belongsTo.get(hostId)?.toLowerCase() === name.toLowerCase())
  if (meant.length === 0) return
  const personKeys = personKeysOf(config.jwtSecrets)
  await database.transaction(
    async (tx) => {
      const person = await lockUser(tx, user.id)
      // The account may have been deleted at the same moment.
      if (!person) return
      const joined = await countJoinedByOrganization(tx, user.id)
      let remaining =
        limits.workspaces_by_organization - [...joined.values()].reduce((sum, one) => sum + one, 0)
      for (const { workspaceId, hostId, createdBy } of meant) {
        const ofCreator = joined.get(createdBy) ?? 0
        // A stranger who adds the person to organizations must not crowd out the others.
        if (remaining <= 0 || ofCreator >= limits.workspaces_by_organization_of_one) continue
        // Locks the roles, so that the link and the removals that are read next don't change.
        if ((await lockRole(tx, workspaceId, user.id)) !== undefined) continue
        const link = await readOrganization(tx, workspaceId)
        if (link?.join !== 'member' || link.state !== 'active' || link.organization_id !== hostId) continue
        if (await wasRemoved(tx, { workspaceId }, person, personKeys)) continue
        await insertMember(tx, workspaceId, user.id, 'member')
        await insertOrganizationMember(tx, workspaceId, user.id)
        await insertAuditEntry(tx, {
          workspaceId,
          actor: person,
          action: 'member.joined',
          target: person,
          details: { role: 'member', organization: link.organization },
        })
        joined.set(createdBy, ofCreator + 1)
        remaining--
      }
    },
    { rowsCanConflict: true },
  )
}

/** Tells whether a report is new. The id isn't signed. Deliveries with the same proof have the same body. */
interface ReportMarks {
  deliveryId: string | undefined
  /** Undefined: the host signs nothing, and sends the secret itself. */
  proof: string | undefined
}

/**
 * A workspace's webhook reports that someone has left. A delivery that is repeated has no effect, even if the person
 * has come back since. A copy with another id may come from the host, or from someone who has seen the first and
 * replays it, so an admin decides.
 */
export const handleLeaveReport = async (
  context: FollowContext,
  workspaceId: string,
  { organizationId, userId: repohostId }: ReportedLeave,
  marks: ReportMarks,
): Promise<void> => {
  const userId = await findUserByRepohostId(context.database.write, repohostId)
  if (userId !== undefined) await removeDepartedMember(context, workspaceId, organizationId, userId, marks)
}

/**
 * Every removal that the host causes goes through here. It removes the person, or leaves a note for an admin. Links
 * made by a person who left are paused.
 */
const removeDepartedMember = async (
  { database, config, sessions }: FollowContext,
  workspaceId: string,
  organizationId: number,
  userId: string,
  marks?: ReportMarks,
): Promise<void> => {
  await database.transaction(
    async (tx) => {
      const workspace = await lockWorkspace(tx, workspaceId)
      if (!workspace) return
      await lockRoles(tx, workspaceId)
      const link = await readOrganization(tx, workspaceId)
      if (link?.organization_id !== organizationId) return
      const member = await readMember(tx, workspaceId, userId)
      if (!member) return
      const report = marks && (await registerLeaveReport(tx, workspaceId, userId, marks))
      if (report === 'repeated') return
      // GitLab reports the end of a subgroup membership, but a parent group may still make the person a member.
      const isInherited = report === 'new' && link.organization.includes('/')
      // People who don't belong to the organization don't own it either. A removal pauses the link by itself.
      const pause = async () => {
        if (report !== 'copied' && !isInherited)
          await pauseLinkOf(tx, { workspaceId, hostId: organizationId, userId })
      }
      if (link.leave === 'keep') return pause()
      const { login, role } = member
      const person = { id: userId, login }
      const reason = `left ${link.organization} at ${hostKinds[config.repohost.kind].name}`
      const caller = { ...SERVICE_ACTOR, role: 'admin', keyName: null } as const
      const change = createChange(tx, { workspaceId, workspace, caller, actor: SERVICE_ACTOR })
      const isLastAdmin = !(await canLeave(change, workspaceId, { userId, role }))
      const isTooMany = (await countRemovals(tx, workspaceId)) >= config.limits.removals
      const because =
        (isLastAdmin && 'last_admin') ||
        (isTooMany && 'removals_per_hour') ||
        (report === 'copied' && 'copied_report') ||
        (isInherited && 'inherited_membership')
      if (because) {
        await pause()
        if (await recordLeaveReport(tx, workspaceId, userId))
          await change.record('member.removal_waits', person, { reason, because })
        return
      }
      await withdraw(change, workspaceId, person)
      await deleteMember(tx, workspaceId, userId)
      await recordRemoval(tx, workspaceId, userId, { returns: true })
      await change.record('member.removed', person, { role, reason })
    },
    { rowsCanConflict: true },
  )
  sessions.accessKeys.forget((key) => key.workspaceId === workspaceId)
}
