-- step: lock report_repo_days
CREATE OR REPLACE VIEW "public"."report_repo_days" AS (
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where u.repohost_id is not null) as members
  from daily_activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key));
