/** People who were removed from a workspace or demoted. Their older invites no longer work. */
import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { bool, moment, singleRow, statement, uuid } from '../../../platform/database/statement.js'
import { OperatorError } from '../../../platform/process/operator-error.js'
import type { PersonKey } from '../../accounts/index.js'
import { hasOlderInvite, isFollowing, removals } from '../tables.js'

/** Uses the statement's time, for the reason given at `insertInvite`. */
export const recordRemoval = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  { returns = false }: { returns?: boolean } = {},
): Promise<void> => {
  await tx
    .insert(removals)
    .values({ workspaceId, userId, removedAt: sql`statement_timestamp()`, returns })
    .onConflictDoUpdate({
      target: [removals.workspaceId, removals.userId],
      set: { removedAt: sql`excluded.removed_at`, returns: sql`excluded.returns` },
    })
}

/** Someone left without being removed. Only an invite can bring the person back, not an organization. */
export const recordDeparture = async (tx: Db, workspaceId: string, userId: string): Promise<void> => {
  await tx
    .insert(removals)
    .values({ workspaceId, userId, removedAt: sql`'-infinity'` })
    .onConflictDoUpdate({
      target: [removals.workspaceId, removals.userId],
      set: { returns: sql`excluded.returns` },
    })
}

const FIND_REPORT = statement(
  'find known leave report',
  { isRepeated: bool, isCopied: bool },
  `
  select reports && $3::text[] as "isRepeated", reports && $4::text[] as "isCopied"
  from removals where workspace_id = $1::uuid and user_id = $2::uuid`,
)

/** $1: the workspace; $2: the user; $3: the marks. */
const INSERT_REPORT = statement(
  'insert leave report',
  {},
  `
  insert into removals as r (workspace_id, user_id, removed_at, returns, reports)
  values ($1::uuid, $2::uuid, '-infinity', true, $3::text[])
  on conflict (workspace_id, user_id) do update set
    -- A slice would end a server with Citus 13.2.
    reports = trim_array(
      excluded.reports || r.reports, greatest(0, cardinality(excluded.reports) + cardinality(r.reports) - 40)
    )`,
)

/** A proof as stored in the database, so that someone with a backup can't send it with the body. */
const sealOf = (proof: string): string => `sha256:${createHash('sha256').update(proof).digest('base64url')}`

/**
 * Compares a report with the last ones about the person. The caller holds the roles lock. Only new reports are noted.
 */
export const registerLeaveReport = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  { deliveryId, proof }: { deliveryId: string | undefined; proof: string | undefined },
): Promise<'new' | 'repeated' | 'copied'> => {
  const ids = deliveryId === undefined ? [] : [deliveryId]
  const seals = proof === undefined ? [] : [sealOf(proof)]
  const [known] = await tx.rows(FIND_REPORT, [workspaceId, userId, ids, seals])
  if (known?.isRepeated) return 'repeated'
  if (known?.isCopied) return 'copied'
  await tx.rows(INSERT_REPORT, [workspaceId, userId, [...ids, ...seals]])
  return 'new'
}

/**
 * $1: the workspace; $2: the user; $3, $4: known keys, and the person under each; $5: when the invite was made, or null
 * without one. A row of an unknown key could be about any account that was created after the removal.
 */
const WAS_REMOVED = statement(
  'check whether person was removed',
  { wasRemoved: bool },
  `
  select exists (
    select from removals
    where workspace_id = $1::uuid and user_id = $2::uuid
      and case when $5::timestamptz is null then not returns else removed_at >= $5::timestamptz end
  ) or exists (
    select from removed_people r
    where r.workspace_id = $1::uuid and r.removed_at >= coalesce($5::timestamptz, '-infinity') and (
      (r.key_id, r.person) in (select * from unnest($3::text[], $4::text[]))
      or r.key_id <> all ($3::text[]) and r.removed_at <= (select created_at from users where id = $2::uuid)
    )
  ) as "wasRemoved"`,
)

/**
 * Whether the person was removed from the workspace since the invite was made, with this account or an earlier one.
 * Without an invite: whether the person left or was removed by an admin, so that an organization can't bring them back.
 */
export const wasRemoved = async (
  db: Db,
  { workspaceId, createdAt }: { workspaceId: string; createdAt?: string },
  user: { id: string; repohostId: number },
  keys: PersonKey[],
): Promise<boolean> => {
  const ids = keys.map(({ id }) => id)
  const people = keys.map((key) => key.personOf(workspaceId, user.repohostId))
  return singleRow(await db.rows(WAS_REMOVED, [workspaceId, user.id, ids, people, createdAt ?? null]))
    .wasRemoved
}

const LIST_REMOVALS = statement(
  'list removals with older invites',
  { workspaceId: uuid, removedAt: moment },
  `
  select workspace_id as "workspaceId", removed_at as "removedAt" from removals
  where user_id = $1::uuid and (${hasOlderInvite('removals')} or not returns and ${isFollowing('removals')})`,
)

/** $1: the key's id; per row: $2 workspace, $3 person, $4 moment. */
const PRESERVE_REMOVALS = statement(
  'preserve removals of deleted accounts',
  {},
  `
  insert into removed_people as p (workspace_id, key_id, person, removed_at)
  select r.workspace_id, $1::text, r.person, r.removed_at
  from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as r (workspace_id, person, removed_at)
  on conflict (workspace_id, key_id, person) do update set removed_at = greatest(p.removed_at, excluded.removed_at)`,
)

/**
 * Makes a locked user's removals outlive the account.
 * @throws {OperatorError} if there are any and no key
 */
export const preserveRemovals = async (
  tx: Db,
  user: { id: string; repohostId: number },
  key: PersonKey | undefined,
): Promise<void> => {
  const rows = await tx.rows(LIST_REMOVALS, [user.id])
  if (rows.length === 0) return
  if (!key)
    throw new OperatorError(
      'This person was removed from a workspace, and the removal must also apply to a new account: set JWT_SECRETS to the service’s secrets.',
    )
  await tx.rows(PRESERVE_REMOVALS, [
    key.id,
    rows.map(({ workspaceId }) => workspaceId),
    rows.map(({ workspaceId }) => key.personOf(workspaceId, user.repohostId)),
    rows.map(({ removedAt }) => removedAt),
  ])
}
