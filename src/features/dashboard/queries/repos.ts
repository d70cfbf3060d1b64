/** A dashboard's repositories. */

import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, orNull, statement, text } from '../../../platform/database/statement.js'
import { countsOf, eachCount, sumsOf } from '../../minutes/index.js'
import { activityOf, notPeople, OF_REPO, RAW, ROW, type Sources, SUMS, sums } from './sources.js'

/** SQL: who is in which repository, in whole months ($5) and partly valid ones ($6, $7: bits of their valid days). `union` keeps one row for each person and repository. */
const PEOPLE = `(
    select repo_key, user_id from repo_people
    where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union
    select repo_key, user_id
    from repo_people join unnest($6::date[], $7::int[]) as part (month, day_bits) using (month)
    where workspace_id = $1::uuid and month = any($6::date[]) and ${OF_REPO} and repo_people.day_bits & part.day_bits <> 0
    union
    select a.repo_key, a.user_id from ${RAW} a
  )`

/** $8: who isn’t counted as a person; $9: the days of the partly valid months. */
const READ_REPOS = statement(
  'read dashboard repositories',
  { repo: orNull(text), ...sums, members: integer },
  `
  with parts as (
    select repo_key, minutes, ${countsOf()}
    from repo_months where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union all
    select repo_key, minutes, ${countsOf()}
    from repo_days where workspace_id = $1::uuid and day = any($9::date[]) and ${OF_REPO}
    union all
    select a.repo_key, ${sumsOf('a')} from ${RAW} a group by a.repo_key
  ), repos as (
    select a.repo_key, ${SUMS} from parts a group by a.repo_key
  ), placed as (
    select *,
      row_number() over (order by active_minutes desc, ${eachCount((count) => `${count} desc`)}, repo_key) as place
    from repos
  ), members as (
    select repo_key, count(*)::int as members from ${PEOPLE} people where user_id <> all($8::uuid[]) group by repo_key
  )
  select case when count(*) = 1 then min(coalesce(named.repo, placed.repo_key)) end as repo,
    sum(active_minutes) as active_minutes, ${eachCount((count) => `sum(${count}) as ${count}`)},
    coalesce(min(members.members), 0) as members
  from placed
  left join members on members.repo_key = placed.repo_key
  left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = placed.repo_key
  group by ${ROW} order by ${ROW}`,
)
/** $9: the listed repositories. */
const COUNT_OTHERS = statement(
  'count people of other repositories',
  { members: integer },
  `
  select count(distinct user_id)::int as members from ${PEOPLE} people
  where user_id <> all($8::uuid[]) and repo_key <> all($9::text[])`,
)

/** Repositories with activity, most minutes first. The last row, without a name, is all those beyond the limit. */
export const readRepos = async (tx: Db, sources: Sources) => {
  const { months, days, parts, masks } = sources
  const parameters = [...activityOf(sources), months, parts, masks, notPeople(sources)]
  const rows = await tx.rows(READ_REPOS, [...parameters, days])
  if (rows.length < limits.dashboard_rows || rows.at(-1)?.repo !== null) return rows
  const listed = rows.flatMap(({ repo }) => repo?.toLowerCase() ?? [])
  const [others] = await tx.rows(COUNT_OTHERS, [...parameters, listed])
  return rows.map((row) => (row.repo === null ? { ...row, ...others } : row))
}
