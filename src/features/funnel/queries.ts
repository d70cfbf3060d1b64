import type { Funnel, Milestone } from '../../../schemas/funnel.js'
import { limits } from '../../../schemas/limits.js'
import { own } from '../../../schemas/own.js'
import type { Db } from '../../platform/database/client.js'
import { integer, json, singleRow, statement } from '../../platform/database/statement.js'

const INSERT_EVENT = statement(
  'upsert funnel event',
  { events: integer },
  `
  with caller as (select id from users where id = $1::uuid and repohost_id is not null),
  lifetime as (
    insert into funnel_users (user_id, event, source)
    select id, $2::text, $3::text from caller
    on conflict (user_id, event, source) do update set events = funnel_users.events + 1
  )
  insert into funnel_days (user_id, event, source, day)
  select id, $2::text, $3::text, (now() at time zone 'UTC')::date from caller
  on conflict (user_id, event, source, day) do update set events = funnel_days.events + 1
  returning events`,
)

/** @returns false if the user doesn't exist */
export const insertFunnelEvent = async (
  db: Db,
  userId: string,
  { event, source }: { event: string; source: string },
): Promise<boolean> => (await db.rows(INSERT_EVENT, [userId, event, source])).length > 0

const INSERT_MILESTONES = statement(
  'record user milestones',
  {},
  `
  with reached as (
    insert into funnel_users (user_id, event, source)
    select u.id, m.event, 'service'
    from unnest($1::uuid[], $2::text[]) as m (user_id, event)
    join users u on u.id = m.user_id and u.repohost_id is not null
    order by u.id, m.event
    on conflict (user_id, event, source) do nothing
    returning user_id, event, source
  )
  insert into funnel_days (user_id, event, source, day)
  select user_id, event, source, (now() at time zone 'UTC')::date from reached`,
)

/** Each user reaches each milestone once. */
export const insertMilestones = async (
  db: Db,
  reached: { userId: string; milestone: Milestone }[],
): Promise<void> => {
  const userIds = reached.map(({ userId }) => userId)
  await db.rows(INSERT_MILESTONES, [userIds, reached.map(({ milestone }) => milestone)])
}

export interface FunnelRange {
  from?: string | null | undefined
  to?: string | null | undefined
  source?: string | null | undefined
}

interface StepCounts {
  users: number
  /** How many of them also took the previous step, and the first step. */
  with_previous: number
  with_start: number
  /** Seconds since the first step. */
  median: number | null
}

/**
 * $1: the steps; $2: the source or null; more for `rows`. A single statement that reads the rows several times, because
 * keeping them would cost several times as much.
 */
const funnelOf = (name: string, rows: string) =>
  statement(
    name,
    {
      users: integer,
      steps: json<Record<string, StepCounts>>(),
      step_events: json<Record<string, number>>(),
      other_events: json<Funnel['other_events']>(),
      by_source: json<Funnel['by_source']>(),
    },
    `
  with rows as not materialized (
    ${rows} and ($2::text is null or source = $2)
  ),
  reached as (
    select user_id, step, min(first_at) as at
    from rows join unnest($1::text[]) with ordinality s (event, step) using (event)
    group by user_id, step
  ),
  compared as (
    select step, lag(step) over steps_of_user = step - 1 as has_previous,
      first_value(step) over steps_of_user = 1 as has_start, at - first_value(at) over steps_of_user as since_start
    from reached
    window steps_of_user as (partition by user_id order by step)
  ),
  steps as (
    select step, count(*) as users, count(*) filter (where has_previous) as with_previous,
      count(*) filter (where has_start) as with_start,
      percentile_cont(0.5) within group (
        order by greatest(0, extract(epoch from since_start)::float8)
      ) filter (where has_start) as median
    from compared group by step
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
    (select count(*)::int from (select from rows group by user_id) u) as users,
    (select coalesce(json_object_agg(step, s), '{}') from steps s) as steps,
    (select coalesce(json_object_agg(event, events), '{}') from events where event = any ($1::text[])) as step_events,
    (select coalesce(json_agg(o), '[]') from (
      select event, users, events from events where event <> all ($1::text[])
      order by users desc, events desc, event limit ${limits.funnel_names}
    ) o) as other_events,
    (select coalesce(json_agg(s), '[]') from (
      select source, users, events from sources
      order by users desc, events desc, source limit ${limits.funnel_names}
    ) s) as by_source`,
  )

const READ_ALL_TIME = funnelOf(
  'read funnel totals',
  'select user_id, event, source, first_at, events from funnel_users where true',
)

/** $3, $4: the first and the last day, or null. */
const READ_RANGE = funnelOf(
  'read funnel range',
  `select user_id, event, source, first_at, events from funnel_days
    where day between coalesce($3::date, '-infinity') and coalesce($4::date, 'infinity')`,
)

const NO_USERS: StepCounts = { users: 0, with_previous: 0, with_start: 0, median: null }

const share = (part: number, whole: number | undefined): number | null => (whole ? part / whole : null)

export const readFunnel = async (
  db: Db,
  steps: string[],
  { from = null, to = null, source = null }: FunnelRange,
): Promise<Funnel> => {
  const isAllTime = from === null && to === null
  const row = singleRow(
    isAllTime
      ? await db.rows(READ_ALL_TIME, [steps, source])
      : await db.rows(READ_RANGE, [steps, source, from, to]),
  )
  const counts = steps.map((_, index) => row.steps[index + 1] ?? NO_USERS)
  return {
    range: { from, to },
    users: row.users,
    steps: counts.map(({ users, with_previous, with_start, median }, index) => ({
      event: steps[index] ?? '',
      users,
      events: own(row.step_events, steps[index] ?? '') ?? 0,
      conversion_from_previous: index === 0 ? null : share(with_previous, counts[index - 1]?.users),
      conversion_from_start: share(with_start, counts[0]?.users),
      median_seconds_from_start: median,
    })),
    by_source: row.by_source,
    other_events: row.other_events,
  }
}
