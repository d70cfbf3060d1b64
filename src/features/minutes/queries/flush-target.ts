/** What a flush comes upon: the person, their recording preferences and the workspaces in which it counts. */
import { limits } from '../../../../schemas/limits.js'
import type { RecordingHours } from '../../../../schemas/recording.js'
import { divideRepo } from '../../../../schemas/repo-keys.js'
import { COMPARED, likenessOf } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  double,
  json,
  orNull,
  statement,
  text,
  texts,
  uuid,
} from '../../../platform/database/statement.js'
import { FIRST_DAY, patternMatches } from '../../workspaces/index.js'

/**
 * The person who flushes, their recording preferences, an earlier flush with the same id and, one per row, the workspaces in
 * which it counts. $1: the user; $2: flush id or null; $3, $4: owners and names of repositories; $5, $6: each owner, and
 * the characters of its repositories; $7: the characters of all of them; $8: how much is compared at most. Of these
 * repositories, those that are off are in the first row alone.
 *
 * All matching workspaces, and not the best one as for settings; what the user's own login owns counts only where the
 * user is admin, because another workspace's admins can claim any name.
 *
 * LIKE takes time for each character of a name times each of a pattern, so these products are added up first. When the
 * sum exceeds $8, nothing is compared. All characters are ASCII, and bytes are counted in a quarter of the time.
 */
export const READ_FLUSH = statement(
  'read what a flush comes upon',
  {
    today: date,
    timezone: orNull(text),
    bodyHash: orNull(text),
    answer: orNull(text),
    comparisons: double,
    workspaceId: orNull(uuid),
    repoKeys: orNull(texts),
    firstDay: orNull(date),
    paused: orNull(bool),
    recordedHours: orNull(json<RecordingHours>()),
    reposOff: orNull(texts),
  },
  `
  with recording as materialized (
    select paused, hours, repos_off_like from recordings where user_id = $1::uuid
  ), work as materialized (
    select coalesce((
      select sum(o.characters * (${COMPARED} + case when p.exact then 0 else least(octet_length(p.repo_key), ${limits.repo_length}) end))
      from members m
      cross join unnest($5::text[], $6::float8[]) as o (owner_key, characters)
      join patterns p on p.workspace_id = m.workspace_id and p.owner_key = o.owner_key
      where m.user_id = $1::uuid
    ), 0) + coalesce((
      select sum(${COMPARED} + octet_length(o.repo_like)) * $7::float8
      from recording c, unnest(c.repos_off_like) as o (repo_like)
    ), 0) as comparisons
  )
  select (now() at time zone 'UTC')::date as today, u.timezone, f.body_hash as "bodyHash", f.answer,
    (select comparisons from work) as comparisons, w.workspace_id as "workspaceId", w.repo_keys as "repoKeys",
    w.first_day as "firstDay", c.paused, c.hours as "recordedHours",
    case when row_number() over (order by w.workspace_id) = 1 then c.repos_off end as "reposOff"
  from users u
  left join (
    select paused, hours, array(
      select owner_key || '/' || repo_key from unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
      where (select comparisons from work) <= $8::float8 and ${likenessOf('owner_key')} || '/' || repo_key like any (repos_off_like)
    ) as repos_off
    from recording
  ) c on true
  left join (
    select body_hash, answer from flushes where user_id = $1::uuid and flush_id = $2::text
  ) f on true
  left join (
    select m.workspace_id, array_agg(r.owner_key || '/' || r.repo_key) as repo_keys,
      ${FIRST_DAY} as first_day
    from members m
    join users u on u.id = m.user_id
    cross join unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
    where m.user_id = $1::uuid and (r.owner_key <> u.login_key or m.role = 'admin')
      and (select comparisons from work) <= $8::float8 and exists (
        select from patterns p
        where p.workspace_id = m.workspace_id and ${patternMatches('p', 'r.owner_key', 'r.repo_key')}
      )
    group by m.workspace_id, m.user_id
  ) w on true
  where u.id = $1::uuid and u.repohost_id is not null
  order by w.workspace_id`,
)

export interface FlushTarget {
  /** According to the database's clock. */
  today: string
  timezone: string | null
  /** The result of an earlier flush with this id. */
  known?: { bodyHash: string; answer: string }
  /** Undefined: everything is recorded. */
  recording?: {
    paused: boolean
    /** The requested repositories that are excluded from recording. */
    reposOff: string[]
    hours: RecordingHours | null
  }
  /** How much is compared to find what matches; beyond the limit of a flush, nothing was. */
  comparisons: number
  /** All that match, in the order of their ids. */
  workspaces: MatchingWorkspace[]
}

export interface MatchingWorkspace {
  workspaceId: string
  /** The requested repositories that match. */
  repoKeys: string[]
  /** The first day on which they do. Empty: on all days. */
  firstDay: string
}

/** @param repoKeys `owner/repo` in lower case @returns undefined when the user is not in the database */
export const readFlushTarget = async (
  db: Db,
  userId: string,
  repoKeys: Iterable<string>,
  flushId: string | undefined,
): Promise<FlushTarget | undefined> => {
  const names = Array.from(repoKeys, divideRepo)
  const charactersOf = new Map<string, number>()
  let characters = 0
  for (const { owner, repo } of names) {
    charactersOf.set(owner, (charactersOf.get(owner) ?? 0) + COMPARED + repo.length)
    characters += COMPARED + owner.length + repo.length
  }
  const rows = await db.rows(READ_FLUSH, [
    userId,
    flushId ?? null,
    names.map(({ owner }) => owner),
    names.map(({ repo }) => repo),
    [...charactersOf.keys()],
    [...charactersOf.values()],
    characters,
    limits.flush_comparisons,
  ])
  const [first] = rows
  if (!first) return undefined
  const { today, timezone, bodyHash, answer, comparisons, paused, reposOff, recordedHours } = first
  return {
    today,
    timezone,
    comparisons,
    ...(bodyHash !== null && answer !== null && { known: { bodyHash, answer } }),
    ...(paused !== null && reposOff !== null && { recording: { paused, reposOff, hours: recordedHours } }),
    workspaces: rows.flatMap(({ workspaceId, repoKeys, firstDay }) =>
      workspaceId !== null && repoKeys !== null ? [{ workspaceId, repoKeys, firstDay: firstDay ?? '' }] : [],
    ),
  }
}
