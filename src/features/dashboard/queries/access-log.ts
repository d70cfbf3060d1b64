/** The access log: who viewed whose numbers by name. */

import type { View } from '../../../../schemas/account.js'
import type { Db } from '../../../platform/database/client.js'
import { date, statement, text, textOf, uuid } from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'
import { hasActivity } from '../../minutes/index.js'

/** Stands for all members of the workspace in `dashboard_views.member_id`. */
const ALL_MEMBERS = DELETED_USER

export interface AccessLogView {
  workspaceId: string
  viewerId: string
  /** Undefined: all members. */
  memberId: string | undefined
  /** In lower case. Undefined: no repository filter. */
  repoKey: string | undefined
  from: string
  to: string
  kind: View['kind']
  /** The days before the range that the response compares it with. */
  before: { from: string; to: string } | undefined
}

/** The columns with the days of each kind of view. */
const daysOfKind = { dashboard: 'viewed', comparison: 'compared', csv: 'downloaded' } as const
const DAYS = Object.values(daysOfKind).join(', ')

/** With more ranges than this, a row merges them into one, so that no viewer can make it grow endlessly. */
const MAX_RANGES = 400

/** SQL: a row's days plus the added ones. */
const withAdded = (column: string): string => `case
      when (select count(*) from unnest(v.${column})) < ${MAX_RANGES} then v.${column} + excluded.${column}
      else datemultirange(range_merge(v.${column} + excluded.${column}))
    end`

/** SQL: adds views. Views of one viewer on one day with the same filter become one row. @param views a query */
const addViews = (views: string): string => `
  insert into dashboard_views as v (workspace_id, day, viewer_id, member_id, repo_key, from_day, to_day, exported, ${DAYS})
  ${views}
  on conflict (workspace_id, day, viewer_id, member_id, repo_key) do update set
    from_day = least(v.from_day, excluded.from_day), to_day = greatest(v.to_day, excluded.to_day),
    exported = v.exported or excluded.exported,
    ${Object.values(daysOfKind)
      .map((column) => `${column} = ${withAdded(column)}`)
      .join(', ')}`

/** SQL: the days that the response compares its range with. */
const DAYS_BEFORE = `case when $8::date is null then '{}' else datemultirange(daterange($8::date, $9::date, '[]')) end`

const daysIf = (kind: View['kind']): string =>
  `case when $7::text = '${kind}' then datemultirange(daterange($5::date, $6::date, '[]')) else '{}' end`

/**
 * Skips workspaces that are being deleted, and repositories without activity, because callers can name any number of
 * those.
 */
const RECORD_VIEW = statement(
  'record views',
  { day: date },
  `${addViews(`select $1::uuid, (now() at time zone 'UTC')::date, $2::uuid, $3::uuid, $4::text, least($5::date, $8::date), $6::date,
    $7::text = 'csv', ${daysIf('dashboard')}, ${daysIf('comparison')} + ${DAYS_BEFORE}, ${daysIf('csv')}
  from workspaces where id = $1::uuid and deleted_at is null
    and ($4::text = '' or exists (select from activity_repos r where r.workspace_id = $1::uuid and r.repo_key = $4::text))`)}
  returning day`,
)

/** @returns the day of the view, or undefined if there was no one to view */
export const recordView = async (
  db: Db,
  { workspaceId, viewerId, memberId = ALL_MEMBERS, repoKey = '', from, to, kind, before }: AccessLogView,
): Promise<string | undefined> => {
  const filter = [workspaceId, viewerId, memberId, repoKey]
  const days = [from, to, kind, before?.from ?? null, before?.to ?? null]
  const [row] = await db.rows(RECORD_VIEW, [...filter, ...days])
  return row?.day
}

const LIST_WORKSPACES = statement(
  'list workspaces with possible views',
  { id: uuid },
  `
  select workspace_id as id from members where user_id = $1::uuid
  union select workspace_id from activity_people where user_id = $1::uuid
  union select workspace_id from dashboard_views where member_id = $1::uuid`,
)

/** SQL: a workspace key's name, with the person who created it. */
const VIEWER = `coalesce(u.login, 'key ' || k.name || ' (created by ' || c.login || ')', 'deleted key')`

/** SQL: the days of a view by kind. Earlier versions merged all kinds into one range. */
const DAYS_BY_KIND = `unnest(
      array['dashboard', 'comparison', 'csv', 'earlier'],
      array[v.viewed, v.compared, v.downloaded,
        case when range_merge(v.viewed + v.compared + v.downloaded) @> daterange(v.from_day, v.to_day, '[]') then '{}'
          else datemultirange(daterange(v.from_day, v.to_day, '[]')) end]
    )`

/**
 * $1: the viewed person; $2: their workspaces; $3: how many; $4 to $8: where the previous page ended, or nulls. A view
 * names the person in its filter, the people with activity in the range and, without a filter, everyone who was a
 * member that day. Ranges of one kind are merged if they overlap or touch.
 */
const LIST_VIEWS = statement(
  'list views',
  {
    day: date,
    workspaceId: uuid,
    workspace: text,
    viewerId: uuid,
    viewer: text,
    source: text,
    kind: textOf<View['kind']>(),
    from: date,
    to: date,
  },
  `
  with views as (
    select v.day, v.workspace_id, w.name as workspace, v.viewer_id, ${VIEWER} as viewer, d.kind, range_agg(r.days) as days,
      bool_or(v.exported) as exported
    from dashboard_views v
    cross join lateral ${DAYS_BY_KIND} as d (kind, days)
    cross join lateral unnest(d.days) as r (days)
    join workspaces w on w.id = v.workspace_id and w.deleted_at is null
    left join users u on u.id = v.viewer_id
    left join access_keys k on k.id = v.viewer_id
    left join users c on c.id = k.created_by
    left join members m on m.workspace_id = v.workspace_id and m.user_id = $1::uuid
    where v.workspace_id = any($2::uuid[]) and v.viewer_id <> $1::uuid
      and ($4::date is null or (v.day, v.workspace_id, v.viewer_id) <= ($4::date, $5::uuid, $6::uuid))
      and (
        v.member_id = $1::uuid
        or v.member_id = '${ALL_MEMBERS}' and (
          v.repo_key = '' and (m.joined_at at time zone 'UTC')::date <= v.day
          or exists (
            select from daily_activity a
            where a.workspace_id = v.workspace_id and a.user_id = $1::uuid
              and a.day >= lower(r.days) and a.day < upper(r.days)
              and (v.repo_key = '' or a.repo_key = v.repo_key) and ${hasActivity('a')}
          )
        )
      )
    group by v.day, v.workspace_id, w.name, v.viewer_id, u.login, k.name, c.login, d.kind
  )
  select v.day, v.workspace_id as "workspaceId", v.workspace, v.viewer_id as "viewerId", v.viewer, v.kind as source,
    case when v.kind <> 'earlier' then v.kind when v.exported then 'csv' else 'dashboard' end as kind,
    lower(r.days) as "from", upper(r.days) - 1 as "to"
  from views v cross join lateral (
    select unnest(case when v.kind = 'earlier' then datemultirange(range_merge(v.days)) else v.days end) as days
  ) r
  where $4::date is null
    or (v.day, v.workspace_id, v.viewer_id, v.kind, lower(r.days)) < ($4::date, $5::uuid, $6::uuid, $7::text, $8::date)
  order by v.day desc, v.workspace_id desc, v.viewer_id desc, v.kind desc, lower(r.days) desc
  limit $3::int`,
)

/** The end of a page of views. */
export interface ListedView {
  position: [day: string, workspaceId: string, viewerId: string, source: string, from: string]
  view: View
}

/** Views of a person's numbers, newest first. */
export const listViews = async (
  db: Db,
  userId: string,
  after: string[] | undefined,
  rows: number,
): Promise<ListedView[]> => {
  const workspaces = await db.rows(LIST_WORKSPACES, [userId])
  const [day = null, workspaceId = null, viewerId = null, source = null, from = null] = after ?? []
  const ids = workspaces.map(({ id }) => id)
  const found = await db.rows(LIST_VIEWS, [userId, ids, rows, day, workspaceId, viewerId, source, from])
  return found.map((row) => ({
    position: [row.day, row.workspaceId, row.viewerId, row.source, row.from],
    view: {
      viewer: row.viewer,
      workspace: { id: row.workspaceId, name: row.workspace },
      day: row.day,
      range: { from: row.from, to: row.to },
      kind: row.kind,
    },
  }))
}

/** A day's views, which the limits on requests bound. */
const FIND_VIEW = statement(
  'find own view',
  { workspaceId: uuid, day: date },
  'select workspace_id as "workspaceId", day from dashboard_views where viewer_id = $1::uuid limit 1',
)

/** SQL: the views of $1 in the workspace $2 on the day $3. */
const OF_VIEWER = 'viewer_id = $1::uuid and workspace_id = $2::uuid and day = $3::date'

const MERGE_VIEWS = statement(
  'reassign views',
  {},
  addViews(`select workspace_id, day, '${DELETED_USER}'::uuid, member_id, repo_key, from_day, to_day, exported, ${DAYS}
  from dashboard_views where ${OF_VIEWER}`),
)
const DELETE_VIEWS = statement('delete views', {}, `delete from dashboard_views where ${OF_VIEWER}`)

/**
 * Removes a viewer's name from one day's access log. The people who were viewed still see the view.
 * @returns whether there was a view
 */
export const reassignViews = async (tx: Db, viewerId: string): Promise<boolean> => {
  const [view] = await tx.rows(FIND_VIEW, [viewerId])
  if (!view) return false
  const ofDay = [viewerId, view.workspaceId, view.day]
  await tx.rows(MERGE_VIEWS, ofDay)
  await tx.rows(DELETE_VIEWS, ofDay)
  return true
}
