/**
 * Calls of the query functions that use Drizzle's builder, for the SQL that it makes: more than one where that depends on
 * the arguments.
 */

import * as sessions from '../src/features/accounts/queries/sessions.js'
import * as users from '../src/features/accounts/queries/users.js'
import * as views from '../src/features/activity/queries/access-log.js'
import * as dashboard from '../src/features/activity/queries/dashboard.js'
import * as billing from '../src/features/billing/queries.js'
import * as erasures from '../src/features/personal-data/queries/erasures.js'
import * as overrides from '../src/features/settings/queries/overrides.js'
import * as snapshots from '../src/features/settings/queries/snapshots.js'
import * as audit from '../src/features/workspaces/queries/audit.js'
import * as invites from '../src/features/workspaces/queries/invites.js'
import * as members from '../src/features/workspaces/queries/members.js'
import * as privacy from '../src/features/workspaces/queries/privacy-levels.js'
import * as removals from '../src/features/workspaces/queries/removals.js'
import * as workspaceSettings from '../src/features/workspaces/queries/settings.js'
import * as workspaces from '../src/features/workspaces/queries/workspaces.js'
import type { Db } from '../src/platform/database/client.js'

interface Sample {
  query: { name: string }
  call: (db: Db) => Promise<unknown>
}

const calls = <Arguments extends unknown[]>(
  query: (db: Db, ...rest: Arguments) => Promise<unknown>,
  ...samples: NoInfer<Arguments>[]
): Sample[] => samples.map((sample) => ({ query, call: (db) => query(db, ...sample) }))

const id = '01939f6e-0000-7000-8000-000000000000'
const moment = '2026-11-21T09:30:00.000Z'
const user = { id, login: 'ada' }
const keys = { ownerKey: 'acme', repoKey: 'web' }
const place = { ...keys, workspaceId: id }
const content = { settings: '{}', sizeBytes: 2, author: user }
const personKey = { id: 'key', personOf: () => 'person' }
const pattern = {
  pattern: 'acme/*',
  ownerKey: 'acme',
  repoKey: '*',
  exact: false,
  literalLength: 5,
  repoLike: '%',
}

const range = { from: '2026-10-01', to: '2026-11-21', days: 52 } as dashboard.NamedDays
const sources = dashboard.sourcesOf(id, range, {}, ['2026-11-21'])
const steps = { start: '2026-09-28', length: 7, count: 8 }

export const samples: Sample[] = [
  ...calls(audit.insertAuditEntry, [{ workspaceId: id, actor: user, action: 'member.left' }]),
  ...calls(audit.listAuditEntries, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(billing.readCustomer, [id]),
  ...calls(billing.linkCustomer, ['cus_1', id]),
  ...calls(billing.unlinkCustomers, [id]),
  ...calls(billing.readSubscriptionStatus, [id]),
  ...calls(billing.insertBillingEvent, ['evt_1', 'customer.created']),
  ...calls(billing.applyChange, [
    { subscriptionId: 'sub_1', customerId: 'cus_1', status: 'active', created: 1, rank: 1 },
  ]),
  ...calls(dashboard.beginSnapshot, []),
  ...calls(dashboard.readDays, [sources]),
  ...calls(dashboard.countActiveMembers, [sources]),
  ...calls(dashboard.readMembers, [sources]),
  ...calls(dashboard.readRepos, [sources]),
  ...calls(dashboard.readMemberTrends, [sources, steps, ['ada']]),
  ...calls(dashboard.readRepoTrends, [sources, steps, ['acme/web']]),
  ...calls(dashboard.readStaleDays, [id, range]),
  ...calls(dashboard.findPerson, [id, 'ada']),
  ...calls(dashboard.listMemberDays, [id, {}, range]),

  ...calls(erasures.lockPlaces, [id]),
  ...calls(erasures.beginErasure, [id, 'ada']),
  ...calls(erasures.countRowsOf, [id]),
  ...calls(erasures.listErasures, []),
  ...calls(erasures.eraseSome, [{ userId: id, loginKey: 'ada' }, 10]),

  ...calls(invites.insertInvite, [id, user, { role: 'member', expiresInHours: 1, maxUses: null }]),
  ...calls(invites.findInvite, ['ABCD-EFGH']),
  ...calls(invites.useInvite, [id]),
  ...calls(invites.listActiveInvites, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(invites.revokeInvite, [id, id]),
  ...calls(invites.revokeInvitesOf, [id, id]),
  ...calls(invites.revokeAllInvitesOf, [id]),

  ...calls(members.readRole, [id, id]),
  ...calls(members.readOwnMembership, [id, id]),
  ...calls(members.lockRole, [id, id]),
  ...calls(members.lockRoles, [id]),
  ...calls(members.insertMember, [id, id, 'member']),
  ...calls(members.countWorkspacesOf, [id]),
  ...calls(members.listMembers, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(members.findMember, [id, 'ada']),
  ...calls(members.hasOtherAdmin, [id, id]),
  ...calls(members.updateRole, [id, id, 'admin']),
  ...calls(members.deleteMember, [id, id]),

  ...calls(overrides.matchesWorkspace, [place]),
  ...calls(overrides.readOverride, [place]),
  ...calls(overrides.upsertOverride, [place, { owner: 'Acme', repo: 'Web', settings: '{}', author: user }]),
  ...calls(overrides.deleteOverride, [place]),
  ...calls(overrides.listOverrides, [id, undefined, 10]),

  ...calls(privacy.readPrivacy, [id]),
  ...calls(privacy.raisePrivacy, [10]),
  ...calls(privacy.insertPrivacyLevel, [id, 'team', moment]),

  ...calls(removals.recordRemoval, [id, id]),
  ...calls(removals.keepRemovals, [{ id, repohostId: 1 }, personKey]),
  ...calls(removals.wasRemovedSince, [
    { workspaceId: id, createdAt: moment },
    { id, repohostId: 1 },
    [personKey],
  ]),

  ...calls(sessions.revokeToken, [id, 1]),
  ...calls(sessions.revokeAllTokens, [id]),
  ...calls(sessions.readRevocations, [undefined], [moment]),
  ...calls(sessions.insertOauthState, ['hash', '/']),
  ...calls(sessions.takeOauthState, ['hash']),

  ...calls(snapshots.readBestSnapshot, [{ ...keys, userId: id }, undefined]),
  ...calls(snapshots.lockSnapshot, [place]),
  ...calls(snapshots.insertSnapshot, [place, { ...content, owner: 'Acme', repo: 'Web' }]),
  ...calls(snapshots.updateSnapshot, [place, { ...content, version: 1_000 }]),
  ...calls(snapshots.deleteSnapshot, [place]),
  ...calls(snapshots.listVersions, [place]),
  ...calls(snapshots.readVersion, [place, 1]),

  ...calls(users.readUser, [id]),
  ...calls(users.readRepohostId, [id]),
  ...calls(users.findUser, ['Ada']),
  ...calls(users.lockUser, [id]),
  ...calls(users.upsertUser, [{ id: 1, login: 'Ada', avatarUrl: '' }]),

  ...calls(views.recordView, [
    { workspaceId: id, viewerId: id, memberId: id, repoKey: undefined, ...range, exported: true },
  ]),
  ...calls(views.listViews, [id, undefined, 10]),
  ...calls(views.handOverViews, [id]),
  ...calls(workspaceSettings.readWorkspaceSettings, [id, undefined]),
  ...calls(workspaceSettings.readSettingsToChange, [id]),
  ...calls(
    workspaceSettings.updateWorkspaceSettings,
    [id, { idleWindowMinutes: 5, settings: '{}' }],
    [id, { idleWindowMinutes: 5, settings: '{}', activityPrivacy: 'team' }],
  ),

  ...calls(workspaces.readWorkspaceHead, [id]),
  ...calls(workspaces.listWorkspacesOf, [id], [id, [id]]),
  ...calls(workspaces.introduceWorkspace, [id]),
  ...calls(workspaces.lockWorkspace, [id]),
  ...calls(workspaces.renameWorkspace, [id, 'Acme']),
  ...calls(workspaces.insertWorkspace, [{ name: 'Acme', privacy: 'named' }]),
  ...calls(workspaces.readPersonalWorkspace, [id]),
  ...calls(workspaces.listPatterns, [id]),
  ...calls(workspaces.countPatterns, [id]),
  ...calls(workspaces.insertPatterns, [id, [pattern]]),
  ...calls(workspaces.deletePatterns, [id]),
  ...calls(workspaces.hideWorkspace, [id]),
]
