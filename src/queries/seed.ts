/** Made-up activity, by the million: for the demonstration and the benchmarks. */
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { parsePatterns } from '../domain/repo-pattern.js'
import { insertPatterns } from './workspaces.js'

/**
 * $1: the workspace; $2, $3: users and by how many hours their clocks are ahead; $4: repositories, at least three;
 * $5, $6: first and last day. A working day has three blocks of three hours from nine on, each in another repository;
 * people change their repositories every few weeks, have free weekends (mostly), holidays, and weeks of their own away.
 */
const INSERT_ACTIVITY = `
  with people as (
    select user_id, ahead, n::int from unnest($2::uuid[], $3::int[]) with ordinality as p (user_id, ahead, n)
  ), repos as (
    select repo, n::int - 1 as n, count(*) over ()::int as total from unnest($4::text[]) with ordinality as r (repo, n)
  ), blocks as (
    select p.user_id, p.ahead, d.day::date, b.block,
      (p.n * 7 + extract(week from d.day)::int / 3 + b.block) as choice,
      (10 + random() * 50)::int as first, (15 + random() * 45)::int as second, (random() * 40)::int as third
    from people p
    cross join generate_series($5::text::date, $6::text::date, interval '1 day') as d (day)
    cross join generate_series(0, 2) as b (block)
    where (extract(isodow from d.day) < 6 or random() < 0.04)
      and to_char(d.day, 'MM-DD') not between '12-24' and '12-31' and to_char(d.day, 'MM-DD') not in ('01-01', '05-01')
      and (extract(doy from d.day)::int + p.n * 37) % 120 > 8
      and random() < 0.88
  ), rows as (
    select b.*, lower(r.repo) as repo_key,
      set_byte(set_byte(set_byte(decode(repeat('00', 24), 'hex'),
        (33 + b.block * 3 - b.ahead) % 24, first),
        (34 + b.block * 3 - b.ahead) % 24, second),
        (35 + b.block * 3 - b.ahead) % 24, third) as hours
    from blocks b join repos r on r.n = b.choice % r.total
  ), written as (
    insert into activity (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues, hours)
    select $1::uuid, user_id, day, repo_key, first + second + third,
      floor(random() * random() * 7), floor(random() * 1.3), hours
    from rows
    on conflict (workspace_id, user_id, day, repo_key) do nothing
    returning day
  ), named as (
    insert into activity_repos (workspace_id, repo_key, repo)
    select $1::uuid, lower(repo), repo from repos on conflict do nothing
  ), marked as (
    insert into stale_days (workspace_id, day) select distinct $1::uuid, day from written
  )
  select count(*)::int as rows from written`

export interface SeedPerson {
  userId: string
  timezone: string
  /** Hours by which the person's clock is ahead of UTC. */
  ahead: number
}

export interface Seed {
  workspaceId: string
  people: SeedPerson[]
  /** `owner/repo`, at least three. */
  repos: string[]
  from: string
  to: string
}

/** What is there already stays as it is. @returns how many rows are new */
export const insertSeed = async (tx: Db, { workspaceId, people, repos, from, to }: Seed): Promise<number> => {
  await tx.statement('set local statement_timeout = 0', [])
  const users = people.map(({ userId }) => userId)
  await tx.statement(
    `update users u set timezone = z.timezone
      from unnest($1::uuid[], $2::text[]) as z (user_id, timezone) where u.id = z.user_id`,
    [users, people.map(({ timezone }) => timezone)],
  )
  const ahead = people.map((person) => person.ahead)
  const [row] = await tx.statement<{ rows: number }>(INSERT_ACTIVITY, [
    workspaceId,
    users,
    ahead,
    repos,
    from,
    to,
  ])
  return row?.rows ?? 0
}

/** $1, $2: id and name; $3: the owner, in lower case; $4: host ids begin after it; $5: how many members. */
const INSERT_TEAM = `
  with team as (
    insert into workspaces (id, name, idle_window_minutes)
    values ($1::uuid, $2::text, ${limits.idle_window_minutes_default})
  ), people as (
    insert into users (id, repohost_id, login, login_key, avatar_url)
    select gen_random_uuid(), $4::bigint + n, $3::text || '-' || n, $3::text || '-' || n, ''
    from generate_series(1, $5::int) as n
    returning id, repohost_id
  ), joined as (
    insert into members (workspace_id, user_id, role)
    select $1::uuid, id, case when repohost_id = $4::bigint + 1 then 'admin' else 'member' end from people
  )
  select id from people order by repohost_id`

/** A workspace for `owner/*` with made-up members; the first is its admin. @returns the members' ids */
export const insertTeam = async (
  tx: Db,
  team: { workspaceId: string; name: string; owner: string; firstRepohostId: number; members: number },
): Promise<string[]> => {
  const { workspaceId, name, owner, firstRepohostId, members } = team
  const rows = await tx.statement<{ id: string }>(INSERT_TEAM, [
    workspaceId,
    name,
    owner,
    firstRepohostId,
    members,
  ])
  await insertPatterns(tx, workspaceId, parsePatterns([`${owner}/*`]))
  return rows.map(({ id }) => id)
}
