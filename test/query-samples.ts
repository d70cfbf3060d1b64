/**
 * Calls of the query functions that use Drizzle's builder, for the SQL that it makes: more than one where that depends on
 * the arguments.
 */

import * as accountErasures from '../src/features/accounts/queries/erasures.js'
import * as host from '../src/features/accounts/queries/installation.js'
import * as users from '../src/features/accounts/queries/users.js'
import * as billing from '../src/features/billing/queries.js'
import * as webhooks from '../src/features/counts/queries/webhooks.js'
import * as erasures from '../src/features/personal-data/queries/erasures.js'
import * as rowCounts from '../src/features/personal-data/queries/row-counts.js'
import * as previous from '../src/features/previous/queries/erasures.js'
import * as sessions from '../src/features/sessions/queries/sessions.js'
import * as signingKeys from '../src/features/sessions/queries/signing-keys.js'
import * as history from '../src/features/settings/queries/history.js'
import * as snapshots from '../src/features/settings/queries/snapshots.js'
import * as workspaceSettings from '../src/features/settings/queries/workspace-settings.js'
import * as settingsHistory from '../src/features/settings/queries/workspace-settings-history.js'
import { snapshotVersions } from '../src/features/settings/tables.js'
import * as signIns from '../src/features/sign-in/queries.js'
import * as allWorkspaces from '../src/features/workspaces/queries/all-workspaces.js'
import * as audit from '../src/features/workspaces/queries/audit.js'
import * as invites from '../src/features/workspaces/queries/invites.js'
import * as members from '../src/features/workspaces/queries/members.js'
import * as memberships from '../src/features/workspaces/queries/memberships.js'
import * as organizations from '../src/features/workspaces/queries/organizations.js'
import * as privacy from '../src/features/workspaces/queries/privacy-levels.js'
import * as removals from '../src/features/workspaces/queries/removals.js'
import * as settingsVersions from '../src/features/workspaces/queries/settings-versions.js'
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
const user = { id, login: 'ada', keyName: null }
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

export const samples: Sample[] = [
  ...calls(allWorkspaces.readWorkspaceFacts, [id]),
  ...calls(allWorkspaces.listAllWorkspaces, ['acme']),
  ...calls(audit.insertAuditEntry, [{ workspaceId: id, actor: user, action: 'member.left' }]),
  ...calls(audit.anonymizeAuditEntries, [id, 'ada', 10]),
  ...calls(audit.insertAuditEntries, [[{ workspaceId: id, actor: user, action: 'member.left' }]]),
  ...calls(audit.listAuditEntries, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(billing.readCustomer, [id]),
  ...calls(billing.linkCustomer, ['cus_1', id]),
  ...calls(billing.unlinkCustomers, [id]),
  ...calls(billing.readSubscriptionStatus, [id]),
  ...calls(billing.insertBillingEvent, ['evt_1', 'customer.created']),
  ...calls(billing.applyChange, [
    { subscriptionId: 'sub_1', customerId: 'cus_1', status: 'active', created: 1, rank: 1 },
  ]),

  ...calls(accountErasures.beginErasure, [id, 'ada']),
  ...calls(previous.deletePrevious, [id, id, 10]),
  ...calls(rowCounts.countRowsOfPerson, [id]),
  ...calls(accountErasures.listErasures, []),
  ...calls(accountErasures.endErasure, [id]),
  ...calls(erasures.eraseBatch, [{ userId: id, loginKey: 'ada' }, 10]),

  ...calls(signingKeys.listSigningKeys, []),
  ...calls(signingKeys.recordSigningKey, ['key']),
  ...calls(host.recordHost, [{ kind: 'github', url: 'https://github.com' }]),
  ...calls(host.replaceHost, [{ kind: 'github', url: 'https://github.com' }]),
  ...calls(host.readHost, []),

  ...calls(invites.insertInvite, [id, user, { role: 'member', expiresInHours: 1, maxUses: null }]),
  ...calls(invites.findInvite, ['ABCD-EFGH']),
  ...calls(invites.readGreeting, ['ABCD-EFGH']),
  ...calls(invites.redeemInvite, [id]),
  ...calls(invites.listActiveInvites, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(invites.markRevoked, [id, id]),
  ...calls(invites.revokeInvitesOf, [id], [id, id]),

  ...calls(members.readRole, [id, id]),
  ...calls(members.readMember, [id, id]),
  ...calls(members.lockRole, [id, id]),
  ...calls(members.shareLockRoles, [id]),
  ...calls(members.lockRoles, [id]),
  ...calls(members.insertMember, [id, id, 'member']),
  ...calls(members.countWorkspacesOf, [id]),
  ...calls(members.lockPatternsOf, [id]),
  ...calls(members.listMembers, [id, undefined, 10], [id, [moment, id], 10]),
  ...calls(members.findMember, [id, 'ada']),
  ...calls(members.hasOtherAdmin, [id, id]),
  ...calls(members.updateRole, [id, id, 'admin']),
  ...calls(members.deleteMember, [id, id]),

  ...calls(privacy.readWorkspaceSummary, [id]),
  ...calls(privacy.raisePrivacy, [10]),
  ...calls(memberships.lockMemberships, [id]),
  ...calls(memberships.deleteMemberships, [id]),
  ...calls(privacy.insertPrivacyLevel, [id, 'team', moment]),

  ...calls(organizations.readOrganization, [id]),
  ...calls(organizations.writeOrganization, [
    { workspaceId: id, hostId: 1, name: 'Acme', joins: 'member', leaves: 'remove', linkedBy: id },
  ]),
  ...calls(organizations.deleteOrganization, [id]),
  ...calls(organizations.deleteOrganizationMembers, [id]),
  ...calls(organizations.insertOrganizationMember, [id, id]),
  ...calls(organizations.hasLeft, [id, id]),
  ...calls(organizations.admitsAnyone, []),
  ...calls(organizations.confirmMemberships, [id, [id], moment]),
  ...calls(organizations.clearLeaveReports, [id, id]),
  ...calls(organizations.countJoinedByOrganization, [id]),
  ...calls(organizations.countRemovals, [id]),
  ...calls(organizations.listAdmitting, [10]),
  ...calls(organizations.listFollowed, [id]),
  ...calls(organizations.listOpenWorkspaces, [id, [1]]),
  ...calls(organizations.listOrganizationMembers, [id, undefined, 10]),
  ...calls(organizations.recordLeaveReport, [id, id]),
  ...calls(organizations.confirmLinks, [id, [{ workspaceId: id, hostId: 1 }], moment]),
  ...calls(organizations.denyLink, [{ workspaceId: id, hostId: 1, userId: id }]),

  ...calls(removals.registerLeaveReport, [id, id, { deliveryId: 'delivery', proof: 'ab' }]),
  ...calls(removals.recordDeparture, [id, id]),
  ...calls(removals.recordRemoval, [id, id]),
  ...calls(removals.preserveRemovals, [{ id, repohostId: 1 }, personKey]),
  ...calls(
    removals.wasRemoved,
    [{ workspaceId: id }, { id, repohostId: 1 }, [personKey]],
    [{ workspaceId: id, createdAt: moment }, { id, repohostId: 1 }, [personKey]],
  ),

  ...calls(sessions.revokeToken, [id, 1]),
  ...calls(sessions.revokeAllTokens, [id]),
  ...calls(sessions.readRevocations, [undefined], [moment]),
  ...calls(signIns.insertOauthState, ['hash', '/']),
  ...calls(signIns.consumeOauthState, ['hash']),

  ...calls(snapshots.readBestSnapshot, [{ ...keys, userId: id }, undefined]),
  ...calls(snapshots.lockSnapshot, [place]),
  ...calls(snapshots.readSettings, [place]),
  ...calls(snapshots.insertSnapshot, [place, { ...content, owner: 'Acme', repo: 'Web' }]),
  ...calls(snapshots.updateSnapshot, [place, { ...content, version: 1_000 }]),
  ...calls(snapshots.deleteSnapshot, [place]),
  ...calls(snapshots.snapshotHistory.list, [place]),
  ...calls(snapshots.snapshotHistory.read, [place, 1]),

  ...calls(users.readUser, [id]),
  ...calls(users.readRepohostId, [id]),
  ...calls(users.chooseTimezone, [id, 'Asia/Tokyo'], [id, null]),
  ...calls(users.nameTimezones, [[{ userId: id, timezone: 'Asia/Tokyo' }]]),
  ...calls(users.findUsers, ['Ada'], [id], ['1']),
  ...calls(users.listDisabledUsers, []),
  ...calls(users.setDisabled, [id, true], [id, false]),
  ...calls(users.lockUser, [id]),
  ...calls(users.chooseTimezone, [id, 'Asia/Tokyo'], [id, null]),
  ...calls(users.upsertUser, [{ id: 1, login: 'Ada', avatarUrl: '' }]),

  ...calls(webhooks.rotateWebhook, [id, id, id]),
  ...calls(webhooks.deleteWebhook, [id]),
  ...calls(webhooks.readWebhook, [id]),
  ...calls(webhooks.findWebhook, [id]),
  ...calls(webhooks.insertDelivery, [id, { event: 'push', status: 200, counted: 0, skipped: 0 }]),
  ...calls(webhooks.listDeliveries, [id, moment]),
  ...calls(webhooks.clearSkippedCommits, ['ada', 10]),

  ...calls(rowCounts.countRowsOfWorkspace, [id]),
  ...calls(workspaceSettings.readWorkspaceSettings, [id, undefined]),
  ...calls(workspaceSettings.readSettingsToChange, [id]),
  ...calls(
    workspaceSettings.updateWorkspaceSettings,
    [id, { idleWindowMinutes: 5, settings: '{}', locked: '[]', merged: '[]' }],
    [id, { idleWindowMinutes: 5, settings: '{}', locked: '[]', merged: '[]', activityPrivacy: 'team' }],
  ),
  ...calls(workspaceSettings.readLocked, [id]),
  ...calls(history.dropOldVersions, [snapshotVersions, undefined, 1_000]),
  ...calls(settingsHistory.dropOldSettingsVersions, [id, 1_000]),
  ...calls(settingsVersions.insertSettingsVersion, [id, { ...user, reason: 'Why' }]),
  ...calls(settingsHistory.settingsHistory.list, [id]),
  ...calls(settingsHistory.settingsHistory.read, [id, 1]),

  ...calls(workspaces.listWorkspacesOf, [id], [id, [id]]),
  ...calls(workspaces.readInvitedWorkspace, [id]),
  ...calls(workspaces.lockAdministration, [id]),
  ...calls(workspaces.lockWorkspace, [id]),
  ...calls(workspaces.readPresent, [id]),
  ...calls(workspaces.updateName, [id, 'Acme']),
  ...calls(workspaces.insertWorkspace, [{ name: 'Acme', privacy: 'named', createdBy: id }]),
  ...calls(workspaces.readPersonalWorkspace, [id]),
  ...calls(workspaces.findUserByRepohostId, [1]),
  ...calls(workspaces.listPatterns, [id]),
  ...calls(workspaces.countPatterns, [id]),
  ...calls(workspaces.insertPatterns, [id, [pattern]]),
  ...calls(workspaces.deletePatterns, [id]),
  ...calls(workspaces.markWorkspaceDeleted, [id]),
]
