CREATE TABLE "dashboard_views" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"viewer_id" uuid NOT NULL,
	"member_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"from_day" date NOT NULL,
	"to_day" date NOT NULL,
	"exported" boolean NOT NULL,
	CONSTRAINT "dashboard_views_pk" PRIMARY KEY("workspace_id","day","viewer_id","member_id","repo_key")
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"login_key" text NOT NULL,
	"started_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
DROP VIEW "public"."report_repo_days";--> statement-breakpoint
DROP VIEW "public"."report_member_days";--> statement-breakpoint
DROP INDEX "snapshot_versions_of_workspace";--> statement-breakpoint
-- At once, because each change writes the whole table anew.
ALTER TABLE "activity" ALTER COLUMN "minutes" SET DATA TYPE integer, ALTER COLUMN "commits" SET DATA TYPE integer, ALTER COLUMN "closed_issues" SET DATA TYPE integer;--> statement-breakpoint
ALTER TABLE "users" ALTER COLUMN "repohost_id" DROP NOT NULL;--> statement-breakpoint
INSERT INTO "users" ("id", "login", "login_key", "avatar_url") VALUES ('00000000-0000-0000-0000-000000000000', 'deleted user', 'deleted user', '');--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "actor_id" uuid;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "target_id" uuid;--> statement-breakpoint
ALTER TABLE "dashboard_views" ADD CONSTRAINT "dashboard_views_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dashboard_views_by_age" ON "dashboard_views" USING btree ("day");--> statement-breakpoint
CREATE INDEX "dashboard_views_by_viewer" ON "dashboard_views" USING btree ("viewer_id");--> statement-breakpoint
CREATE INDEX "dashboard_views_of_member" ON "dashboard_views" USING btree ("member_id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_actor" ON "audit_entries" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_target" ON "audit_entries" USING btree ("target_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_login" ON "audit_entries" USING btree (lower("actor"),"id") WHERE "audit_entries"."actor_id" is null;--> statement-breakpoint
CREATE INDEX "audit_entries_about_login" ON "audit_entries" USING btree (lower("target"),"id") WHERE "audit_entries"."target_id" is null and (action like 'member.%' or action = 'invites.revoked');--> statement-breakpoint
CREATE INDEX "invites_by_author" ON "invites" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "overrides_by_author" ON "overrides" USING btree ("updated_by");--> statement-breakpoint
CREATE INDEX "removals_of_user" ON "removals" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "snapshot_versions_by_author" ON "snapshot_versions" USING btree ("created_by","owner_key","repo_key","workspace_id","version");--> statement-breakpoint
CREATE INDEX "snapshots_by_author" ON "snapshots" USING btree ("updated_by");--> statement-breakpoint
CREATE INDEX "snapshot_versions_of_workspace" ON "snapshot_versions" USING btree ("workspace_id","owner_key","repo_key","version");--> statement-breakpoint
CREATE VIEW "public"."report_member_days" AS (
  select a.workspace_id, w.name as workspace, a.day, u.login,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, u.login);--> statement-breakpoint
CREATE VIEW "public"."report_repo_days" AS (
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where a.user_id <> '00000000-0000-0000-0000-000000000000') as members
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key));