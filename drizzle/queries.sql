-- Every statement that the service sends; `npm run queries` writes this file.

-- == Written by hand ==

-- add minutes
insert into activity as a (workspace_id, user_id, day, repo_key, minutes, hours)
select $1::uuid, $2::uuid, r.day, r.repo_key, r.minutes, r.hours::smallint[]
from unnest($3::date[], $4::text[], $5::smallint[], $6::text[]) as r (day, repo_key, minutes, hours)
order by r.day, r.repo_key collate "C"
on conflict (workspace_id, user_id, day, repo_key) do update set
  minutes = a.minutes + excluded.minutes,
  hours = array[coalesce(a.hours[1], 0::smallint) + excluded.hours[1], coalesce(a.hours[2], 0::smallint) + excluded.hours[2], coalesce(a.hours[3], 0::smallint) + excluded.hours[3], coalesce(a.hours[4], 0::smallint) + excluded.hours[4], coalesce(a.hours[5], 0::smallint) + excluded.hours[5], coalesce(a.hours[6], 0::smallint) + excluded.hours[6], coalesce(a.hours[7], 0::smallint) + excluded.hours[7], coalesce(a.hours[8], 0::smallint) + excluded.hours[8], coalesce(a.hours[9], 0::smallint) + excluded.hours[9], coalesce(a.hours[10], 0::smallint) + excluded.hours[10], coalesce(a.hours[11], 0::smallint) + excluded.hours[11], coalesce(a.hours[12], 0::smallint) + excluded.hours[12], coalesce(a.hours[13], 0::smallint) + excluded.hours[13], coalesce(a.hours[14], 0::smallint) + excluded.hours[14], coalesce(a.hours[15], 0::smallint) + excluded.hours[15], coalesce(a.hours[16], 0::smallint) + excluded.hours[16], coalesce(a.hours[17], 0::smallint) + excluded.hours[17], coalesce(a.hours[18], 0::smallint) + excluded.hours[18], coalesce(a.hours[19], 0::smallint) + excluded.hours[19], coalesce(a.hours[20], 0::smallint) + excluded.hours[20], coalesce(a.hours[21], 0::smallint) + excluded.hours[21], coalesce(a.hours[22], 0::smallint) + excluded.hours[22], coalesce(a.hours[23], 0::smallint) + excluded.hours[23], coalesce(a.hours[24], 0::smallint) + excluded.hours[24]];

-- add the activity of somebody to that of deleted users
insert into activity as a (workspace_id, user_id, day, repo_key, minutes, commits, closed_issues)
select $1::uuid, '00000000-0000-0000-0000-000000000000'::uuid, r.day, r.repo_key, r.minutes, r.commits, r.closed_issues
from unnest($2::date[], $3::text[], $4::int[], $5::int[], $6::int[]) as r (day, repo_key, minutes, commits, closed_issues)
where r.minutes + r.commits + r.closed_issues > 0
on conflict (workspace_id, user_id, day, repo_key) do update set
  minutes = a.minutes + excluded.minutes, commits = a.commits + excluded.commits,
  closed_issues = a.closed_issues + excluded.closed_issues;

-- allow any time
set local statement_timeout = 0;

-- begin a new transaction on the same connection
commit and chain;

-- change the time zone of a user
update users set timezone = $2::text where id = $1::uuid and repohost_id is not null;

-- change what is recorded of a user
-- returns id uuid
insert into recordings (user_id, paused, repos_off, repos_off_like, hours)
select id, $2::boolean, $3::text[], $4::text[], $5::text::jsonb from users where id = $1::uuid
on conflict (user_id) do update set paused = excluded.paused, repos_off = excluded.repos_off,
  repos_off_like = excluded.repos_off_like, hours = excluded.hours
returning user_id as id;

-- clear activity_days
delete from activity_days where workspace_id = $1::uuid and day = any($2::date[]);

-- clear activity_hours
delete from activity_hours where workspace_id = $1::uuid and day = any($2::date[]);

-- clear activity_member_days
delete from activity_member_days where workspace_id = $1::uuid and day = any($2::date[]);

-- clear activity_member_months
delete from activity_member_months where workspace_id = $1::uuid and month = $2::date;

-- clear activity_repo_days
delete from activity_repo_days where workspace_id = $1::uuid and day = any($2::date[]);

-- clear activity_repo_months
delete from activity_repo_months where workspace_id = $1::uuid and month = $2::date;

-- clear activity_repo_people
delete from activity_repo_people where workspace_id = $1::uuid and month = $2::date;

-- count a funnel event
-- returns events int2|int4
with caller as (select id from users where id = $1::uuid and repohost_id is not null),
lifetime as (
  insert into funnel_users (user_id, event, source)
  select id, $2::text, $3::text from caller
  on conflict (user_id, event, source) do update set events = funnel_users.events + 1
)
insert into funnel_days (user_id, event, source, day)
select id, $2::text, $3::text, (now() at time zone 'UTC')::date from caller
on conflict (user_id, event, source, day) do update set events = funnel_days.events + 1
returning events;

-- count active members
-- returns active_members int2|int4
select count(*)::int as active_members
from (
  select user_id from activity_member_months
  where workspace_id = $1::uuid and month = any($5::date[]) and active_day_bits <> 0
  union
  select user_id
  from activity_member_months join unnest($6::date[], $7::int[]) as part (month, day_bits) using (month)
  where workspace_id = $1::uuid and month = any($6::date[]) and active_day_bits & part.day_bits <> 0
  union
  select a.user_id from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 and a.minutes > 0
) active where user_id <> '00000000-0000-0000-0000-000000000000';

-- count own minutes
-- returns day date, rows int2|int4
select a.day, count(*)::int as rows
from members m join activity a on
  a.workspace_id = m.workspace_id and a.user_id = m.user_id and a.day between $2::date and $3::date
  and a.minutes > 0
where m.user_id = $1::uuid
group by a.day
order by a.day;

-- count the rows of somebody
-- returns name text, rows int2|int4
select 'activity'::text as name, count(*)::int as rows from activity_people p join activity a on a.workspace_id = p.workspace_id and a.user_id = p.user_id where p.user_id = $1::uuid
  union all select 'settings versions'::text as name, count(*)::int as rows from snapshot_versions where created_by = $1::uuid
  union all select 'invites'::text as name, count(*)::int as rows from invites where created_by = $1::uuid
  union all select 'entries of audit trails'::text as name, count(*)::int as rows from audit_entries where actor_id = $1::uuid
  union all select 'flushes'::text as name, count(*)::int as rows from flushes where user_id = $1::uuid
  union all select 'funnel events'::text as name, count(*)::int as rows from funnel_users where user_id = $1::uuid
  union all select 'looks'::text as name, count(*)::int as rows from dashboard_views where viewer_id = $1::uuid;

-- delete expired logins
-- returns deleted int2|int4
delete from oauth_states
where expires_at < now() and (state_hash) in (select state_hash from oauth_states where expires_at < now() limit $1::int)
returning 1 as deleted;

-- delete expired revocations
-- returns deleted int2|int4
delete from revocations
where expires_at < now() and (id) in (select id from revocations where expires_at < now() limit $1::int)
returning 1 as deleted;

-- delete old audit entries
-- returns deleted int2|int4
delete from audit_entries
where at < now() - make_interval(days => 400) and (workspace_id, id) in (select workspace_id, id from audit_entries where at < now() - make_interval(days => 400) limit $1::int)
returning 1 as deleted;

-- delete old billing events
-- returns deleted int2|int4
delete from billing_events
where received_at < now() - make_interval(days => 90) and (id) in (select id from billing_events where received_at < now() - make_interval(days => 90) limit $1::int)
returning 1 as deleted;

-- delete old flushes
-- returns deleted int2|int4
delete from flushes
where created_at < now() - make_interval(days => 32) and (user_id, flush_id) in (select user_id, flush_id from flushes where created_at < now() - make_interval(days => 32) limit $1::int)
returning 1 as deleted;

-- delete old views
-- returns deleted int2|int4
delete from dashboard_views
where day < (now() at time zone 'UTC')::date - 400 and (workspace_id, day, viewer_id, member_id, repo_key) in (select workspace_id, day, viewer_id, member_id, repo_key from dashboard_views where day < (now() at time zone 'UTC')::date - 400 limit $1::int)
returning 1 as deleted;

-- delete removals without older invites
-- returns deleted int2|int4
delete from removed_people
where not exists (
  select from invites
  where workspace_id = removed_people.workspace_id and created_at <= removed_people.removed_at and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses)
) and (workspace_id, key_id, person) in (select workspace_id, key_id, person from removed_people where not exists (
  select from invites
  where workspace_id = removed_people.workspace_id and created_at <= removed_people.removed_at and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses)
) limit $1::int)
returning 1 as deleted;

-- drop hours
update activity set hours = null
where workspace_id = $1::uuid and day = $2::date and hours is not null;

-- drop the hours of the rollup
delete from activity_hours where workspace_id = $1::uuid and day = $2::date;

-- drop whose they were
update activity_days set hour_crews = '{"hasLarge":false,"small":[]}'
where workspace_id = $1::uuid and day = $2::date;

-- end an erasure
-- returns ended int2|int4
delete from erasures where user_id = $1::uuid and started_at < now() - make_interval(mins => 10)
returning 1 as ended;

-- erase a person of a workspace
delete from activity_people where workspace_id = $1::uuid and user_id = $2::uuid;

-- erase billing_customers.user_id
-- returns deleted int2|int4
delete from billing_customers
where user_id = $1::uuid and (id) in (select id from billing_customers where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase dashboard_views.member_id
-- returns deleted int2|int4
delete from dashboard_views
where member_id = $1::uuid and (workspace_id, day, viewer_id, member_id, repo_key) in (select workspace_id, day, viewer_id, member_id, repo_key from dashboard_views where member_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase flushes.user_id
-- returns deleted int2|int4
delete from flushes
where user_id = $1::uuid and (user_id, flush_id) in (select user_id, flush_id from flushes where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase funnel_days.user_id
-- returns deleted int2|int4
delete from funnel_days
where user_id = $1::uuid and (user_id, event, source, day) in (select user_id, event, source, day from funnel_days where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase funnel_users.user_id
-- returns deleted int2|int4
delete from funnel_users
where user_id = $1::uuid and (user_id, event, source) in (select user_id, event, source from funnel_users where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase looks
delete from dashboard_views where viewer_id = $1::uuid;

-- erase members.user_id
-- returns deleted int2|int4
delete from members
where user_id = $1::uuid and (workspace_id, user_id) in (select workspace_id, user_id from members where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase recordings.user_id
-- returns deleted int2|int4
delete from recordings
where user_id = $1::uuid and (user_id) in (select user_id from recordings where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- erase removals.user_id
-- returns deleted int2|int4
delete from removals
where user_id = $1::uuid and (workspace_id, user_id) in (select workspace_id, user_id from removals where user_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- export activity
-- returns item text, position text
select json_build_object('workspace_id', a.workspace_id, 'day', a.day, 'repo', coalesce(r.repo, a.repo_key), 'minutes', a.minutes, 'commits', a.commits, 'closed_issues', a.closed_issues, 'hours', a.hours)::text as item,
  json_build_array(a.day, a.repo_key)::text as position
from activity a left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
where a.workspace_id = $5::uuid and a.user_id = $2::uuid and (a.day, a.repo_key) > ($3::date, $4::text)
order by a.day, a.repo_key limit $1::int;

-- export ended sessions
-- returns item text, position text
select json_build_object('revoked_at', to_char(revoked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(id)::text as position
from revocations where user_id = $2::uuid and (id) > ($3::uuid)
order by id limit $1::int;

-- export flushes
-- returns item text, position text
select json_build_object('flush_id', flush_id, 'answer', answer::json, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(flush_id)::text as position
from flushes where user_id = $2::uuid and (flush_id) > ($3::text)
order by flush_id limit $1::int;

-- export funnel events
-- returns item text, position text
select json_build_object('event', event, 'source', source, 'first_at', to_char(first_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'events', events)::text as item,
  json_build_array(event, source)::text as position
from funnel_users where user_id = $2::uuid and (event, source) > ($3::text, $4::text)
order by event, source limit $1::int;

-- export funnel events by day
-- returns item text, position text
select json_build_object('event', event, 'source', source, 'first_at', to_char(first_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'events', events, 'day', day)::text as item,
  json_build_array(event, source, day)::text as position
from funnel_days where user_id = $2::uuid and (event, source, day) > ($3::text, $4::text, $5::date)
order by event, source, day limit $1::int;

-- export invites
-- returns item text, position text
select json_build_object('id', id, 'workspace_id', workspace_id, 'role', role, 'max_uses', max_uses, 'used_count', used_count, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'revoked_at', to_char(revoked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(id)::text as position
from invites where created_by = $2::uuid and (id) > ($3::uuid)
order by id limit $1::int;

-- export looks
-- returns item text, position text
select json_build_object('workspace_id', workspace_id, 'day', day, 'from', from_day, 'to', to_day, 'exported', exported)::text as item,
  json_build_array(day, workspace_id, member_id, repo_key)::text as position
from dashboard_views where viewer_id = $2::uuid and (day, workspace_id, member_id, repo_key) > ($3::date, $4::uuid, $5::uuid, $6::text)
order by day, workspace_id, member_id, repo_key limit $1::int;

-- export memberships
-- returns item text, position text
select json_build_object('workspace', json_build_object('id', w.id, 'name', w.name, 'personal', w.personal_of is not null), 'role', m.role, 'joined_at', to_char(m.joined_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(m.workspace_id)::text as position
from members m join workspaces w on w.id = m.workspace_id where m.user_id = $2::uuid and (m.workspace_id) > ($3::uuid)
order by m.workspace_id limit $1::int;

-- export personal overrides
-- returns item text, position text
select json_build_object('owner', owner, 'repo', repo, 'settings', settings::json, 'updated_at', to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(owner_key, repo_key)::text as position
from overrides where workspace_id = $2::uuid and (owner_key, repo_key) > ($3::text, $4::text)
order by owner_key, repo_key limit $1::int;

-- export personal settings
-- returns item text, position text
select json_build_object('owner', owner_key, 'repo', repo_key, 'version', version, 'settings', settings::json, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(owner_key, repo_key, version)::text as position
from snapshot_versions where workspace_id = $2::uuid and (owner_key, repo_key, version) > ($3::text, $4::text, $5::int)
order by owner_key, repo_key, version limit $1::int;

-- export removals
-- returns item text, position text
select json_build_object('workspace_id', workspace_id, 'removed_at', to_char(removed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(workspace_id)::text as position
from removals where user_id = $2::uuid and (workspace_id) > ($3::uuid)
order by workspace_id limit $1::int;

-- export what a login did
-- returns item text, position text
select json_build_object('id', id, 'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'workspace_id', workspace_id, 'actor', actor, 'action', action, 'target', case when not (action like 'member.%' or action = 'invites.revoked') or lower(target) = lower(actor) then target end, 'details', details)::text as item,
  json_build_array(id)::text as position
from audit_entries where actor_id is null and lower(actor) = $2::text and (id) > ($3::uuid)
order by id limit $1::int;

-- export what somebody did
-- returns item text, position text
select json_build_object('id', id, 'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'workspace_id', workspace_id, 'actor', actor, 'action', action, 'target', case when not (action like 'member.%' or action = 'invites.revoked') or target_id = actor_id then target end, 'details', details)::text as item,
  json_build_array(id)::text as position
from audit_entries where actor_id = $2::uuid and (id) > ($3::uuid)
order by id limit $1::int;

-- export what was done to a login
-- returns item text, position text
select json_build_object('id', id, 'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'workspace_id', workspace_id, 'actor', null::text, 'action', action, 'target', target, 'details', details)::text as item,
  json_build_array(id)::text as position
from audit_entries where target_id is null and (action like 'member.%' or action = 'invites.revoked') and lower(target) = $2::text and lower(actor) <> lower(target) and (id) > ($3::uuid)
order by id limit $1::int;

-- export what was done to somebody
-- returns item text, position text
select json_build_object('id', id, 'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'workspace_id', workspace_id, 'actor', null::text, 'action', action, 'target', target, 'details', details)::text as item,
  json_build_array(id)::text as position
from audit_entries where target_id = $2::uuid and actor_id is distinct from target_id and (id) > ($3::uuid)
order by id limit $1::int;

-- export written overrides
-- returns item text, position text
select json_build_object('workspace_id', workspace_id, 'owner', owner, 'repo', repo, 'updated_at', to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(owner_key, repo_key, workspace_id)::text as position
from overrides where updated_by = $2::uuid and (owner_key, repo_key, workspace_id) > ($3::text, $4::text, $5::uuid)
order by owner_key, repo_key, workspace_id limit $1::int;

-- export written settings
-- returns item text, position text
select json_build_object('workspace_id', workspace_id, 'owner', owner_key, 'repo', repo_key, 'version', version, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as item,
  json_build_array(owner_key, repo_key, workspace_id, version)::text as position
from snapshot_versions where created_by = $2::uuid and (owner_key, repo_key, workspace_id, version) > ($3::text, $4::text, $5::uuid, $6::int)
order by owner_key, repo_key, workspace_id, version limit $1::int;

-- find a person of a workspace
-- returns id uuid
select u.id from users u
where u.login_key = $2::text and u.repohost_id is not null and (
  exists (select from members where workspace_id = $1::uuid and user_id = u.id)
  or exists (select from activity where workspace_id = $1::uuid and user_id = u.id)
);

-- find a workspace in which somebody has activity
-- returns workspaceId uuid
select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid limit 1;

-- find members by their logins
-- returns n int2|int4, userId uuid
select l.n::int, m.user_id as "userId"
from unnest($2::text[]) with ordinality as l (login_key, n)
join users u on u.login_key = l.login_key
join members m on m.workspace_id = $1::uuid and m.user_id = u.id;

-- find out whether somebody was removed
-- returns wasRemoved bool
select exists (
  select from removals where workspace_id = $1::uuid and user_id = $3::uuid and removed_at >= $2::timestamptz
) or exists (
  select from removed_people r
  where r.workspace_id = $1::uuid and r.removed_at >= $2::timestamptz and (
    (r.key_id, r.person) in (select * from unnest($4::text[], $5::text[]))
    or r.key_id <> all ($4::text[]) and r.removed_at <= (select created_at from users where id = $3::uuid)
  )
) as "wasRemoved";

-- find the first month in which somebody has activity
-- returns month date
select date_trunc('month', min(day))::date as month from activity
where workspace_id = $1::uuid and user_id = $2::uuid;

-- find the matching workspaces of a caller
-- returns workspaceId uuid, role text, pattern text, holds bool
select m.workspace_id as "workspaceId", m.role, p.pattern, s.id is not null as holds
from members m
join lateral (
  select p.pattern, p.exact, p.literal_length
  from patterns p
  where p.workspace_id = m.workspace_id and p.owner_key = $2::text and case when p.exact then p.repo_key = $3::text else $3::text like p.repo_like end
  order by p.exact desc, p.literal_length desc, p.pattern
  limit 1
) p on m.user_id = $1::uuid and ($4::uuid is null or m.workspace_id = $4::uuid)
left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
order by (m.role = 'admin') desc, p.exact desc, p.literal_length desc, m.workspace_id;

-- find where a step of an erasure ends
-- returns day date, repoKey text
select day, repo_key as "repoKey" from activity where workspace_id = $1::uuid and user_id = $2::uuid
  and day >= $3::date and day < $3::date + interval '1 month'
order by day, repo_key offset $4::int limit 1;

-- find who shares the hours of a repository
-- returns clock int2|int4
with people as materialized (
  select u.id, coalesce(u.timezone, 'UTC') as timezone, row_number() over ()::int as number
  from (
  select user_id from members where workspace_id = $1::uuid
  union select user_id from activity_people where workspace_id = $1::uuid
) p join users u on u.id = p.user_id
  where u.id <> $2::uuid and p.user_id <> '00000000-0000-0000-0000-000000000000'
), worked as (
  select a.day, a.repo_key, p.timezone, count(*) as others, min(p.number) as one
  from activity a join people p on p.id = a.user_id
  where a.workspace_id = $1::uuid and a.day = any($4::date[]) and 0 < any(a.hours)
  group by a.day, a.repo_key, p.timezone
), repos as (
  select c.clock, w.repo_key, sum(w.others) as others, min(w.one) as one
  from worked w join unnest($5::date[], $6::text[], $7::int[]) as c (day, timezone, clock) using (day, timezone)
  group by c.clock, w.repo_key
), ranked as (
  select *, row_number() over (partition by clock order by others = 1, others, repo_key) as rank,
    min(one) filter (where others = 1) over (partition by clock)
      = max(one) filter (where others = 1) over (partition by clock) as is_one_alone
  from repos
)
select clock from ranked
where repo_key = $3::text and others > 1 and not (rank = 1 and is_one_alone is true);

-- hand over invites.created_by
-- returns changed int2|int4
update invites set created_by = '00000000-0000-0000-0000-000000000000'
where created_by = $1::uuid and (id) in (select id from invites where created_by = $1::uuid limit $2::int)
returning 1 as changed;

-- hand over looks
insert into dashboard_views as v (workspace_id, day, viewer_id, member_id, repo_key, from_day, to_day, exported)
select workspace_id, day, '00000000-0000-0000-0000-000000000000'::uuid, member_id, repo_key, from_day, to_day, exported
from dashboard_views where viewer_id = $1::uuid
on conflict (workspace_id, day, viewer_id, member_id, repo_key) do update set
  from_day = least(v.from_day, excluded.from_day), to_day = greatest(v.to_day, excluded.to_day),
  exported = v.exported or excluded.exported;

-- hand over overrides.updated_by
-- returns changed int2|int4
update overrides set updated_by = '00000000-0000-0000-0000-000000000000'
where updated_by = $1::uuid and (owner_key, repo_key, workspace_id) in (select owner_key, repo_key, workspace_id from overrides where updated_by = $1::uuid limit $2::int)
returning 1 as changed;

-- hand over snapshot_versions.created_by
-- returns changed int2|int4
update snapshot_versions set created_by = '00000000-0000-0000-0000-000000000000'
where created_by = $1::uuid and (owner_key, repo_key, workspace_id, version) in (select owner_key, repo_key, workspace_id, version from snapshot_versions where created_by = $1::uuid limit $2::int)
returning 1 as changed;

-- hand over snapshots.updated_by
-- returns changed int2|int4
update snapshots set updated_by = '00000000-0000-0000-0000-000000000000'
where updated_by = $1::uuid and (owner_key, repo_key, workspace_id) in (select owner_key, repo_key, workspace_id from snapshots where updated_by = $1::uuid limit $2::int)
returning 1 as changed;

-- have room to group
set local work_mem = '32MB';

-- hold the roles of a workspace
select pg_advisory_xact_lock_shared(3, hashtext($1::uuid::text));

-- keep removals beyond the account
insert into removed_people as p (workspace_id, key_id, person, removed_at)
select r.workspace_id, $1::text, r.person, r.removed_at
from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as r (workspace_id, person, removed_at)
on conflict (workspace_id, key_id, person) do update set removed_at = greatest(p.removed_at, excluded.removed_at);

-- let the flushes of a member take turns
insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)
on conflict (workspace_id, user_id) do update set user_id = excluded.user_id where false;

-- list counts of 0 where there is activity
-- returns n int2|int4
select g.n::int
from
  unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
  join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null
join activity a on a.workspace_id = $5::uuid and a.user_id = u.user_id and a.day = $6::date
  and a.repo_key = lower(g.repo)
where g.count = 0;

-- list counts that are left out
-- returns rows int2|int4, skipped text
select count(*)::int as rows,
  string_agg(
    json_build_object('login', l.login, 'repo', g.repo, 'code', 'repo_outside_patterns')::text, ',' order by g.n
  ) as skipped
from
  unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
  join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null
join unnest($5::text[]) with ordinality as l (login, n) on l.n = g.member
where lower(g.repo) in (select unnest($6::text[]));

-- list days with old hours
-- returns workspaceId uuid, day date
select distinct workspace_id as "workspaceId", day from activity_hours
where day < (now() at time zone 'UTC')::date - $1::int
limit $2::int;

-- list older audit entries
-- returns id uuid, at timestamptz, actor text, action text, target text, details json|jsonb, total int2|int4
select "id", "at", "actor", "action", "target", "details", total from (
  select found.*, (count(*) over ())::int as total,
    coalesce(sum(bytes) over (order by at desc, id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select id, at, case when exists (
      select from erasures x where x.user_id = actor_id or (actor_id is null and x.login_key = lower(actor))
    ) then 'deleted user' else actor end as actor, action,
      case when exists (
      select from erasures x
      where x.user_id = target_id or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and x.login_key = lower(target))
    ) then 'deleted user' else target end as target,
      details, octet_length(details::text) as bytes
    from audit_entries
    where workspace_id = $2::uuid and (at, id) < ($3::text::timestamptz, $4::uuid)
    order by at desc, id desc
    limit $1::int
  ) found
) measured
where bytes_before < 1048576
order by at desc, id desc;

-- list own minutes
-- returns day date, workspace text
select a.day, json_build_object(
    'workspace_id', w.id, 'name', w.name, 'minutes', coalesce(sum(a.minutes), 0), 'repos', coalesce(
      json_agg(json_build_object('repo', r.repo, 'minutes', a.minutes) order by a.minutes desc, a.repo_key)
        filter (where a.minutes is not null),
      '[]'
    )
  )::text as workspace
from members m
join workspaces w on w.id = m.workspace_id
join (activity a join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key) on
  a.workspace_id = m.workspace_id and a.user_id = m.user_id and a.day between $2::date and $3::date
  and a.minutes > 0
where m.user_id = $1::uuid
group by a.day, w.id
order by a.day, w.created_at, w.id;

-- list own minutes in all workspaces
-- returns day date, workspace text
select a.day, json_build_object(
    'workspace_id', w.id, 'name', w.name, 'minutes', coalesce(sum(a.minutes), 0), 'repos', coalesce(
      json_agg(json_build_object('repo', r.repo, 'minutes', a.minutes) order by a.minutes desc, a.repo_key)
        filter (where a.minutes is not null),
      '[]'
    )
  )::text as workspace
from members m
join workspaces w on w.id = m.workspace_id
left join (activity a join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key) on
  a.workspace_id = m.workspace_id and a.user_id = m.user_id and a.day between $2::date and $3::date
  and a.minutes > 0
where m.user_id = $1::uuid
group by a.day, w.id
order by a.day, w.created_at, w.id;

-- list removals with older invites
-- returns workspaceId uuid, removedAt timestamptz
select workspace_id as "workspaceId", removed_at as "removedAt" from removals
where user_id = $1::uuid and exists (
  select from invites
  where workspace_id = removals.workspace_id and created_at <= removals.removed_at and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses)
);

-- list repositories outside the patterns
-- returns repoKey text
select r.repo_key as "repoKey"
from (select distinct lower(r.repo) as repo_key from unnest($2::text[]) as r (repo)) r
where not exists (
    select from patterns p
    where p.workspace_id = $1::uuid and p.owner_key = split_part(r.repo_key, '/', 1) and case when p.exact then p.repo_key = split_part(r.repo_key, '/', 2) else split_part(r.repo_key, '/', 2) like p.repo_like end
  );

-- list stale months
-- returns workspaceId uuid, month date
select distinct s.workspace_id as "workspaceId", date_trunc('month', s.day)::date as month
from stale_days s join workspaces w on w.id = s.workspace_id and w.deleted_at is null
limit $1::int;

-- list the days of members
-- returns line text
select concat_ws(',', a.day, u.login, sum(a.minutes), sum(a.commits), sum(a.closed_issues)) as line
from activity a join users u on u.id = a.user_id
where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0
group by a.day, u.login
order by a.day, lower(u.login);

-- list the days of which the hours of somebody are known
-- returns day date
select distinct day from activity
where workspace_id = $1::uuid and user_id = $2::uuid and hours is not null
order by day;

-- list the newest audit entries
-- returns id uuid, at timestamptz, actor text, action text, target text, details json|jsonb, total int2|int4
select "id", "at", "actor", "action", "target", "details", total from (
  select found.*, (count(*) over ())::int as total,
    coalesce(sum(bytes) over (order by at desc, id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select id, at, case when exists (
      select from erasures x where x.user_id = actor_id or (actor_id is null and x.login_key = lower(actor))
    ) then 'deleted user' else actor end as actor, action,
      case when exists (
      select from erasures x
      where x.user_id = target_id or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and x.login_key = lower(target))
    ) then 'deleted user' else target end as target,
      details, octet_length(details::text) as bytes
    from audit_entries
    where workspace_id = $2::uuid
    order by at desc, id desc
    limit $1::int
  ) found
) measured
where bytes_before < 1048576
order by at desc, id desc;

-- list the overrides of a workspace
-- returns owner text, repo text, settings text, updatedAt timestamptz, updatedBy text, total int2|int4
select "owner", "repo", "settings", "updatedAt", "updatedBy", total from (
  select found.*, (count(*) over ())::int as total,
    coalesce(sum(bytes) over (order by owner_key, repo_key rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select o.owner_key, o.repo_key, o.owner, o.repo, o.settings, o.updated_at as "updatedAt",
      u.login as "updatedBy", octet_length(o.settings) as bytes
    from overrides o
    join users u on u.id = o.updated_by
    where o.workspace_id = $2::uuid and ($3::text is null or (o.owner_key, o.repo_key) > ($3::text, $4::text))
    order by owner_key, repo_key
    limit $1::int
  ) found
) measured
where bytes_before < 1048576
order by owner_key, repo_key;

-- list the places of a member
-- returns id uuid, name text, role text, isAlone bool, hasOtherAdmin bool
select w.id, w.name, m.role,
  not exists (
    select from members o where o.workspace_id = m.workspace_id and o.user_id <> m.user_id
  ) as "isAlone",
  exists (
    select from members o where o.workspace_id = m.workspace_id and o.user_id <> m.user_id and o.role = 'admin'
  ) as "hasOtherAdmin"
from members m join workspaces w on w.id = m.workspace_id
where m.user_id = $1::uuid
order by w.created_at, w.id;

-- list the repositories that a caller sees
-- returns owner text, repo text, workspace_id uuid, workspace_name text, role text, synced bool, has_override bool, version int2|int4, updated_at timestamptz, matches bool, isLast bool, isFull bool
with known as (
  select owner_key, repo_key, workspace_id, owner, repo, version, updated_at, false as override
  from snapshots where workspace_id in (select workspace_id from members where user_id = $1::uuid)
  union all
  select owner_key, repo_key, workspace_id, owner, repo, null, updated_at, true
  from overrides where workspace_id in (select workspace_id from members where user_id = $1::uuid)
), projects as (
  select owner_key, repo_key, workspace_id,
    (array_agg(owner order by override))[1] as owner, (array_agg(repo order by override))[1] as repo,
    max(version) as version, bool_or(override) as has_override, max(updated_at) filter (where not override) as updated_at
  from known
  where $2::text is null or (owner_key, repo_key, workspace_id) > ($2::text, $3::text, $4::uuid)
  group by owner_key, repo_key, workspace_id
  order by owner_key, repo_key, workspace_id
  limit 1000
), counted as (
  select p.*, row_number() over keys = count(*) over () as last, count(*) over () = 1000 as is_full
  from projects p
  window keys as (order by owner_key, repo_key, workspace_id)
), compared as (
  select c.*, exists (
    select from patterns p
    where p.workspace_id = c.workspace_id and p.owner_key = c.owner_key and case when p.exact then p.repo_key = c.repo_key else c.repo_key like p.repo_like end
  ) as matches
  from counted c
)
select k.owner, k.repo, k.workspace_id, w.name as workspace_name, m.role,
  k.version is not null as synced, k.has_override, k.version, k.updated_at,
  k.matches, k.last as "isLast", k.is_full as "isFull"
from compared k
join workspaces w on w.id = k.workspace_id
join members m on m.workspace_id = k.workspace_id and m.user_id = $1::uuid
where k.matches or k.last
order by k.owner_key, k.repo_key, k.workspace_id
limit $5::int;

-- list the time zones of a workspace
-- returns timezone text
select distinct coalesce(u.timezone, 'UTC') as timezone from (
    select user_id from members where workspace_id = $1::uuid
    union select user_id from activity_people where workspace_id = $1::uuid
  ) p join users u on u.id = p.user_id;

-- list the workspaces in which somebody has activity
-- returns workspaceId uuid
select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid
union select workspace_id from members where user_id = $1::uuid
order by "workspaceId";

-- list the workspaces in which somebody may have been looked at
-- returns id uuid
select workspace_id as id from members where user_id = $1::uuid
union select workspace_id from activity_people where user_id = $1::uuid
union select workspace_id from dashboard_views where member_id = $1::uuid;

-- list weeks to publish
-- returns workspaceId uuid, week date
select distinct d.workspace_id as "workspaceId", date_trunc('week', d.day::timestamp)::date as week
from activity_days d join workspaces w on w.id = d.workspace_id
where d.workspace_id = any($1::uuid[]) and d.day >= $3::date
  and d.day < date_trunc('week', (now() at time zone 'UTC') - interval '3 days')::date
  and ($2::boolean or w.activity_privacy = 'team'
    or date_trunc('week', d.day::timestamp) <= w.activity_privacy_since at time zone 'UTC')
  and not exists (
    select from published_weeks p
    where p.workspace_id = d.workspace_id and p.week = date_trunc('week', d.day::timestamp)::date
  )
limit $4::int;

-- list where somebody has activity
-- returns workspaceId uuid
select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid order by workspace_id;

-- list who looked at somebody
-- returns day date, workspaceId uuid, workspace text, viewerId uuid, viewer text, from date, to date, exported bool
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
    or v.member_id = '00000000-0000-0000-0000-000000000000' and (
      v.repo_key = '' and (m.joined_at at time zone 'UTC')::date <= v.day
      or exists (
        select from activity a
        where a.workspace_id = v.workspace_id and a.user_id = $1::uuid and a.day between v.from_day and v.to_day
          and (v.repo_key = '' or a.repo_key = v.repo_key) and a.minutes + a.commits + a.closed_issues > 0
      )
    )
  )
group by v.day, v.workspace_id, w.name, v.viewer_id, u.login
order by v.day desc, v.workspace_id desc, v.viewer_id desc
limit $3::int;

-- list workspaces with weeks to publish
-- returns id uuid
select w.id from workspaces w
where w.deleted_at is null and ($1::boolean or w.activity_privacy = 'team'
  or exists (select from privacy_levels l where l.workspace_id = w.id and l.level = 'team'));

-- lock the administration of a workspace
select pg_advisory_xact_lock(4, hashtext($1::uuid::text));

-- lock the administration of workspaces
select pg_advisory_xact_lock(4, hashtext(id::text)) from unnest($1::uuid[]) as id;

-- lock the roles of a workspace
select pg_advisory_xact_lock(3, hashtext($1::uuid::text));

-- lock the roles of workspaces
select pg_advisory_xact_lock(3, hashtext(id::text)) from unnest($1::uuid[]) as id;

-- lock the room of a workspace
select pg_advisory_xact_lock(2, hashtext($1::uuid::text));

-- lock the workspaces of a user
select pg_advisory_xact_lock(1, hashtext($1::uuid::text));

-- make days
insert into activity_days (workspace_id, day, minutes, commits, closed_issues, active_members, hour_crews)
select a.workspace_id, a.day, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues, count(*) filter (where a.minutes > 0 and a.user_id <> '00000000-0000-0000-0000-000000000000'),
  c.crews::jsonb
from activity_member_days a join unnest($2::date[], $3::text[]) as c (day, crews) on c.day = a.day
where a.workspace_id = $1::uuid
group by a.workspace_id, a.day, c.crews;

-- make hours
insert into activity_hours (workspace_id, day, weekday, hour, minutes)
select $1::uuid, c.day, c.weekday, c.hour, c.minutes
from unnest($2::date[], $3::int[], $4::int[], $5::int[]) as c (day, weekday, hour, minutes);

-- make the days of members
insert into activity_member_days (workspace_id, day, user_id, minutes, commits, closed_issues)
select a.workspace_id, a.day, a.user_id, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
from activity a
where a.workspace_id = $1::uuid and a.day = any($2::date[]) and a.minutes + a.commits + a.closed_issues > 0
group by a.workspace_id, a.day, a.user_id;

-- make the days of repositories
insert into activity_repo_days (workspace_id, day, repo_key, minutes, commits, closed_issues)
select a.workspace_id, a.day, a.repo_key, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
from activity a
where a.workspace_id = $1::uuid and a.day = any($2::date[]) and a.minutes + a.commits + a.closed_issues > 0
group by a.workspace_id, a.day, a.repo_key;

-- make the months of members
insert into activity_member_months (workspace_id, month, user_id, minutes, commits, closed_issues, active_day_bits)
select a.workspace_id, $2::date, a.user_id, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues, coalesce(bit_or(1 << extract(day from a.day)::int - 1) filter (where a.minutes > 0), 0)
from activity_member_days a
where a.workspace_id = $1::uuid and a.day >= $2::date and a.day < $2::date + interval '1 month'
group by a.workspace_id, a.user_id;

-- make the months of repositories
insert into activity_repo_months (workspace_id, month, repo_key, minutes, commits, closed_issues)
select a.workspace_id, $2::date, a.repo_key, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
from activity_repo_days a
where a.workspace_id = $1::uuid and a.day >= $2::date and a.day < $2::date + interval '1 month'
group by a.workspace_id, a.repo_key;

-- make the people of repositories
insert into activity_repo_people (workspace_id, month, repo_key, user_id, day_bits)
select a.workspace_id, $2::date, a.repo_key, a.user_id, bit_or(1 << extract(day from a.day)::int - 1)
from activity a
where a.workspace_id = $1::uuid and a.day >= $2::date and a.day < $2::date + interval '1 month' and a.minutes + a.commits + a.closed_issues > 0 and a.user_id <> '00000000-0000-0000-0000-000000000000'
group by a.workspace_id, a.repo_key, a.user_id;

-- mark days as stale
insert into stale_days (workspace_id, day) values ($1::uuid, unnest($2::date[]));

-- mark days of a user as stale
insert into stale_days (workspace_id, day, id) values ($1::uuid, unnest($2::date[]), $3::uuid)
on conflict (workspace_id, day, id) do update set id = excluded.id where false;

-- mark everything stale
insert into stale_days (workspace_id, day)
select workspace_id, day from activity
union select workspace_id, day from activity_days
union select workspace_id, day from activity_member_days
union select workspace_id, day from activity_repo_days
union select workspace_id, day from activity_hours
union select workspace_id, month from activity_member_months
union select workspace_id, month from activity_repo_months
union select workspace_id, month from activity_repo_people;

-- name repositories
insert into activity_repos (workspace_id, repo_key, repo)
values ($1::uuid, unnest($2::text[]), unnest($3::text[]))
on conflict do nothing;

-- name repositories inside the patterns
insert into activity_repos (workspace_id, repo_key, repo)
select $1::uuid, lower(r.repo), r.repo
from unnest($2::text[]) as r (repo)
where exists (
    select from patterns p
    where p.workspace_id = $1::uuid and p.owner_key = split_part(lower(r.repo), '/', 1) and case when p.exact then p.repo_key = split_part(lower(r.repo), '/', 2) else split_part(lower(r.repo), '/', 2) like p.repo_like end
  )
order by lower(r.repo) collate "C"
on conflict do nothing;

-- note milestones of users
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
select user_id, event, source, (now() at time zone 'UTC')::date from reached;

-- plan for each call
set local plan_cache_mode = force_custom_plan;

-- publish a week
-- returns week date
insert into published_weeks (workspace_id, week, min_group, minutes, commits, closed_issues, active_members)
values ($1::uuid, $2::date, $3::smallint, $4::bigint, $5::bigint, $6::bigint, $7::int)
on conflict do nothing
returning week;

-- publish the days of a week
insert into published_days (workspace_id, week, day, minutes, commits, closed_issues, active_members)
select $1::uuid, $2::date, $2::date + d.day, d.minutes, d.commits, d.closed_issues, d.active_members
from unnest($3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[])
  as d (day, minutes, commits, closed_issues, active_members);

-- publish the heatmap of a week
insert into published_cells (workspace_id, week, weekday, hour, minutes)
select $1::uuid, $2::date, c.cell / 24 + 1, c.cell % 24, c.minutes
from unnest($3::int[], $4::bigint[]) as c (cell, minutes);

-- publish the repositories of a week
insert into published_repos (workspace_id, week, repo_key, minutes, commits, closed_issues, active_members, members)
select $1::uuid, $2::date, r.repo_key, r.minutes, r.commits, r.closed_issues, r.active_members, coalesce(r.active_members, 0)
from unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[])
  as r (repo_key, minutes, commits, closed_issues, active_members);

-- purge a workspace
delete from workspaces where id = $1::uuid;

-- purge activity
-- returns deleted int2|int4
delete from activity
where workspace_id = $1::uuid and (workspace_id, user_id, day, repo_key) in (select workspace_id, user_id, day, repo_key from activity where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_days
-- returns deleted int2|int4
delete from activity_days
where workspace_id = $1::uuid and (workspace_id, day) in (select workspace_id, day from activity_days where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_hours
-- returns deleted int2|int4
delete from activity_hours
where workspace_id = $1::uuid and (workspace_id, day, weekday, hour) in (select workspace_id, day, weekday, hour from activity_hours where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_member_days
-- returns deleted int2|int4
delete from activity_member_days
where workspace_id = $1::uuid and (workspace_id, day, user_id) in (select workspace_id, day, user_id from activity_member_days where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_member_months
-- returns deleted int2|int4
delete from activity_member_months
where workspace_id = $1::uuid and (workspace_id, month, user_id) in (select workspace_id, month, user_id from activity_member_months where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_people
-- returns deleted int2|int4
delete from activity_people
where workspace_id = $1::uuid and (workspace_id, user_id) in (select workspace_id, user_id from activity_people where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_repo_days
-- returns deleted int2|int4
delete from activity_repo_days
where workspace_id = $1::uuid and (workspace_id, day, repo_key) in (select workspace_id, day, repo_key from activity_repo_days where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_repo_months
-- returns deleted int2|int4
delete from activity_repo_months
where workspace_id = $1::uuid and (workspace_id, month, repo_key) in (select workspace_id, month, repo_key from activity_repo_months where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_repo_people
-- returns deleted int2|int4
delete from activity_repo_people
where workspace_id = $1::uuid and (workspace_id, month, repo_key, user_id) in (select workspace_id, month, repo_key, user_id from activity_repo_people where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge activity_repos
-- returns deleted int2|int4
delete from activity_repos
where workspace_id = $1::uuid and (workspace_id, repo_key) in (select workspace_id, repo_key from activity_repos where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge audit_entries
-- returns deleted int2|int4
delete from audit_entries
where workspace_id = $1::uuid and (workspace_id, id) in (select workspace_id, id from audit_entries where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge dashboard_views
-- returns deleted int2|int4
delete from dashboard_views
where workspace_id = $1::uuid and (workspace_id, day, viewer_id, member_id, repo_key) in (select workspace_id, day, viewer_id, member_id, repo_key from dashboard_views where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge invites
-- returns deleted int2|int4
delete from invites
where workspace_id = $1::uuid and (id) in (select id from invites where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge members
-- returns deleted int2|int4
delete from members
where workspace_id = $1::uuid and (workspace_id, user_id) in (select workspace_id, user_id from members where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge overrides
-- returns deleted int2|int4
delete from overrides
where workspace_id = $1::uuid and (owner_key, repo_key, workspace_id) in (select owner_key, repo_key, workspace_id from overrides where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge patterns
-- returns deleted int2|int4
delete from patterns
where workspace_id = $1::uuid and (workspace_id, owner_key, repo_key) in (select workspace_id, owner_key, repo_key from patterns where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge privacy_levels
-- returns deleted int2|int4
delete from privacy_levels
where workspace_id = $1::uuid and (workspace_id, id) in (select workspace_id, id from privacy_levels where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge published_cells
-- returns deleted int2|int4
delete from published_cells
where workspace_id = $1::uuid and (workspace_id, week, weekday, hour) in (select workspace_id, week, weekday, hour from published_cells where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge published_days
-- returns deleted int2|int4
delete from published_days
where workspace_id = $1::uuid and (workspace_id, week, day) in (select workspace_id, week, day from published_days where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge published_repos
-- returns deleted int2|int4
delete from published_repos
where workspace_id = $1::uuid and (workspace_id, week, repo_key) in (select workspace_id, week, repo_key from published_repos where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge published_weeks
-- returns deleted int2|int4
delete from published_weeks
where workspace_id = $1::uuid and (workspace_id, week) in (select workspace_id, week from published_weeks where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge removals
-- returns deleted int2|int4
delete from removals
where workspace_id = $1::uuid and (workspace_id, user_id) in (select workspace_id, user_id from removals where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge removed_people
-- returns deleted int2|int4
delete from removed_people
where workspace_id = $1::uuid and (workspace_id, key_id, person) in (select workspace_id, key_id, person from removed_people where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge snapshot_versions
-- returns deleted int2|int4
delete from snapshot_versions
where workspace_id = $1::uuid and (owner_key, repo_key, workspace_id, version) in (select owner_key, repo_key, workspace_id, version from snapshot_versions where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge snapshots
-- returns deleted int2|int4
delete from snapshots
where workspace_id = $1::uuid and (owner_key, repo_key, workspace_id) in (select owner_key, repo_key, workspace_id from snapshots where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- purge stale_days
-- returns deleted int2|int4
delete from stale_days
where workspace_id = $1::uuid and (workspace_id, day, id) in (select workspace_id, day, id from stale_days where workspace_id = $1::uuid limit $2::int)
returning 1 as deleted;

-- raise workspaces to the privacy level team
-- returns id uuid
update workspaces set activity_privacy = 'team', activity_privacy_since = statement_timestamp(),
  settings_version = settings_version + 1, settings_updated_at = now()
where activity_privacy = 'named'
  and id in (select id from workspaces where activity_privacy = 'named' and deleted_at is null order by id limit $1::int)
returning id;

-- read a personal workspace
-- returns id uuid, workspace text
select id, json_build_object(
  'id', id, 'name', name, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'idle_window_minutes', idle_window_minutes,
  'patterns', array(select pattern from patterns where workspace_id = workspaces.id order by position),
  'settings', settings::json, 'settings_version', settings_version,
  'settings_updated_at', to_char(settings_updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
)::text as workspace
from workspaces where personal_of = $1::uuid;

-- read hours by zone
-- returns day date, timezone text, hours _int2|_int4, people _uuid
select a.day, coalesce(u.timezone, 'UTC') as timezone, array[sum(a.hours[1])::int,sum(a.hours[2])::int,sum(a.hours[3])::int,sum(a.hours[4])::int,sum(a.hours[5])::int,sum(a.hours[6])::int,sum(a.hours[7])::int,sum(a.hours[8])::int,sum(a.hours[9])::int,sum(a.hours[10])::int,sum(a.hours[11])::int,sum(a.hours[12])::int,sum(a.hours[13])::int,sum(a.hours[14])::int,sum(a.hours[15])::int,sum(a.hours[16])::int,sum(a.hours[17])::int,sum(a.hours[18])::int,sum(a.hours[19])::int,sum(a.hours[20])::int,sum(a.hours[21])::int,sum(a.hours[22])::int,sum(a.hours[23])::int,sum(a.hours[24])::int] as hours, (array_agg(distinct a.user_id) filter (where 0 < any(a.hours) and a.user_id <> '00000000-0000-0000-0000-000000000000'))[:3] as people
from activity a join users u on u.id = a.user_id
where a.workspace_id = $1::uuid and a.day = any($2::date[]) and a.hours is not null
group by a.day, coalesce(u.timezone, 'UTC');

-- read how far the primary is
-- returns cluster text, position text, distributed bool
select (select system_identifier::text from pg_control_system())
  || ' ' || (select oid::text from pg_database where datname = current_database()) || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as cluster,
  (case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_lsn() end)::text as position,
  exists (select from pg_extension where extname = 'citus') as distributed;

-- read how much the patterns of a workspace are compared with
-- returns characters float8
select coalesce(max(characters), 0)::float8 as characters
from (
  select sum(10 + least(octet_length(repo_key), 100)) as characters
  from patterns
  where workspace_id = $1::uuid and not exact
  group by owner_key
) owners;

-- read published cells
-- returns weekday int2|int4, hour int2|int4, minutes float8
select p.weekday, p.hour, sum(p.minutes)::float8 as minutes
from published_cells p
where p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
    select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
  )
group by p.weekday, p.hour;

-- read published days
-- returns day date, active_minutes float8, commits float8, closed_issues float8, active_members int2|int4
select p.day, p.minutes::float8 as active_minutes, p.commits::float8, p.closed_issues::float8, p.active_members
from published_days p
where p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
    select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
  );

-- read published repositories
-- returns repo text, active_minutes float8, commits float8, closed_issues float8, members int2|int4
select coalesce(min(named.repo), p.repo_key) as repo, sum(p.minutes)::float8 as active_minutes,
  sum(p.commits)::float8 as commits, sum(p.closed_issues)::float8 as closed_issues, max(p.active_members) as members
from published_repos p
left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = p.repo_key
where p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
    select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
  ) and ($5::text is null or p.repo_key = $5::text)
group by p.repo_key;

-- read published weeks
-- returns week date, active_minutes float8, commits float8, closed_issues float8, active_members int2|int4
select p.week, p.minutes::float8 as active_minutes, p.commits::float8, p.closed_issues::float8, p.active_members
from published_weeks p
where p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
    select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
  );

-- read raw hours by zone
-- returns day date, timezone text, hours _int2|_int4, people _uuid
select a.day, coalesce(u.timezone, 'UTC') as timezone, array[sum(a.hours[1])::int,sum(a.hours[2])::int,sum(a.hours[3])::int,sum(a.hours[4])::int,sum(a.hours[5])::int,sum(a.hours[6])::int,sum(a.hours[7])::int,sum(a.hours[8])::int,sum(a.hours[9])::int,sum(a.hours[10])::int,sum(a.hours[11])::int,sum(a.hours[12])::int,sum(a.hours[13])::int,sum(a.hours[14])::int,sum(a.hours[15])::int,sum(a.hours[16])::int,sum(a.hours[17])::int,sum(a.hours[18])::int,sum(a.hours[19])::int,sum(a.hours[20])::int,sum(a.hours[21])::int,sum(a.hours[22])::int,sum(a.hours[23])::int,sum(a.hours[24])::int] as hours, (array_agg(distinct a.user_id) filter (where 0 < any(a.hours) and a.user_id <> '00000000-0000-0000-0000-000000000000'))[:3] as people
from activity a join users u on u.id = a.user_id
where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 and a.hours is not null
group by a.day, coalesce(u.timezone, 'UTC');

-- read the backlog of rollups
-- returns days int2|int4, oldest float8
select count(distinct (workspace_id, day))::int as days,
       coalesce(extract(epoch from now() - min(day)::timestamp at time zone 'UTC'), 0)::float8 as oldest
from (select workspace_id, day from stale_days limit 20000) s;

-- read the best snapshot
-- returns ownsRepo bool, inWorkspace bool, workspaceId uuid, id uuid, owner text, repo text, version int2|int4, sizeBytes int2|int4, updatedAt timestamptz, updatedBy text, settings text
select
  case when t.id is null then (select login_key = $2::text from users where id = $1::uuid) end as "ownsRepo",
  $4::uuid is null or exists (select from members where user_id = $1::uuid and workspace_id = $4::uuid) as "inWorkspace",
  t.workspace_id as "workspaceId", t.id, t.owner, t.repo, t.version, t.size_bytes as "sizeBytes",
  t.updated_at as "updatedAt", a.login as "updatedBy",
  case when (strpos($5::text, '"' || t.id || '-' || t.version || '"') = 0 and $5::text <> '*') then t.settings end as settings
from (values (true)) always
left join lateral (
  select m.workspace_id, s.id, s.owner, s.repo, s.version, s.size_bytes, s.updated_at, s.updated_by, s.settings
  from members m join patterns p on m.user_id = $1::uuid and ($4::uuid is null or m.workspace_id = $4::uuid) and p.workspace_id = m.workspace_id and p.owner_key = $2::text and case when p.exact then p.repo_key = $3::text else $3::text like p.repo_like end
  left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
  order by (s.id is null), (m.role = 'admin') desc, p.exact desc, p.literal_length desc, m.workspace_id
  limit 1
) t on true
left join users a on a.id = t.updated_by;

-- read the billing of somebody
-- returns billing text
select json_build_object(
  'customers', (
    select coalesce(json_agg(json_build_object('id', id, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by id), '[]')
    from billing_customers where user_id = $1::uuid
  ),
  'subscriptions', (
    select coalesce(json_agg(json_build_object(
      'id', s.id, 'customer_id', s.customer_id, 'status', s.status, 'updated_at', to_char(s.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ) order by s.id), '[]')
    from billing_customers c join subscriptions s on s.customer_id = c.id where c.user_id = $1::uuid
  )
)::text as billing;

-- read the clock of the database
-- returns now text
select now()::text as now;

-- read the days of a dashboard
-- returns day date, active_minutes float8, commits float8, closed_issues float8, active_members int2|int4
select a.day, a.minutes::float8 as active_minutes, a.commits::float8, a.closed_issues::float8, a.active_members
from activity_days a
where a.workspace_id = $1::uuid and a.day between $5::date and $6::date
  and a.day <> all($4::date[])
union all
select a.day, sum(a.minutes::float8) as active_minutes, sum(a.commits::float8) as commits,
  sum(a.closed_issues::float8) as closed_issues, count(*) filter (where a.minutes > 0 and a.user_id <> '00000000-0000-0000-0000-000000000000')::int
from (select a.day, a.user_id, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 group by a.day, a.user_id) a
group by a.day;

-- read the effective configuration
-- returns inWorkspace bool, workspaceId uuid, pattern text, idleWindowMinutes int2|int4, alsoMatched _uuid, etag text, owner text, repo text, settings text, override text
with matched as (
  select m.workspace_id, p.pattern, w.idle_window_minutes, w.settings_version, w.settings,
    row_number() over (order by (m.role = 'admin') desc, p.exact desc, p.literal_length desc, m.workspace_id) as place
  from members m
join lateral (
  select p.pattern, p.exact, p.literal_length
  from patterns p
  where p.workspace_id = m.workspace_id and p.owner_key = $2::text and case when p.exact then p.repo_key = $3::text else $3::text like p.repo_like end
  order by p.exact desc, p.literal_length desc, p.pattern
  limit 1
) p on m.user_id = $1::uuid and ($4::uuid is null or m.workspace_id = $4::uuid)
  join workspaces w on w.id = m.workspace_id
), best as (
  select workspace_id, pattern, idle_window_minutes, settings_version, settings,
    array(
      select o.workspace_id from matched o where o.workspace_id <> b.workspace_id order by o.place
    ) as others
  from matched b
  where $5::uuid is null or workspace_id = $5::uuid
  order by place
  limit 1
), tagged as (
  select b.workspace_id, b.pattern, b.idle_window_minutes, b.settings, b.others,
    coalesce(s.owner, o.owner) as owner, coalesce(s.repo, o.repo) as repo, o.settings as override,
    '"' || md5(concat_ws(' ', b.workspace_id, b.settings_version, o.revision, b.pattern, b.others::text, s.id)) || '"' as etag
  from best b
  left join overrides o on o.owner_key = $2::text and o.repo_key = $3::text and o.workspace_id = b.workspace_id
  left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = b.workspace_id
)
select
  $5::uuid is null or exists (select from members where user_id = $1::uuid and workspace_id = $5::uuid) as "inWorkspace",
  t.workspace_id as "workspaceId", t.pattern, t.idle_window_minutes as "idleWindowMinutes", t.others as "alsoMatched",
  t.etag, t.owner, t.repo,
  case when (strpos($6::text, t.etag) = 0 and $6::text <> '*') then t.settings end as settings,
  case when (strpos($6::text, t.etag) = 0 and $6::text <> '*') then t.override end as override
from (values (true)) one
left join tagged t on true;

-- read the funnel of a range
-- returns users int2|int4, steps json|jsonb, step_events json|jsonb, other_events json|jsonb, by_source json|jsonb
with rows as not materialized (
  select user_id, event, source, first_at, events from funnel_days
  where day between coalesce($3::date, '-infinity') and coalesce($4::date, 'infinity') and ($2::text is null or source = $2)
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
    order by users desc, events desc, event limit 100
  ) o) as other_events,
  (select coalesce(json_agg(s), '[]') from (
    select source, users, events from sources
    order by users desc, events desc, source limit 100
  ) s) as by_source;

-- read the funnel of all time
-- returns users int2|int4, steps json|jsonb, step_events json|jsonb, other_events json|jsonb, by_source json|jsonb
with rows as not materialized (
  select user_id, event, source, first_at, events from funnel_users where true and ($2::text is null or source = $2)
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
    order by users desc, events desc, event limit 100
  ) o) as other_events,
  (select coalesce(json_agg(s), '[]') from (
    select source, users, events from sources
    order by users desc, events desc, source limit 100
  ) s) as by_source;

-- read the heatmap
-- returns weekday int2|int4, hour int2|int4, minutes float8
select weekday, hour, sum(minutes)::float8 as minutes from activity_hours
where workspace_id = $1::uuid and day between $2::date and $3::date and day <> all($4::date[])
group by weekday, hour;

-- read the host id of a user
-- returns repohostId text
select repohost_id::text as "repohostId" from users where id = $1::uuid;

-- read the members of a dashboard
-- returns login text, avatar_url text, role text, active_minutes float8, commits float8, closed_issues float8, active_days int2|int4, last_active_day date, active_members int2|int4
with parts as (
  select user_id, minutes, commits, closed_issues, bit_count(active_day_bits::bit(31))::int as active_days,
    case when active_day_bits <> 0 then month + 31 - position(B'1' in active_day_bits::bit(31)) end as last_active_day
  from activity_member_months where workspace_id = $1::uuid and month = any($5::date[])
  union all
  select user_id, minutes, commits, closed_issues, (minutes > 0)::int, case when minutes > 0 then day end
  from activity_member_days where workspace_id = $1::uuid and day = any($6::date[])
  union all
  select a.user_id, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues, (sum(a.minutes) > 0)::int, case when sum(a.minutes) > 0 then a.day end
  from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 group by a.user_id, a.day
), people as (
  select a.user_id, sum(a.minutes::float8) as active_minutes, sum(a.commits::float8) as commits,
  sum(a.closed_issues::float8) as closed_issues, sum(a.active_days) as active_days, max(a.last_active_day) as last_active_day
  from parts a group by a.user_id
), listed as (
  select user_id from people
  union select user_id from members where workspace_id = $1::uuid and $2::uuid is null and $3::text is null
  union select $2::uuid where $2::uuid is not null
), placed as (
  select u.repohost_id is null as deleted, u.login, u.avatar_url, m.role, coalesce(p.active_minutes, 0) as active_minutes,
    coalesce(p.commits, 0) as commits, coalesce(p.closed_issues, 0) as closed_issues,
    coalesce(p.active_days, 0) as active_days, p.last_active_day,
    row_number() over (order by u.repohost_id is null, p.active_minutes desc nulls last, p.commits desc nulls last,
      p.closed_issues desc nulls last, u.login_key collate "C") as place
  from listed
  join users u on u.id = listed.user_id
  left join members m on m.workspace_id = $1::uuid and m.user_id = listed.user_id
  left join people p on p.user_id = listed.user_id
), rows as (
  select *, case when deleted then 1000 else least(place, 1000) end as row from placed
)
select case when count(*) = 1 and not bool_or(deleted) then min(login) end as login,
  case when count(*) = 1 then min(avatar_url) else '' end as avatar_url,
  case when count(*) = 1 then min(role) end as role,
  sum(active_minutes) as active_minutes, sum(commits) as commits, sum(closed_issues) as closed_issues,
  coalesce(sum(active_days) filter (where not deleted), 0)::int as active_days,
  max(last_active_day) filter (where not deleted) as last_active_day,
  count(*) filter (where active_minutes > 0 and not deleted)::int as active_members
from rows group by row order by row;

-- read the moment
-- returns moment timestamptz
select clock_timestamp()::timestamptz(3) as moment;

-- read the newest migration
-- returns newest float8
select max(created_at)::float8 as newest from drizzle.__drizzle_migrations;

-- read the published weeks of a repository
-- returns week date, active_minutes float8, commits float8, closed_issues float8, active_members int2|int4
select p.week, p.minutes::float8 as active_minutes, p.commits::float8, p.closed_issues::float8, p.active_members
from published_repos p
where p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
    select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
  ) and p.repo_key = $5::text;

-- read the repositories of a dashboard
-- returns repo text, active_minutes float8, commits float8, closed_issues float8, members int2|int4
with parts as (
  select repo_key, minutes, commits, closed_issues
  from activity_repo_months where workspace_id = $1::uuid and month = any($5::date[])
  union all
  select repo_key, minutes, commits, closed_issues
  from activity_repo_days where workspace_id = $1::uuid and day = any($6::date[])
  union all
  select a.repo_key, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 group by a.repo_key
), repos as (
  select a.repo_key, sum(a.minutes::float8) as active_minutes, sum(a.commits::float8) as commits,
  sum(a.closed_issues::float8) as closed_issues from parts a group by a.repo_key
), placed as (
  select *,
    row_number() over (order by active_minutes desc, commits desc, closed_issues desc, repo_key) as place
  from repos
), people as not materialized (
  select repo_key, user_id from activity_repo_people
  where workspace_id = $1::uuid and month = any($5::date[])
  union
  select repo_key, user_id
  from activity_repo_people join unnest($7::date[], $8::int[]) as part (month, day_bits) using (month)
  where workspace_id = $1::uuid and month = any($7::date[]) and activity_repo_people.day_bits & part.day_bits <> 0
  union
  select a.repo_key, a.user_id from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0 and a.user_id <> '00000000-0000-0000-0000-000000000000'
), members as (
  select repo_key, count(*)::int as members from people group by repo_key
)
select case when count(*) = 1 then min(coalesce(named.repo, placed.repo_key)) end as repo,
  sum(active_minutes) as active_minutes, sum(commits) as commits, sum(closed_issues) as closed_issues,
  case when count(*) = 1 then coalesce(min(members.members), 0) else (
    select count(distinct user_id)::int from people
    where repo_key in (select repo_key from placed where place >= 1000)
  ) end as members
from placed
left join members on members.repo_key = placed.repo_key
left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = placed.repo_key
group by least(place, 1000) order by least(place, 1000);

-- read the settings of a workspace
-- returns idleWindowMinutes int2|int4, activityPrivacy text, activityPrivacySince timestamptz, version int2|int4, updatedAt timestamptz, settings text
select idle_window_minutes as "idleWindowMinutes", activity_privacy as "activityPrivacy",
  activity_privacy_since as "activityPrivacySince", settings_version as version, settings_updated_at as "updatedAt",
  case when (strpos($2::text, '"' || id || '-' || settings_version || '"') = 0 and $2::text <> '*') then settings end as settings
from workspaces where id = $1::uuid and deleted_at is null;

-- read the trends of members
-- returns place int2|int4, trend json|jsonb
with parts as (
  select user_id, day, minutes from activity_member_days
  where workspace_id = $1::uuid and day between $5::date and $6::date and day <> all($4::date[])
  union all
  select a.user_id, a.day, a.minutes from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0
), listed as (
  select u.id as user_id, place from unnest($9::text[]) with ordinality as l (login_key, place) join users u using (login_key)
), sums as (
  select coalesce(place, cardinality($9::text[]) + 1)::int as place, (day - $7::date) / $8::int as step,
    sum(minutes::float8) as minutes
  from parts left join listed using (user_id)
  group by 1, 2
)
select place, json_object_agg(step, minutes) as trend from sums group by place;

-- read the trends of repositories
-- returns place int2|int4, trend json|jsonb
with parts as (
  select repo_key, day, minutes from activity_repo_days
  where workspace_id = $1::uuid and day between $5::date and $6::date and day <> all($4::date[])
  union all
  select a.repo_key, a.day, a.minutes from activity a where a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
    and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and a.minutes + a.commits + a.closed_issues > 0
), listed as (
  select repo_key, place from unnest($9::text[]) with ordinality as l (repo_key, place)
), sums as (
  select coalesce(place, cardinality($9::text[]) + 1)::int as place, (day - $7::date) / $8::int as step,
    sum(minutes::float8) as minutes
  from parts left join listed using (repo_key)
  group by 1, 2
)
select place, json_object_agg(step, minutes) as trend from sums group by place;

-- read the work of a week
-- returns userId uuid, day int2|int4, repoKey text, minutes int2|int4, commits int2|int4, closedIssues int2|int4, hours _int2|_int4, timezone text
select nullif(a.user_id, '00000000-0000-0000-0000-000000000000') as "userId", a.day - $2::date as day,
  a.repo_key as "repoKey", a.minutes, a.commits, a.closed_issues as "closedIssues", a.hours, coalesce(u.timezone, 'UTC') as timezone
from activity a left join users u on u.id = a.user_id
where a.workspace_id = $1::uuid and a.day between $2::date and $2::date + 6 and a.minutes + a.commits + a.closed_issues > 0;

-- read today
-- returns today date
select (now() at time zone 'UTC')::date as today;

-- read what a flush comes upon
-- returns today date, timezone text, bodyHash text, answer text, comparisons float8, workspaceId uuid, repoKeys _text, paused bool, recordedHours json|jsonb, reposOff _text
with recording as materialized (
  select paused, hours, repos_off_like from recordings where user_id = $1::uuid
), work as materialized (
  select coalesce((
    select sum(o.characters * (10 + case when p.exact then 0 else least(octet_length(p.repo_key), 100) end))
    from members m
    cross join unnest($5::text[], $6::float8[]) as o (owner_key, characters)
    join patterns p on p.workspace_id = m.workspace_id and p.owner_key = o.owner_key
    where m.user_id = $1::uuid
  ), 0) + coalesce((
    select sum(10 + octet_length(o.repo_like)) * $7::float8
    from recording c, unnest(c.repos_off_like) as o (repo_like)
  ), 0) as comparisons
)
select (now() at time zone 'UTC')::date as today, u.timezone, f.body_hash as "bodyHash", f.answer,
  (select comparisons from work) as comparisons, w.workspace_id as "workspaceId", w.repo_keys as "repoKeys",
  c.paused, c.hours as "recordedHours",
  case when row_number() over (order by w.workspace_id) = 1 then c.repos_off end as "reposOff"
from users u
left join (
  select paused, hours, array(
    select owner_key || '/' || repo_key from unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
    where (select comparisons from work) <= $8::float8 and owner_key || '/' || repo_key like any (repos_off_like)
  ) as repos_off
  from recording
) c on true
left join (
  select body_hash, answer from flushes where user_id = $1::uuid and flush_id = $2::text
) f on true
left join (
  select m.workspace_id, array_agg(r.owner_key || '/' || r.repo_key) as repo_keys
  from members m
  join users u on u.id = m.user_id
  cross join unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
  where m.user_id = $1::uuid and (r.owner_key <> u.login_key or m.role = 'admin')
    and (select comparisons from work) <= $8::float8 and exists (
      select from patterns p
      where p.workspace_id = m.workspace_id and p.owner_key = r.owner_key and case when p.exact then p.repo_key = r.repo_key else r.repo_key like p.repo_like end
    )
  group by m.workspace_id
) w on true
where u.id = $1::uuid and u.repohost_id is not null
order by w.workspace_id;

-- read what a member has on days
-- returns day date, minutes int2|int4, hours _int2|_int4
select day, sum(minutes)::int as minutes,
  array[coalesce(sum(hours[1]), 0)::int, coalesce(sum(hours[2]), 0)::int, coalesce(sum(hours[3]), 0)::int, coalesce(sum(hours[4]), 0)::int, coalesce(sum(hours[5]), 0)::int, coalesce(sum(hours[6]), 0)::int, coalesce(sum(hours[7]), 0)::int, coalesce(sum(hours[8]), 0)::int, coalesce(sum(hours[9]), 0)::int, coalesce(sum(hours[10]), 0)::int, coalesce(sum(hours[11]), 0)::int, coalesce(sum(hours[12]), 0)::int, coalesce(sum(hours[13]), 0)::int, coalesce(sum(hours[14]), 0)::int, coalesce(sum(hours[15]), 0)::int, coalesce(sum(hours[16]), 0)::int, coalesce(sum(hours[17]), 0)::int, coalesce(sum(hours[18]), 0)::int, coalesce(sum(hours[19]), 0)::int, coalesce(sum(hours[20]), 0)::int, coalesce(sum(hours[21]), 0)::int, coalesce(sum(hours[22]), 0)::int, coalesce(sum(hours[23]), 0)::int, coalesce(sum(hours[24]), 0)::int] as hours
from activity
where workspace_id = $1::uuid and user_id = $2::uuid and day = any($3::date[]) and minutes > 0
group by day;

-- read what a profile does not say
-- returns profile text
select json_build_object(
  'repohost_id', repohost_id, 'timezone', timezone, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
)::text as profile
from users where id = $1::uuid;

-- read what is recorded of a user
-- returns paused bool, repos_off _text, hours json|jsonb
select paused, repos_off, hours from recordings where user_id = $1::uuid;

-- read whether a replica is as far
-- returns cluster text, follows bool, reached bool
select (select system_identifier::text from pg_control_system())
  || ' ' || (select oid::text from pg_database where datname = current_database()) || ' ' || upper(lpad(to_hex(timeline_id), 8, '0')) as cluster, pg_is_in_recovery() as follows,
  coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) as reached
from pg_control_checkpoint();

-- read whether a write would work
-- returns readOnly bool, isStandby bool, role text, denied text
select current_setting('transaction_read_only')::bool as "readOnly", pg_is_in_recovery() as "isStandby",
  current_user::text as role,
  (select string_agg(name, ', ' order by name) from unnest($1::text[]) name
    where not has_table_privilege(to_regclass('public.' || name), 'INSERT')) as denied;

-- read whose hours are in the heatmap
-- returns day date, crews json|jsonb
select d.day, d.hour_crews as crews from activity_days d
where d.workspace_id = $1::uuid and d.day between $2::date and $3::date and d.day <> all($4::date[]) and case
  when d.hour_crews is null
    then exists (select from activity_hours h where h.workspace_id = $1::uuid and h.day = d.day)
  else d.hour_crews -> 'small' <> '[]' end;

-- record that workspaces were raised to the privacy level team
insert into privacy_levels (workspace_id, id, since, level)
select id, gen_random_uuid(), activity_privacy_since, activity_privacy from workspaces where id = any($1::uuid[]);

-- record who looks
-- returns day date, from date, to date, exported bool
insert into dashboard_views as v (workspace_id, day, viewer_id, member_id, repo_key, from_day, to_day, exported)
select $1::uuid, (now() at time zone 'UTC')::date, $2::uuid, $3::uuid, $4::text, $5::date, $6::date, $7::bool
from workspaces where id = $1::uuid and deleted_at is null
  and ($4::text = '' or exists (select from activity_repos r where r.workspace_id = $1::uuid and r.repo_key = $4::text))
on conflict (workspace_id, day, viewer_id, member_id, repo_key) do update set
  from_day = least(v.from_day, excluded.from_day), to_day = greatest(v.to_day, excluded.to_day),
  exported = v.exported or excluded.exported
returning day, from_day as "from", to_day as "to", exported;

-- register people who will have activity
insert into activity_people (workspace_id, user_id) values ($1::uuid, unnest($2::uuid[]))
on conflict do nothing;

-- remember the answer to a flush
insert into flushes (user_id, flush_id, body_hash, answer)
values ($1::uuid, $2::text, $3::text, $4::text);

-- revoke all tokens of a user
-- returns generation int2|int4
with raised as (
  update users set generation = generation + 1 where id = $1::uuid returning id, generation
)
insert into revocations (user_id, generation, expires_at)
select id, generation, now() + make_interval(days => 30) from raised
returning generation;

-- see one state
set transaction isolation level repeatable read, read only;

-- set closed_issues
-- returns changed int2|int4
insert into activity as a (workspace_id, user_id, day, repo_key, closed_issues)
select $5::uuid, u.user_id, $6::date, lower(g.repo), g.count
from
  unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
  join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null
where lower(g.repo) not in (select unnest($7::text[])) and (g.count > 0 or g.n in (select unnest($8::int[])))
order by g.n
on conflict (workspace_id, user_id, day, repo_key) do update set closed_issues = excluded.closed_issues
where a.closed_issues <> excluded.closed_issues
returning 1 as changed;

-- set commits
-- returns changed int2|int4
insert into activity as a (workspace_id, user_id, day, repo_key, commits)
select $5::uuid, u.user_id, $6::date, lower(g.repo), g.count
from
  unnest($2::int[], $3::text[], $4::int[]) with ordinality as g (member, repo, count, n)
  join unnest($1::uuid[]) with ordinality as u (user_id, n) on u.n = g.member and u.user_id is not null
where lower(g.repo) not in (select unnest($7::text[])) and (g.count > 0 or g.n in (select unnest($8::int[])))
order by g.n
on conflict (workspace_id, user_id, day, repo_key) do update set commits = excluded.commits
where a.commits <> excluded.commits
returning 1 as changed;

-- take a login from another user
update users set login = login || s.suffix, login_key = login_key || s.suffix
from (
  select u.id, repeat('.' || u.repohost_id, n) as suffix
  from users u cross join generate_series(1, 100) n
  where u.login_key = $1::text and u.repohost_id <> $2::bigint
    and not exists (select from users o where o.login_key = u.login_key || repeat('.' || u.repohost_id, n))
  order by n limit 1
) s
where users.id = s.id;

-- take a name off the audit trail
-- returns changed int2|int4
update audit_entries set
  actor = case when (actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text)) then 'deleted user' else actor end,
  actor_id = case when (actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text)) then '00000000-0000-0000-0000-000000000000' else actor_id end,
  target = case when (target_id = $1::uuid or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and lower(target) = $2::text)) then 'deleted user' else target end,
  target_id = case when (target_id = $1::uuid or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and lower(target) = $2::text)) then '00000000-0000-0000-0000-000000000000' else target_id end,
  details = regexp_replace(details::text, '***="' || $2::text || '"', '"deleted user"', 'gi')::jsonb
where ((actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text)) or (target_id = $1::uuid or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and lower(target) = $2::text))) and (workspace_id, id) in (select workspace_id, id from audit_entries where ((actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text)) or (target_id = $1::uuid or (target_id is null and (action like 'member.%' or action = 'invites.revoked') and lower(target) = $2::text))) limit $3::int)
returning 1 as changed;

-- take the activity of somebody
-- returns day date, repoKey text, minutes int2|int4, commits int2|int4, closedIssues int2|int4
delete from activity
where workspace_id = $1::uuid and user_id = $2::uuid
  and day >= $3::date and day < $3::date + interval '1 month' and (day, repo_key) <= (coalesce($4::date, 'infinity'), coalesce($5::text, ''))
returning day, repo_key as "repoKey", minutes, commits, closed_issues as "closedIssues";

-- take the stale marks of a month
-- returns day date
with taken as (
  delete from stale_days
  where workspace_id = $1::uuid and day >= $2::date and day < $2::date + interval '1 month'
  returning day
)
select distinct day from taken;

-- take the turn at housekeeping
select pg_advisory_xact_lock(7318214903);

-- take the turn to roll up
-- returns taken bool
select pg_try_advisory_xact_lock($1::bigint) as taken from set_config('statement_timeout', '60s', true);

-- whether a repository matches a workspace
-- returns matches bool
select exists (
  select from patterns p where p.workspace_id = $1::uuid and p.owner_key = $2::text and case when p.exact then p.repo_key = $3::text else $3::text like p.repo_like end
) as matches;

-- whether a workspace is within its room
-- returns within bool
select coalesce((select sum(size_bytes) from snapshots where workspace_id = $1::uuid), 0)
  + coalesce((select sum(size_bytes) from overrides where workspace_id = $1::uuid), 0) <= $2::bigint as within;

-- == Made by Drizzle's builder ==

-- audit.insertAuditEntry
insert into "audit_entries" ("workspace_id", "id", "at", "actor", "actor_id", "action", "target", "target_id", "details")
values ($1, $2, default, $3, $4, $5, $6, $7, $8::jsonb);

-- billing.applyChange
insert into "subscriptions" ("id", "customer_id", "status", "event_created", "event_rank", "updated_at")
values ($1, $2, $3, $4, $5, default)
on conflict ("id") do update set "customer_id" = $6, "status" = $7, "event_created" = $8, "event_rank" = $9, "updated_at" = now()
where ("subscriptions"."event_created", "subscriptions"."event_rank") <= ($10, $11);

-- billing.insertBillingEvent
insert into "billing_events" ("id", "type", "received_at")
values ($1, $2, default)
on conflict do nothing
returning "id";

-- billing.linkCustomer
insert into "billing_customers" ("id", "user_id", "created_at") select $1::text as "id", "id", now() as "created_at"
from "users"
where ("users"."id" = $2 and "users"."repohost_id" is not null)
on conflict do nothing;

-- billing.readCustomer
select "id"
from "billing_customers"
where "billing_customers"."user_id" = $1
order by "billing_customers"."created_at" asc, "billing_customers"."id" asc
limit $2;

-- billing.readSubscriptionStatus
select "subscriptions"."status"
from "billing_customers"
inner join "subscriptions" on "subscriptions"."customer_id" = "billing_customers"."id"
where "billing_customers"."user_id" = $1
order by array_position(array['active', 'trialing', 'past_due', 'canceled', 'none'], "subscriptions"."status")
limit $2;

-- billing.unlinkCustomers
delete from "billing_customers"
where "billing_customers"."user_id" = $1
returning "id";

-- billing.unlinkCustomers
delete from "subscriptions"
where "subscriptions"."customer_id" in ($1);

-- dashboard.readStaleDays
select distinct "day"
from "stale_days"
where ("stale_days"."workspace_id" = $1 and "stale_days"."day" between $2 and $3);

-- erasures.beginErasure
delete from "members"
where "members"."user_id" = $1;

-- erasures.beginErasure
insert into "erasures" ("user_id", "login_key", "started_at")
values ($1, $2, default);

-- erasures.beginErasure
update "users"
set "repohost_id" = $1, "login" = $2, "login_key" = $3, "avatar_url" = $4, "timezone" = $5
where "users"."id" = $6;

-- erasures.listErasures
select "user_id", "login_key"
from "erasures"
order by "erasures"."started_at" asc, "erasures"."user_id" asc;

-- erasures.lockPlaces
select "workspace_id"
from "members"
where "members"."user_id" = $1
order by "members"."workspace_id" asc;

-- invites.findInvite
select "id", "workspace_id", "role", "expires_at", "created_at", case when "revoked_at" is not null then 'revoked' when "expires_at" <= now() then 'expired' when "used_count" >= "max_uses" then 'exhausted' else 'active' end
from "invites"
where "invites"."code_key" = $1;

-- invites.insertInvite
insert into "invites" ("id", "workspace_id", "code", "code_key", "role", "max_uses", "used_count", "expires_at", "revoked_at", "created_by", "created_at")
values ($1, $2, $3, $4, $5, $6, default, statement_timestamp() + make_interval(hours => $7::int), default, $8, statement_timestamp())
returning "id", "expires_at", "created_at";

-- invites.listActiveInvites
select "invites"."id", "invites"."code", "invites"."role", "invites"."max_uses", "invites"."used_count", "invites"."expires_at", case when "invites"."revoked_at" is not null then 'revoked' when "invites"."expires_at" <= now() then 'expired' when "invites"."used_count" >= "invites"."max_uses" then 'exhausted' else 'active' end, "users"."login", "invites"."created_at"
from "invites"
inner join "users" on "users"."id" = "invites"."created_by"
where ("invites"."workspace_id" = $1 and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses))
order by "invites"."created_at" desc, "invites"."id" desc
limit $2;

-- invites.listActiveInvites
select "invites"."id", "invites"."code", "invites"."role", "invites"."max_uses", "invites"."used_count", "invites"."expires_at", case when "invites"."revoked_at" is not null then 'revoked' when "invites"."expires_at" <= now() then 'expired' when "invites"."used_count" >= "invites"."max_uses" then 'exhausted' else 'active' end, "users"."login", "invites"."created_at"
from "invites"
inner join "users" on "users"."id" = "invites"."created_by"
where ("invites"."workspace_id" = $1 and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses) and ("invites"."created_at", "invites"."id") < ($2::timestamptz, $3::uuid))
order by "invites"."created_at" desc, "invites"."id" desc
limit $4;

-- invites.revokeAllInvitesOf
update "invites"
set "revoked_at" = now()
where ("invites"."created_by" = $1 and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses));

-- invites.revokeInvite
update "invites"
set "revoked_at" = now()
where (("invites"."workspace_id" = $1 and "invites"."id" = $2) and "invites"."revoked_at" is null)
returning "id";

-- invites.revokeInvite
select "id"
from "invites"
where ("invites"."workspace_id" = $1 and "invites"."id" = $2);

-- invites.revokeInvitesOf
update "invites"
set "revoked_at" = now()
where ("invites"."workspace_id" = $1 and "invites"."created_by" = $2 and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses))
returning "id";

-- invites.useInvite
update "invites"
set "used_count" = "invites"."used_count" + 1
where ("invites"."id" = $1 and revoked_at is null and expires_at > now() and (max_uses is null or used_count < max_uses))
returning "id";

-- members.countWorkspacesOf
select count(*)
from "members"
where "members"."user_id" = $1;

-- members.deleteMember
delete from "members"
where ("members"."workspace_id" = $1 and "members"."user_id" = $2);

-- members.findMember
select "members"."user_id", "users"."login", "users"."avatar_url", "members"."role", "members"."joined_at", ( select "activity"."day"::text from "activity" where "activity"."workspace_id" = $1::uuid and "activity"."user_id" = "members"."user_id" and "activity"."minutes" > 0 and "activity"."day" >= $2::date order by "activity"."day" desc limit 1 )
from "members"
inner join "users" on "users"."id" = "members"."user_id"
where ("members"."workspace_id" = $3 and "users"."login_key" = $4);

-- members.hasOtherAdmin
select "user_id"
from "members"
where ("members"."workspace_id" = $1 and "members"."role" = $2 and "members"."user_id" <> $3)
limit $4;

-- members.insertMember
insert into "members" ("workspace_id", "user_id", "role", "joined_at")
values ($1, $2, $3, default);

-- members.listMembers
select "members"."user_id", "users"."login", "users"."avatar_url", "members"."role", "members"."joined_at", ( select "activity"."day"::text from "activity" where "activity"."workspace_id" = $1::uuid and "activity"."user_id" = "members"."user_id" and "activity"."minutes" > 0 and "activity"."day" >= $2::date order by "activity"."day" desc limit 1 )
from "members"
inner join "users" on "users"."id" = "members"."user_id"
where "members"."workspace_id" = $3
order by "members"."joined_at" asc, "members"."user_id" asc
limit $4;

-- members.listMembers
select "members"."user_id", "users"."login", "users"."avatar_url", "members"."role", "members"."joined_at", ( select "activity"."day"::text from "activity" where "activity"."workspace_id" = $1::uuid and "activity"."user_id" = "members"."user_id" and "activity"."minutes" > 0 and "activity"."day" >= $2::date order by "activity"."day" desc limit 1 )
from "members"
inner join "users" on "users"."id" = "members"."user_id"
where ("members"."workspace_id" = $3 and ("members"."joined_at", "members"."user_id") > ($4::timestamptz, $5::uuid))
order by "members"."joined_at" asc, "members"."user_id" asc
limit $6;

-- members.lockRole
select "role"
from "members"
where ("members"."workspace_id" = $1 and "members"."user_id" = $2);

-- members.readOwnMembership
select "members"."role", "users"."login"
from "members"
inner join "users" on "users"."id" = "members"."user_id"
where ("members"."workspace_id" = $1 and "members"."user_id" = $2);

-- members.readRole
select "role"
from "members"
where ("members"."workspace_id" = $1 and "members"."user_id" = $2);

-- members.updateRole
update "members"
set "role" = $1
where ("members"."workspace_id" = $2 and "members"."user_id" = $3);

-- overrides.deleteOverride
delete from "overrides"
where ("overrides"."owner_key" = $1 and "overrides"."repo_key" = $2 and "overrides"."workspace_id" = $3)
returning "owner", "repo";

-- overrides.readOverride
select "overrides"."owner", "overrides"."repo", "overrides"."settings", "overrides"."updated_at", "users"."login"
from "overrides"
inner join "users" on "users"."id" = "overrides"."updated_by"
where ("overrides"."owner_key" = $1 and "overrides"."repo_key" = $2 and "overrides"."workspace_id" = $3);

-- overrides.upsertOverride
insert into "overrides" ("owner_key", "repo_key", "workspace_id", "revision", "owner", "repo", "settings", "updated_at", "updated_by")
values ($1, $2, $3, $4, $5, $6, $7, default, $8)
on conflict ("owner_key","repo_key","workspace_id") do update set "revision" = $9, "settings" = $10, "updated_at" = excluded.updated_at, "updated_by" = $11
returning "owner", "repo", "updated_at";

-- privacy.insertPrivacyLevel
insert into "privacy_levels" ("workspace_id", "id", "since", "level")
values ($1, $2, $3, $4);

-- privacy.readPrivacy
select "activity_privacy", case when "activity_privacy" = 'named' and exists ( select from "privacy_levels" as "past" where "past"."workspace_id" = "workspaces"."id" and "past"."level" = 'team' ) then ("activity_privacy_since" at time zone 'UTC')::date::text end
from "workspaces"
where "workspaces"."id" = $1;

-- purge.listDeletedWorkspaces
select "id"
from "workspaces"
where "workspaces"."deleted_at" is not null
order by "workspaces"."deleted_at" asc, "workspaces"."id" asc;

-- removals.recordRemoval
insert into "removals" ("workspace_id", "user_id", "removed_at")
values ($1, $2, statement_timestamp())
on conflict ("workspace_id","user_id") do update set "removed_at" = excluded.removed_at;

-- sessions.insertOauthState
insert into "oauth_states" ("state_hash", "return_to", "expires_at")
values ($1, $2, now() + interval '10 minutes');

-- sessions.readRevocations
select "jti", "user_id", "generation"
from "revocations"
where "revocations"."expires_at" > now();

-- sessions.readRevocations
select "jti", "user_id", "generation"
from "revocations"
where "revocations"."revoked_at" > $1::timestamptz - interval '15 seconds';

-- sessions.revokeToken
insert into "revocations" ("id", "jti", "user_id", "generation", "revoked_at", "expires_at")
values (default, $1, default, default, default, $2);

-- sessions.takeOauthState
delete from "oauth_states"
where "oauth_states"."state_hash" = $1
returning "return_to", "expires_at" > now();

-- snapshots.deleteSnapshot
delete from "snapshots"
where ("snapshots"."owner_key" = $1 and "snapshots"."repo_key" = $2 and "snapshots"."workspace_id" = $3)
returning "owner", "repo";

-- snapshots.deleteSnapshot
delete from "snapshot_versions"
where ("snapshot_versions"."owner_key" = $1 and "snapshot_versions"."repo_key" = $2 and "snapshot_versions"."workspace_id" = $3);

-- snapshots.insertSnapshot
insert into "snapshots" ("owner_key", "repo_key", "workspace_id", "id", "owner", "repo", "version", "settings", "size_bytes", "updated_at", "updated_by")
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, default, $10)
on conflict do nothing
returning "id", "owner", "repo", "updated_at";

-- snapshots.insertSnapshot
insert into "snapshot_versions" ("owner_key", "repo_key", "workspace_id", "version", "settings", "size_bytes", "created_at", "created_by")
values ($1, $2, $3, $4, $5, $6, default, $7);

-- snapshots.listVersions
select "snapshot_versions"."version", "snapshot_versions"."size_bytes", "snapshot_versions"."created_at", "users"."login"
from "snapshot_versions"
inner join "users" on "users"."id" = "snapshot_versions"."created_by"
where ("snapshot_versions"."owner_key" = $1 and "snapshot_versions"."repo_key" = $2 and "snapshot_versions"."workspace_id" = $3)
order by "snapshot_versions"."version" desc;

-- snapshots.lockSnapshot
select "snapshots"."id", "snapshots"."owner", "snapshots"."repo", "snapshots"."workspace_id", "users"."login", "snapshots"."version", "snapshots"."size_bytes", "snapshots"."updated_at", "snapshots"."settings"
from "snapshots"
inner join "users" on "users"."id" = "snapshots"."updated_by"
where ("snapshots"."owner_key" = $1 and "snapshots"."repo_key" = $2 and "snapshots"."workspace_id" = $3)
for update of "snapshots";

-- snapshots.readVersion
select "snapshots"."id", "snapshots"."owner", "snapshots"."repo", "snapshots"."workspace_id", "users"."login", "snapshot_versions"."version", "snapshot_versions"."size_bytes", "snapshot_versions"."created_at", "snapshot_versions"."settings"
from "snapshots"
inner join "snapshot_versions" on ("snapshot_versions"."owner_key" = $1 and "snapshot_versions"."repo_key" = $2 and "snapshot_versions"."workspace_id" = $3)
inner join "users" on "users"."id" = "snapshot_versions"."created_by"
where (("snapshots"."owner_key" = $4 and "snapshots"."repo_key" = $5 and "snapshots"."workspace_id" = $6) and "snapshot_versions"."version" = $7);

-- snapshots.updateSnapshot
update "snapshots"
set "version" = $1, "settings" = $2, "size_bytes" = $3, "updated_at" = now(), "updated_by" = $4
where ("snapshots"."owner_key" = $5 and "snapshots"."repo_key" = $6 and "snapshots"."workspace_id" = $7)
returning "id", "owner", "repo", "updated_at";

-- snapshots.updateSnapshot
insert into "snapshot_versions" ("owner_key", "repo_key", "workspace_id", "version", "settings", "size_bytes", "created_at", "created_by")
values ($1, $2, $3, $4, $5, $6, default, $7);

-- snapshots.updateSnapshot
delete from "snapshot_versions"
where (("snapshot_versions"."owner_key" = $1 and "snapshot_versions"."repo_key" = $2 and "snapshot_versions"."workspace_id" = $3) and "snapshot_versions"."version" <= $4);

-- users.findUser
select "id", "repohost_id", "login", "avatar_url", "generation"
from "users"
where ("users"."login_key" = $1 and "users"."repohost_id" is not null);

-- users.lockUser
select "id", "repohost_id", "login", "avatar_url", "generation"
from "users"
where ("users"."id" = $1 and "users"."repohost_id" is not null);

-- users.readUser
select "id", "repohost_id", "login", "avatar_url", "generation"
from "users"
where ("users"."id" = $1 and "users"."repohost_id" is not null);

-- users.upsertUser
select "id"
from "users"
where ("users"."login_key" = $1 or "users"."repohost_id" = $2)
order by "users"."id"
for no key update;

-- users.upsertUser
insert into "users" ("id", "repohost_id", "login", "login_key", "avatar_url", "generation", "timezone", "created_at")
values ($1, $2, $3, $4, $5, default, default, statement_timestamp())
on conflict ("repohost_id") do update set "login" = $6, "login_key" = $7, "avatar_url" = $8
returning "id", "repohost_id", "login", "avatar_url", "generation";

-- workspace-settings.readSettingsToChange
select "idle_window_minutes", "activity_privacy", "activity_privacy_since", "settings", "settings_version", "settings_updated_at"
from "workspaces"
where "workspaces"."id" = $1;

-- workspace-settings.updateWorkspaceSettings
update "workspaces"
set "idle_window_minutes" = $1, "settings" = $2, "settings_version" = "workspaces"."settings_version" + 1, "settings_updated_at" = now()
where "workspaces"."id" = $3
returning "idle_window_minutes", "activity_privacy", "activity_privacy_since", "settings", "settings_version", "settings_updated_at";

-- workspace-settings.updateWorkspaceSettings
update "workspaces"
set "idle_window_minutes" = $1, "settings" = $2, "activity_privacy" = $3, "activity_privacy_since" = statement_timestamp(), "settings_version" = "workspaces"."settings_version" + 1, "settings_updated_at" = now()
where "workspaces"."id" = $4
returning "idle_window_minutes", "activity_privacy", "activity_privacy_since", "settings", "settings_version", "settings_updated_at";

-- workspaces.countPatterns
select count(*)
from "patterns"
where "patterns"."workspace_id" = $1;

-- workspaces.deletePatterns
delete from "patterns"
where "patterns"."workspace_id" = $1;

-- workspaces.hideWorkspace
delete from "invites"
where "invites"."workspace_id" = $1;

-- workspaces.hideWorkspace
delete from "members"
where "members"."workspace_id" = $1;

-- workspaces.hideWorkspace
delete from "patterns"
where "patterns"."workspace_id" = $1;

-- workspaces.hideWorkspace
update "workspaces"
set "personal_of" = $1, "deleted_at" = now()
where "workspaces"."id" = $2;

-- workspaces.insertPatterns
insert into "patterns" ("workspace_id", "owner_key", "repo_key", "position", "pattern", "exact", "literal_length", "repo_like")
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- workspaces.insertWorkspace
insert into "workspaces" ("id", "name", "personal_of", "idle_window_minutes", "settings", "activity_privacy", "activity_privacy_since", "settings_version", "settings_updated_at", "created_at", "deleted_at")
values ($1, $2, $3, $4, default, $5, $6, default, default, $7, default)
on conflict ("personal_of") do nothing
returning "id";

-- workspaces.insertWorkspace
insert into "privacy_levels" ("workspace_id", "id", "since", "level")
values ($1, $2, $3, $4);

-- workspaces.introduceWorkspace
select "name", ( select count(*)::int from "members" as "all" where "all"."workspace_id" = "id" ), to_json(array( select "pattern" from "patterns" where "workspace_id" = "id" order by "position" )), "activity_privacy"
from "workspaces"
where ("workspaces"."id" = $1 and "workspaces"."deleted_at" is null);

-- workspaces.listPatterns
select "pattern"
from "patterns"
where "patterns"."workspace_id" = $1
order by "patterns"."position" asc;

-- workspaces.listWorkspacesOf
select "workspaces"."id", "workspaces"."name", "workspaces"."personal_of" is not null, "members"."role", "workspaces"."idle_window_minutes", "workspaces"."activity_privacy", "workspaces"."activity_privacy_since", to_json(array( select "patterns"."pattern" from "patterns" where "patterns"."workspace_id" = "workspaces"."id" order by "patterns"."position" )), ( select count(*)::int from "members" as "all" where "all"."workspace_id" = "workspaces"."id" ), "workspaces"."created_at"
from "members"
inner join "workspaces" on "workspaces"."id" = "members"."workspace_id"
where "members"."user_id" = $1
order by "workspaces"."created_at" asc, "workspaces"."id" asc;

-- workspaces.listWorkspacesOf
select "workspaces"."id", "workspaces"."name", "workspaces"."personal_of" is not null, "members"."role", "workspaces"."idle_window_minutes", "workspaces"."activity_privacy", "workspaces"."activity_privacy_since", to_json(array( select "patterns"."pattern" from "patterns" where "patterns"."workspace_id" = "workspaces"."id" order by "patterns"."position" )), ( select count(*)::int from "members" as "all" where "all"."workspace_id" = "workspaces"."id" ), "workspaces"."created_at"
from "members"
inner join "workspaces" on "workspaces"."id" = "members"."workspace_id"
where ("members"."user_id" = $1 and "workspaces"."id" in ($2))
order by "workspaces"."created_at" asc, "workspaces"."id" asc;

-- workspaces.lockWorkspace
select "name", "personal_of" is not null
from "workspaces"
where ("workspaces"."id" = $1 and "workspaces"."deleted_at" is null);

-- workspaces.readPersonalWorkspace
select "id"
from "workspaces"
where "workspaces"."personal_of" = $1;

-- workspaces.readWorkspaceHead
select "name", "idle_window_minutes", "activity_privacy", case when "activity_privacy" = 'named' and exists ( select from "privacy_levels" as "past" where "past"."workspace_id" = "workspaces"."id" and "past"."level" = 'team' ) then ("activity_privacy_since" at time zone 'UTC')::date::text end
from "workspaces"
where "workspaces"."id" = $1;

-- workspaces.renameWorkspace
update "workspaces"
set "name" = $1
where "workspaces"."id" = $2;
