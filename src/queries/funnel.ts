import type { Funnel, Milestone } from '../../schemas/funnel.js'
import { limits } from '../../schemas/limits.js'
import type { Database } from '../db/client.js'

const INSERT_EVENT = `
  with caller as (select id from users where id = $1::uuid),
  lifetime as (
    insert into funnel_users (user_id, event, source)
    select id, $2::text, $3::text from caller
    on conflict (user_id, event, source) do update set events = funnel_users.events + 1
  )
  insert into funnel_days (user_id, event, source, day)
  select id, $2::text, $3::text, (now() at time zone 'UTC')::date from caller
  on conflict (user_id, event, source, day) do update set events = funnel_days.events + 1
  returning events`

/** @returns false when there is no such user. */
export const insertFunnelEvent = async (
  database: Database,
  userId: string,
  { event, source }: { event: string; source: string },
): Promise<boolean> => (await database.read.statement(INSERT_EVENT, [userId, event, source])).length > 0

const INSERT_MILESTONES = `
  with reached as (
    insert into funnel_users (user_id, event, source)
    select u.id, m.event, 'service'
    from unnest($1::uuid[], $2::text[]) as m (user_id, event)
    join users u on u.id = m.user_id
    order by u.id, m.event
    on conflict (user_id, event, source) do nothing
    returning user_id, event, source
  )
  insert into funnel_days (user_id, event, source, day)
  select user_id, event, source, (now() at time zone 'UTC')::date from reached`

/** Each user has each milestone once, whoever reports it and how often. */
export const insertMilestones = async (
  database: Database,
  reached: { userId: string; milestone: Milestone }[],
): Promise<void> => {
  const userIds = reached.map(({ userId }) => userId)
  await database.read.statement(INSERT_MILESTONES, [userIds, reached.map(({ milestone }) => milestone)])
}

export interface FunnelRange {
  from: string | undefined
  to: string | undefined
  source: string | undefined
}

const ALL_TIME = 'select user_id, event, source, first_at, events from funnel_users'
const IN_RANGE = `
  select user_id, event, source, first_at, events from funnel_days
  where day between coalesce($3::date, '-infinity') and coalesce($4::date, 'infinity')`

/**
 * One statement for everything. `$1` are the steps, `$2` the source or null, `$3` and `$4` the days of a range. The
 * users' first times at all steps are laid side by side once; all that is asked of steps follows from these rows.
 * The rows themselves are read three times: keeping them for that would cost several times as much.
 */
const funnelStatement = (steps: number, ranged: boolean): string => {
  const indexes = Array.from({ length: steps }, (_, index) => index)
  const rows = `${ranged ? `${IN_RANGE} and` : `${ALL_TIME} where`} ($2::text is null or source = $2)`
  const stepOf = (index: number) => `json_build_object(
    'users', count(t${index}),
    'with_previous', count(*) filter (where t${index} is not null and t${Math.max(0, index - 1)} is not null),
    'with_start', count(*) filter (where t${index} is not null and t0 is not null),
    'median', percentile_cont(0.5) within group (
      order by greatest(0, extract(epoch from t${index} - t0)::float8)
    ) filter (where t${index} is not null and t0 is not null))`
  return `
  with rows as not materialized (${rows}),
  firsts as (
    select user_id,
      ${indexes.map((index) => `min(first_at) filter (where event = ($1::text[])[${index + 1}]) as t${index}`).join(',\n      ')}
    from rows group by user_id
  ),
  events as (
    select event, count(*) as users, sum(events) as events
    from (select user_id, event, sum(events) as events from rows group by user_id, event) e
    group by event
  ),
  sources as (
    select source, count(*) as users, sum(events) as events
    from (select user_id, source, sum(events) as events from rows group by user_id, source) s
    group by source
  )
  select
    (select json_build_object('users', count(*), 'steps', json_build_array(${indexes.map(stepOf).join(',')})) from firsts) as firsts,
    (select coalesce(json_object_agg(event, events), '{}') from events where event = any ($1::text[])) as step_events,
    (select coalesce(json_agg(o), '[]') from (
      select event, users, events from events where event <> all ($1::text[])
      order by users desc, events desc, event limit ${limits.funnel_names}
    ) o) as other_events,
    (select coalesce(json_agg(s), '[]') from (
      select source, users, events from sources
      order by users desc, events desc, source limit ${limits.funnel_names}
    ) s) as by_source`
}

interface FunnelRow {
  firsts: {
    users: number
    steps: { users: number; with_previous: number; with_start: number; median: number | null }[]
  }
  step_events: Record<string, number>
  other_events: Funnel['other_events']
  by_source: Funnel['by_source']
}

const share = (part: number, whole: number | undefined): number | null => (whole ? part / whole : null)

export const readFunnel = async (
  database: Database,
  steps: string[],
  { from, to, source }: FunnelRange,
): Promise<Funnel> => {
  const ranged = from !== undefined || to !== undefined
  const text = funnelStatement(steps.length, ranged)
  const days = ranged ? [from ?? null, to ?? null] : []
  const [row] = await database.read.statement<FunnelRow>(text, [steps, source ?? null, ...days])
  if (!row) throw new Error('An aggregate has one row')
  const counted = row.firsts.steps
  return {
    range: { from: from ?? null, to: to ?? null },
    users: row.firsts.users,
    steps: counted.map(({ users, with_previous, with_start, median }, index) => ({
      event: steps[index] ?? '',
      users,
      events: row.step_events[steps[index] ?? ''] ?? 0,
      conversion_from_previous: index === 0 ? null : share(with_previous, counted[index - 1]?.users),
      conversion_from_start: share(with_start, counted[0]?.users),
      median_seconds_from_start: median,
    })),
    by_source: row.by_source,
    other_events: row.other_events,
  }
}
