/** A person's own commits and closed issues across workspaces. Where several count a repository, its highest numbers. */
import { perCount } from '../../../../schemas/counts.js'
import type { Db } from '../../../platform/database/client.js'
import { date, integer, statement, text } from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/maps.js'
import type { Range } from '../../../platform/time/days.js'
import { eachCount } from '../../minutes/index.js'

/** $1: the user; $2 and $3: the first and the last day; $4: a repository or null. */
const LIST_OWN_COUNTS = statement(
  'list own commits and issues',
  { day: date, repo: text, ...perCount(() => integer) },
  `
  select a.day, min(coalesce(r.repo, a.repo_key)) as repo, ${eachCount((count) => `max(a.${count}) as ${count}`)}
  from activity_people p
  join daily_activity a on a.workspace_id = p.workspace_id and a.user_id = p.user_id
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where p.user_id = $1::uuid and a.day between $2::date and $3::date and ($4::text is null or a.repo_key = $4)
    and ${eachCount((count) => `a.${count}`, ' + ')} > 0
  group by a.day, a.repo_key`,
)

/** The rows, grouped by day. */
export const listOwnCounts = async (
  db: Db,
  userId: string,
  { from, to }: Range,
  repoKey: string | undefined,
) => groupBy(await db.rows(LIST_OWN_COUNTS, [userId, from, to, repoKey ?? null]), ({ day }) => day)
