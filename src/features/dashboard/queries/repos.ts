/** A dashboard's repositories. */

import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, orNull, statement, text } from '../../../platform/database/statement.js'
import { COUNTS, eachCount, isPerson } from '../../minutes/index.js'
import { SUM_OF_COUNTS } from '../../rollups/index.js'
import { activityOf, OF_REPO, RAW, ROW, type Sources, SUMS, sums } from './sources.js'

/**
 * $5, $6: months; days of others; $7, $8: partly valid months, and bits of their valid days. The `union` keeps one row
 * for each person and repository, so that everyone counts once. People in repositories beyond the limit are counted
 * only if there are any.
 */
const READ_REPOS = statement(
  'read dashboard repositories',
  { repo: orNull(text), ...sums, members: integer },
  `
  with parts as (
    select repo_key, minutes, ${COUNTS}
    from repo_months where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union all
    select repo_key, minutes, ${COUNTS}
    from repo_days where workspace_id = $1::uuid and day = any($6::date[]) and ${OF_REPO}
    union all
    select a.repo_key, ${SUM_OF_COUNTS} from ${RAW} a group by a.repo_key
  ), repos as (
    select a.repo_key, ${SUMS} from parts a group by a.repo_key
  ), placed as (
    select *,
      row_number() over (order by active_minutes desc, ${eachCount((count) => `${count} desc`)}, repo_key) as place
    from repos
  ), seen as not materialized (
    select repo_key, user_id from repo_people
    where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union
    select repo_key, user_id
    from repo_people join unnest($7::date[], $8::int[]) as part (month, day_bits) using (month)
    where workspace_id = $1::uuid and month = any($7::date[]) and ${OF_REPO} and repo_people.day_bits & part.day_bits <> 0
    union
    select a.repo_key, a.user_id from ${RAW} a
  ), people as not materialized (
    select repo_key, user_id from seen where ${isPerson('user_id')}
  ), members as (
    select repo_key, count(*)::int as members from people group by repo_key
  )
  select case when count(*) = 1 then min(coalesce(named.repo, placed.repo_key)) end as repo,
    sum(active_minutes) as active_minutes, ${eachCount((count) => `sum(${count}) as ${count}`)},
    case when count(*) = 1 then coalesce(min(members.members), 0) else (
      select count(distinct user_id)::int from people
      where repo_key in (select repo_key from placed where place >= ${limits.dashboard_rows})
    ) end as members
  from placed
  left join members on members.repo_key = placed.repo_key
  left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = placed.repo_key
  group by ${ROW} order by ${ROW}`,
)

/** Repositories with activity, most minutes first. */
export const readRepos = (tx: Db, sources: Sources) => {
  const { months, days, parts, masks } = sources
  return tx.rows(READ_REPOS, [...activityOf(sources), months, days, parts, masks])
}
