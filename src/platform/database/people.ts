/**
 * Every column that says which person a row is about, and what becomes of it. `test/tables.test.ts` compares this list, and
 * that of `features/workspaces/queries/purge.ts` for workspaces, with the database: a column without a rule fails there.
 */
import type { Static } from '@sinclair/typebox'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { AccountExport } from '../../../schemas/account.js'
import { recordings, revocations } from '../../features/accounts/tables.js'
import {
  activity,
  activityMemberDays,
  activityMemberMonths,
  activityPeople,
  activityRepoPeople,
  dashboardViews,
  flushes,
} from '../../features/activity/tables.js'
import { billingCustomers } from '../../features/billing/tables.js'
import { funnelDays, funnelUsers } from '../../features/funnel/tables.js'
import { erasures } from '../../features/personal-data/tables.js'
import { overrides, snapshots, snapshotVersions } from '../../features/settings/tables.js'
import { auditEntries, invites, members, removals, workspaces } from '../../features/workspaces/tables.js'

interface PersonColumn {
  column: PgColumn
  /** Of an account: the row names `DELETED_USER` from then on, or is deleted, or what else happens. */
  erasure: 'hand over' | 'delete' | { other: string }
  /** The member of an `AccountExport` that has the rows, or why there is none. */
  export: keyof Static<typeof AccountExport> | { none: string }
}

const rollup = {
  erasure: { other: 'the rollups of the month are made anew when its activity is handed over' },
  export: { none: 'sums of what `activity` has' },
}

/** In the order in which an erasure goes through them. */
export const peopleColumns: PersonColumn[] = [
  { column: invites.createdBy, erasure: 'hand over', export: 'invites' },
  { column: snapshots.updatedBy, erasure: 'hand over', export: 'settings_written' },
  { column: snapshotVersions.createdBy, erasure: 'hand over', export: 'settings_written' },
  { column: overrides.updatedBy, erasure: 'hand over', export: 'overrides_written' },
  { column: flushes.userId, erasure: 'delete', export: 'flushes' },
  { column: funnelUsers.userId, erasure: 'delete', export: 'funnel' },
  { column: funnelDays.userId, erasure: 'delete', export: 'funnel_days' },
  { column: removals.userId, erasure: 'delete', export: 'removals' },
  { column: members.userId, erasure: 'delete', export: 'memberships' },
  { column: billingCustomers.userId, erasure: 'delete', export: 'billing' },
  { column: recordings.userId, erasure: 'delete', export: 'recording' },
  { column: dashboardViews.memberId, erasure: 'delete', export: 'views' },
  {
    column: dashboardViews.viewerId,
    erasure: { other: 'handed over, where rows may become one' },
    export: 'views_of_others',
  },
  {
    column: auditEntries.actorId,
    erasure: { other: 'handed over with the names in the entry' },
    export: 'audit',
  },
  {
    column: auditEntries.targetId,
    erasure: { other: 'handed over with the names in the entry' },
    export: 'audit',
  },
  {
    column: activity.userId,
    erasure: { other: 'handed over a month at a time, where rows may become one' },
    export: 'activity',
  },
  {
    column: activityPeople.userId,
    erasure: { other: 'deleted once the activity is handed over' },
    export: { none: 'has no more than the workspaces in `activity`' },
  },
  { column: activityMemberDays.userId, ...rollup },
  { column: activityMemberMonths.userId, ...rollup },
  { column: activityRepoPeople.userId, ...rollup },
  {
    column: workspaces.personalOf,
    erasure: { other: 'the workspace is deleted with the account' },
    export: 'personal_workspace',
  },
  {
    column: revocations.userId,
    erasure: { other: 'kept until all sessions have expired, because they must stay revoked' },
    export: 'signed_out',
  },
  {
    column: erasures.userId,
    erasure: { other: 'the erasure itself, deleted at its end' },
    export: { none: 'written when the account is deleted' },
  },
]
