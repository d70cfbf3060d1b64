/** A restore undoes what people and operators did since the backup, but not what protects someone. */
import type postgres from 'postgres'
import { limits } from '../../../schemas/limits.js'
import { OPERATOR_ACTOR } from '../../features/workspaces/queries/audit.js'
import { COMPARED_TABLES } from './undone-changes.js'

/** Above what anyone has reached since the backup: each “sign out everywhere” adds one. */
const GENERATIONS = 1_000

/** Where the tables of the replaced database stay until the restore ends. */
export const setAside = (table: string) => `pg_temp.now_${table}`

/** Copies what a restore compares with, before the database is emptied. */
export const keepPresent = async (tx: postgres.TransactionSql): Promise<void> => {
  for (const name of COMPARED_TABLES)
    await tx.unsafe(`create temporary table now_${name} on commit drop as table public.${name}`)
}

/** Ends the sessions of everyone, also of those who joined after the backup. */
export const endSessions = async (tx: postgres.TransactionSql, hasPresent: boolean): Promise<void> => {
  await tx`update users set generation = generation + ${GENERATIONS}`
  const users = `select id, generation from public.users where repohost_id is not null`
  const later = `union select n.id, n.generation + ${GENERATIONS} from ${setAside('users')} n
    where not exists (select from public.users u where u.id = n.id)`
  await tx.unsafe(`
    insert into revocations (user_id, generation, revoked_at, expires_at)
    select id, generation, clock_timestamp(), now() + make_interval(days => ${limits.session_days})
    from (${users} ${hasPresent ? later : ''}) s`)
}

/**
 * Keeps what is stricter in the replaced database: ended sessions, disabled and deleted accounts, revoked keys and invites,
 * removals, limits of recording, and the privacy level `team`.
 * @returns the accounts that were deleted since the backup. They're disabled until they're deleted again.
 */
export const keepStricter = async (tx: postgres.TransactionSql): Promise<string[]> => {
  const now = (table: string) => tx.unsafe(setAside(table))
  await tx`
    insert into revocations (id, jti, user_id, generation, revoked_at, expires_at)
    select id, jti, user_id, generation, revoked_at, expires_at from ${now('revocations')} n
    where not exists (select from revocations r where r.id = n.id)`
  await tx`
    update users u set generation = greatest(u.generation, n.generation), disabled_at = coalesce(u.disabled_at, n.disabled_at)
    from ${now('users')} n where n.id = u.id`
  await tx`
    update key_secrets k set revoked_at = n.revoked_at from ${now('key_secrets')} n
    where n.key_id = k.key_id and k.revoked_at is null and n.revoked_at is not null`
  await tx`
    update invites i set revoked_at = n.revoked_at from ${now('invites')} n
    where n.id = i.id and i.revoked_at is null and n.revoked_at is not null`
  // Otherwise people who have been removed could join again, with an older invite or through an organization.
  await tx`
    insert into removals (workspace_id, user_id, removed_at, returns, reports)
    select n.workspace_id, n.user_id, n.removed_at, n.returns, n.reports from ${now('removals')} n
      join users u on u.id = n.user_id
      join workspaces w on w.id = n.workspace_id
    where not exists (select from members m where m.workspace_id = n.workspace_id and m.user_id = n.user_id)
    on conflict (workspace_id, user_id) do update
    set removed_at = greatest(removals.removed_at, excluded.removed_at), returns = removals.returns and excluded.returns`
  await tx`
    insert into removed_people (workspace_id, key_id, person, removed_at)
    select n.workspace_id, n.key_id, n.person, n.removed_at from ${now('removed_people')} n
      join workspaces w on w.id = n.workspace_id
    on conflict (workspace_id, key_id, person) do update
    set removed_at = greatest(removed_people.removed_at, excluded.removed_at)`
  await tx`
    insert into recordings (user_id, paused, repos_off, repos_off_like, hours)
    select n.user_id, n.paused, n.repos_off, n.repos_off_like, n.hours from ${now('recordings')} n join users u on u.id = n.user_id
    where not exists (select from recordings r where r.user_id = n.user_id)`
  await tx`
    update recordings r set paused = r.paused or n.paused, hours = coalesce(n.hours, r.hours),
      repos_off = r.repos_off || array(select x.repo from unnest(n.repos_off) with ordinality x (repo, at)
        where not x.repo = any(r.repos_off) order by at),
      repos_off_like = r.repos_off_like || array(select x.repo from unnest(n.repos_off_like) with ordinality x (repo, at)
        where not x.repo = any(r.repos_off_like) order by at)
    from ${now('recordings')} n where n.user_id = r.user_id`
  await tx`
    with raised as (
      update workspaces w set activity_privacy = 'team', activity_privacy_since = statement_timestamp(),
        settings_version = w.settings_version + 1, settings_updated_at = now()
      from ${now('workspaces')} n
      where n.id = w.id and n.activity_privacy = 'team' and w.activity_privacy = 'named' and w.deleted_at is null
      returning w.id, w.activity_privacy_since
    ), recorded as (
      insert into privacy_levels (workspace_id, id, since, level)
      select id, gen_random_uuid(), activity_privacy_since, 'team' from raised
    )
    insert into audit_entries (workspace_id, id, actor, actor_id, action, details)
    select id, gen_random_uuid(), ${OPERATOR_ACTOR.login}, ${OPERATOR_ACTOR.id}::uuid, 'activity_privacy.changed',
      '{"before": "named", "after": "team"}'::jsonb
    from raised`
  // An account that is missing without a trace may never have been in this database. Its revocation is the trace.
  const deleted = await tx<{ id: string }[]>`
    update users u set disabled_at = coalesce(u.disabled_at, now())
    where u.repohost_id is not null and (
      exists (select from ${now('users')} n where n.id = u.id and n.repohost_id is null)
      or not exists (select from ${now('users')} n where n.id = u.id)
        and exists (select from ${now('revocations')} n where n.user_id = u.id)
    )
    returning u.id`
  return deleted.map(({ id }) => id)
}
