/** What people and operators changed after a backup, and what of it a restore would undo. */
import type postgres from 'postgres'
import { limits } from '../../../schemas/limits.js'

/** Tables that the queries read. All of them exist since 1.0.0. */
export const COMPARED_TABLES = [
  'users',
  'key_secrets',
  'members',
  'workspaces',
  'invites',
  'organizations',
  'patterns',
  'recordings',
  'removals',
  'removed_people',
  'revocations',
  'webhooks',
] as const

type Place = (table: (typeof COMPARED_TABLES)[number]) => string

interface UndoneChange {
  title: string
  /** Whether a restore that replaces the database keeps it. Otherwise it's left to the operator. */
  kept?: true
  /** Its `line` is null if there's only a number to show. `old` has texts where a backup was only read. */
  query: (old: Place, now: Place) => string
}

/** Ids in the file are only printed if they are ids. */
const isId = (column: string) => `${column}::text ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`

const UNDONE_CHANGES: UndoneChange[] = [
  {
    title: 'Accounts deleted',
    kept: true,
    query: (old, now) => `
    select o.id::text as line from ${old('users')} o left join ${now('users')} u on u.id::text = o.id::text
    where o.repohost_id is not null and u.repohost_id is null and ${isId('o.id')}
      and (u.id is not null or exists (select from ${now('revocations')} r where r.user_id::text = o.id::text))
    order by 1`,
  },
  {
    title: 'Accounts disabled',
    kept: true,
    query: (old, now) => `
    select u.id::text as line from ${old('users')} o join ${now('users')} u on u.id::text = o.id::text
    where o.disabled_at is null and u.disabled_at is not null and u.repohost_id is not null order by 1`,
  },
  {
    title: 'People who signed out everywhere',
    kept: true,
    query: (old, now) => `
    select u.id::text as line from ${old('users')} o join ${now('users')} u on u.id::text = o.id::text
    where o.generation::int < u.generation and u.repohost_id is not null order by 1`,
  },
  {
    title: 'Other sessions that ended',
    kept: true,
    query: (old, now) => `
    select null as line from ${now('revocations')} r
    where r.jti is not null and r.expires_at > now()
      and not exists (select from ${old('revocations')} o where o.jti::text = r.jti::text)`,
  },
  {
    title: 'Access keys revoked',
    kept: true,
    query: (old, now) => `
    select k.key_id::text as line from ${old('key_secrets')} o
      join ${now('key_secrets')} k on k.key_id::text = o.key_id::text
    where o.revoked_at is null and o.expires_at::timestamptz > now() and k.revoked_at is not null order by 1`,
  },
  {
    title: 'Invites revoked (invite, workspace)',
    kept: true,
    query: (old, now) => `
    select i.id || ' ' || i.workspace_id as line from ${old('invites')} o
      join ${now('invites')} i on i.id::text = o.id::text
    where o.revoked_at is null and o.expires_at::timestamptz > now() and i.revoked_at is not null order by 1`,
  },
  {
    title: 'People who limited recording',
    kept: true,
    query: (old, now) => `
    select r.user_id::text as line from ${now('recordings')} r
      join ${old('users')} u on u.id::text = r.user_id::text
      left join ${old('recordings')} o on o.user_id::text = r.user_id::text
    where r.paused and not coalesce(o.paused::boolean, false)
      or not r.repos_off <@ coalesce(o.repos_off::text[], '{}')
      or r.hours is not null and r.hours is distinct from o.hours::jsonb order by 1`,
  },
  {
    title: 'Workspaces that hid people’s numbers',
    kept: true,
    query: (old, now) => `
    select w.id::text as line from ${old('workspaces')} o join ${now('workspaces')} w on w.id::text = o.id::text
    where o.activity_privacy = 'named' and w.activity_privacy = 'team' and w.deleted_at is null order by 1`,
  },
  {
    title: 'Removals of people who weren’t members, or who deleted their account',
    kept: true,
    query: (old, now) => `
    select null as line from ${now('removals')} r
      join ${old('users')} u on u.id::text = r.user_id::text
      join ${old('workspaces')} w on w.id::text = r.workspace_id::text
    where r.removed_at > '-infinity'
      and not exists (
        select from ${old('members')} m
        where m.workspace_id::text = r.workspace_id::text and m.user_id::text = r.user_id::text
      )
      and not exists (
        select from ${old('removals')} o
        where o.workspace_id::text = r.workspace_id::text and o.user_id::text = r.user_id::text
          and o.removed_at::timestamptz >= r.removed_at
      )
    union all
    select null from ${now('removed_people')} r join ${old('workspaces')} w on w.id::text = r.workspace_id::text
    where not exists (
        select from ${old('removed_people')} o
        where o.workspace_id::text = r.workspace_id::text and o.key_id = r.key_id and o.person = r.person
          and o.removed_at::timestamptz >= r.removed_at
      )`,
  },
  {
    // They may never have been in this database.
    title: `Accounts missing without a trace, as after a deletion more than ${limits.session_days} days ago,`,
    query: (old, now) => `
    select o.id::text as line from ${old('users')} o
    where o.repohost_id is not null and ${isId('o.id')}
      and not exists (select from ${now('users')} u where u.id::text = o.id::text)
      and not exists (select from ${now('revocations')} r where r.user_id::text = o.id::text)
    order by 1`,
  },
  {
    title: 'Workspaces deleted',
    query: (old, now) => `
    select o.id::text as line from ${old('workspaces')} o left join ${now('workspaces')} w on w.id::text = o.id::text
    where o.deleted_at is null and (w.id is null or w.deleted_at is not null) and ${isId('o.id')} order by 1`,
  },
  {
    title: 'Members who left or were removed (account, workspace)',
    query: (old, now) => `
    select u.id || ' ' || w.id as line from ${old('members')} o
      join ${now('users')} u on u.id::text = o.user_id::text and u.repohost_id is not null
      join ${now('workspaces')} w on w.id::text = o.workspace_id::text and w.deleted_at is null
    where not exists (select from ${now('members')} m where m.user_id = u.id and m.workspace_id = w.id) order by 1`,
  },
  {
    title: 'Admins who became members (account, workspace)',
    query: (old, now) => `
    select m.user_id || ' ' || m.workspace_id as line from ${old('members')} o
      join ${now('members')} m on m.user_id::text = o.user_id::text and m.workspace_id::text = o.workspace_id::text
    where o.role = 'admin' and m.role = 'member' order by 1`,
  },
  {
    title: 'Organizations that no longer add members (workspace)',
    query: (old, now) => `
    select w.id::text as line from ${old('organizations')} o
      join ${now('workspaces')} w on w.id::text = o.workspace_id::text and w.deleted_at is null
    where o.joins = 'member' and not exists (
        select from ${now('organizations')} n
        where n.workspace_id = w.id and n.host_id::text = o.host_id::text and n.joins = 'member'
      ) order by 1`,
  },
  {
    title: 'Repository patterns removed (workspace, pattern)',
    query: (old, now) => `
    select w.id || ' ' || o.owner_key || '/' || o.repo_key as line from ${old('patterns')} o
      join ${now('workspaces')} w on w.id::text = o.workspace_id::text and w.deleted_at is null
    where not exists (
        select from ${now('patterns')} p
        where p.workspace_id = w.id and p.owner_key = o.owner_key and p.repo_key = o.repo_key
      ) order by 1`,
  },
  {
    title: 'Webhooks deleted, or whose secret was replaced (workspace)',
    query: (old, now) => `
    select w.id::text as line from ${old('webhooks')} o
      join ${now('workspaces')} w on w.id::text = o.workspace_id::text and w.deleted_at is null
    where not exists (
        select from ${now('webhooks')} h
        where h.workspace_id = w.id and h.id::text = o.id::text and h.generation = o.generation::int
      ) order by 1`,
  },
]

/** Escapes what could change a terminal: patterns are from the file. */
export type Printable = (text: string) => string

/** @param only leaves out the changes that a restore keeps, or the others */
export const writeUndone = async (
  tx: postgres.TransactionSql,
  { old, now }: { old: Place; now: Place },
  printable: Printable,
  writeLine: (line: string) => void,
  only?: 'kept' | 'left',
): Promise<number> => {
  let total = 0
  for (const { title, kept, query } of UNDONE_CHANGES) {
    if (only && (only === 'kept') !== (kept === true)) continue
    const found = await tx.unsafe<{ line: string | null }[]>(query(old, now))
    if (found.length > 0) writeLine(`${title} since the backup: ${found.length}`)
    for (const { line } of found) if (line !== null) writeLine(`  ${printable(line)}`)
    total += found.length
  }
  return total
}
