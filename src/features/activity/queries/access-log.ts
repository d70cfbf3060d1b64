/** Who looked at whose numbers by name. */

import type { View } from '../../../../schemas/account.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, date, statement, text, uuid } from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'
import { ANYTHING } from './rollups.js'

/** Stands for everybody of the workspace in `dashboard_views.member_id`. */
const EVERYBODY = DELETED_USER

export interface Look {
  workspaceId: string
  viewerId: string
  /** Undefined: everybody. */
  memberId: string | undefined
  /** In lower case. Undefined: all, or `memberId` is named whatever there is. */
  repoKey: string | undefined
  from: string
  to: string
  /** As a file to keep. */
  exported: boolean
}

/** SQL: adds looks; those of one viewer at the same on one day are one. @param looks a query */
const addViews = (looks: string): string => `
  insert into dashboard_views as v (workspace_id, day, viewer_id, member_id, repo_key, from_day, to_day, exported)
  ${looks}
  on conflict (workspace_id, day, viewer_id, member_id, repo_key) do update set
    from_day = least(v.from_day, excluded.from_day), to_day = greatest(v.to_day, excluded.to_day),
    exported = v.exported or excluded.exported`

/**
 * Nothing of a workspace that is being deleted; and nothing of a repository without any activity, of which there are as
 * many as somebody cares to name.
 */
const RECORD_VIEW = statement(
  'record who looks',
  { day: date, from: date, to: date, exported: bool },
  `${addViews(`select $1::uuid, (now() at time zone 'UTC')::date, $2::uuid, $3::uuid, $4::text, $5::date, $6::date, $7::bool
  from workspaces where id = $1::uuid and deleted_at is null
    and ($4::text = '' or exists (select from activity_repos r where r.workspace_id = $1::uuid and r.repo_key = $4::text))`)}
  returning day, from_day as "from", to_day as "to", exported`,
)

/** @returns what is known now of the viewer's looks at the same on this day */
export const recordView = async (
  db: Db,
  { workspaceId, viewerId, memberId = EVERYBODY, repoKey = '', from, to, exported }: Look,
) => {
  const [row] = await db.rows(RECORD_VIEW, [workspaceId, viewerId, memberId, repoKey, from, to, exported])
  return row
}

const LIST_WORKSPACES = statement(
  'list the workspaces in which somebody may have been looked at',
  { id: uuid },
  `
  select workspace_id as id from members where user_id = $1::uuid
  union select workspace_id from activity_people where user_id = $1::uuid
  union select workspace_id from dashboard_views where member_id = $1::uuid`,
)

/**
 * $1: who was looked at; $2: their workspaces; $3: how many; $4 to $6: where the previous page ended, or nulls. Named is
 * who is asked for by name, who has activity in the range, and, without a filter, every member of that day.
 */
const LIST_VIEWS = statement(
  'list who looked at somebody',
  {
    day: date,
    workspaceId: uuid,
    workspace: text,
    viewerId: uuid,
    viewer: text,
    from: date,
    to: date,
    exported: bool,
  },
  `
  select v.day, v.workspace_id as "workspaceId", w.name as workspace, v.viewer_id as "viewerId", u.login as viewer,
    min(v.from_day) as "from", max(v.to_day) as "to", bool_or(v.exported) as exported
  from dashboard_views v
  join workspaces w on w.id = v.workspace_id and w.deleted_at is null
  join users u on u.id = v.viewer_id
  left join members m on m.workspace_id = v.workspace_id and m.user_id = $1::uuid
  where v.workspace_id = any($2::uuid[]) and v.viewer_id <> $1::uuid
    and ($4::date is null or (v.day, v.workspace_id, v.viewer_id) < ($4::date, $5::uuid, $6::uuid))
    and (
      v.member_id = $1::uuid
      or v.member_id = '${EVERYBODY}' and (
        v.repo_key = '' and (m.joined_at at time zone 'UTC')::date <= v.day
        or exists (
          select from activity a
          where a.workspace_id = v.workspace_id and a.user_id = $1::uuid and a.day between v.from_day and v.to_day
            and (v.repo_key = '' or a.repo_key = v.repo_key) and ${ANYTHING}
        )
      )
    )
  group by v.day, v.workspace_id, w.name, v.viewer_id, u.login
  order by v.day desc, v.workspace_id desc, v.viewer_id desc
  limit $3::int`,
)

/** Where a page of views ends. */
export interface ListedView {
  position: [day: string, workspaceId: string, viewerId: string]
  view: View
}

/** Newest first. */
export const listViews = async (
  db: Db,
  userId: string,
  after: string[] | undefined,
  rows: number,
): Promise<ListedView[]> => {
  const workspaces = await db.rows(LIST_WORKSPACES, [userId])
  const [day = null, workspaceId = null, viewerId = null] = after ?? []
  const ids = workspaces.map(({ id }) => id)
  const found = await db.rows(LIST_VIEWS, [userId, ids, rows, day, workspaceId, viewerId])
  return found.map((row) => ({
    position: [row.day, row.workspaceId, row.viewerId],
    view: {
      viewer: row.viewer,
      workspace: { id: row.workspaceId, name: row.workspace },
      day: row.day,
      range: { from: row.from, to: row.to },
      kind: row.exported ? 'csv' : 'dashboard',
    },
  }))
}

const MERGE_VIEWS = statement(
  'hand over looks',
  {},
  addViews(`select workspace_id, day, '${DELETED_USER}'::uuid, member_id, repo_key, from_day, to_day, exported
  from dashboard_views where viewer_id = $1::uuid`),
)
const DELETE_VIEWS = statement('erase looks', {}, 'delete from dashboard_views where viewer_id = $1::uuid')

/** Takes a viewer's name off their looks: those whom they looked at still learn that somebody did. */
export const handOverViews = async (tx: Db, viewerId: string): Promise<void> => {
  await tx.rows(MERGE_VIEWS, [viewerId])
  await tx.rows(DELETE_VIEWS, [viewerId])
}
