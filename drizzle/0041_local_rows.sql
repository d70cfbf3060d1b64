-- step: lock workspaces
CREATE TABLE "changed_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "changed_days_workspace_id_day_pk" PRIMARY KEY("workspace_id","day")
);--> statement-breakpoint
ALTER TABLE "changed_days" ADD CONSTRAINT "changed_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "daily_activity" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" integer DEFAULT 0 NOT NULL,
	"commits" integer DEFAULT 0 NOT NULL,
	"closed_issues" integer DEFAULT 0 NOT NULL,
	"commits_uploaded" boolean,
	"closed_issues_uploaded" boolean,
	"hours" smallint[],
	"timezone" text,
	CONSTRAINT "daily_activity_workspace_id_user_id_day_repo_key_pk" PRIMARY KEY("workspace_id","user_id","day","repo_key")
);--> statement-breakpoint
ALTER TABLE "daily_activity" ADD CONSTRAINT "daily_activity_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "daily_activity_of_day" ON "daily_activity" USING btree ("workspace_id","day","user_id","repo_key");--> statement-breakpoint
CREATE INDEX "daily_activity_of_repo" ON "daily_activity" USING btree ("workspace_id","repo_key","day");--> statement-breakpoint
CREATE TABLE "agent_activity" (
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	"minutes" integer NOT NULL,
	"hours" smallint[],
	"timezone" text,
	CONSTRAINT "agent_activity_user_id_workspace_id_day_repo_key_pk" PRIMARY KEY("user_id","workspace_id","day","repo_key")
);--> statement-breakpoint
ALTER TABLE "agent_activity" ADD CONSTRAINT "agent_activity_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_activity_of_workspace" ON "agent_activity" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "agent_activity_by_age" ON "agent_activity" USING btree ("day") WHERE "agent_activity"."hours" is not null;--> statement-breakpoint
CREATE TABLE "own_activity" (
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	"minutes" integer NOT NULL,
	"hours" smallint[],
	"timezone" text,
	CONSTRAINT "own_activity_user_id_day_repo_key_pk" PRIMARY KEY("user_id","day","repo_key")
);--> statement-breakpoint
CREATE INDEX "own_activity_by_age" ON "own_activity" USING btree ("day") WHERE "own_activity"."hours" is not null;--> statement-breakpoint
CREATE TABLE "member_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	CONSTRAINT "member_days_workspace_id_day_user_id_pk" PRIMARY KEY("workspace_id","day","user_id")
);--> statement-breakpoint
ALTER TABLE "member_days" ADD CONSTRAINT "member_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "member_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_day_bits" integer NOT NULL,
	CONSTRAINT "member_months_workspace_id_month_user_id_pk" PRIMARY KEY("workspace_id","month","user_id")
);--> statement-breakpoint
ALTER TABLE "member_months" ADD CONSTRAINT "member_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "repo_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_members" integer NOT NULL,
	"people_with_hours" integer NOT NULL,
	"hours" integer[],
	CONSTRAINT "repo_days_workspace_id_day_repo_key_pk" PRIMARY KEY("workspace_id","day","repo_key")
);--> statement-breakpoint
ALTER TABLE "repo_days" ADD CONSTRAINT "repo_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "repo_days_with_hours" ON "repo_days" USING btree ("day") WHERE "repo_days"."hours" is not null;--> statement-breakpoint
CREATE TABLE "repo_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	CONSTRAINT "repo_months_workspace_id_month_repo_key_pk" PRIMARY KEY("workspace_id","month","repo_key")
);--> statement-breakpoint
ALTER TABLE "repo_months" ADD CONSTRAINT "repo_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "repo_people" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"day_bits" integer NOT NULL,
	"active_day_bits" integer NOT NULL,
	"week_minutes" integer[] NOT NULL,
	CONSTRAINT "repo_people_workspace_id_month_repo_key_user_id_pk" PRIMARY KEY("workspace_id","month","repo_key","user_id")
);--> statement-breakpoint
ALTER TABLE "repo_people" ADD CONSTRAINT "repo_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "workspace_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_members" integer NOT NULL,
	"people_with_hours" integer NOT NULL,
	CONSTRAINT "workspace_days_workspace_id_day_pk" PRIMARY KEY("workspace_id","day")
);--> statement-breakpoint
ALTER TABLE "workspace_days" ADD CONSTRAINT "workspace_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE TABLE "workspace_hours" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"weekday" smallint NOT NULL,
	"hour" smallint NOT NULL,
	"minutes" bigint NOT NULL,
	CONSTRAINT "workspace_hours_workspace_id_day_weekday_hour_pk" PRIMARY KEY("workspace_id","day","weekday","hour")
);--> statement-breakpoint
ALTER TABLE "workspace_hours" ADD CONSTRAINT "workspace_hours_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "workspace_hours_by_age" ON "workspace_hours" USING btree ("day");--> statement-breakpoint
-- A row that finds room in its own page when it changes needs no new entry in any index.
ALTER TABLE "daily_activity" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "own_activity" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "member_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "member_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "repo_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "repo_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "repo_people" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
-- Its rows live for an hour, and every dashboard reads it.
ALTER TABLE "changed_days" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);--> statement-breakpoint
-- step: lock heartbeat_hours
ALTER TABLE "heartbeat_hours" ADD COLUMN "first_times" smallint[], ADD COLUMN "local_hour" integer, ADD COLUMN "agent_first_times" smallint[];--> statement-breakpoint
-- step: lock activity
ALTER TABLE "activity" ADD COLUMN "copied_minutes" integer DEFAULT 0 NOT NULL, ADD COLUMN "copied_commits" integer DEFAULT 0 NOT NULL, ADD COLUMN "copied_closed_issues" integer DEFAULT 0 NOT NULL, ADD COLUMN "copied_hours" smallint[];--> statement-breakpoint
-- step: lock agent_minutes
ALTER TABLE "agent_minutes" ADD COLUMN "copied_minutes" integer DEFAULT 0 NOT NULL, ADD COLUMN "copied_hours" smallint[];--> statement-breakpoint
-- step: concurrently activity
DROP INDEX CONCURRENTLY IF EXISTS "activity_to_copy";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "activity_to_copy" ON "activity" USING btree ("workspace_id","user_id","day","repo_key") WHERE minutes <> copied_minutes or commits <> copied_commits or closed_issues <> copied_closed_issues;--> statement-breakpoint
-- step: concurrently agent_minutes
DROP INDEX CONCURRENTLY IF EXISTS "agent_minutes_to_copy";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "agent_minutes_to_copy" ON "agent_minutes" USING btree ("user_id","workspace_id","day","repo_key") WHERE minutes <> copied_minutes;--> statement-breakpoint
-- step: lock published_weeks
-- Older weeks by UTC days stay.
ALTER TABLE "published_weeks" ADD CONSTRAINT "published_weeks_by_local_day" CHECK (by_local_day is not null) NOT VALID;--> statement-breakpoint
-- step: lock workspaces users activity_repos
DROP VIEW "public"."report_hours";--> statement-breakpoint
DROP VIEW "public"."report_member_days";--> statement-breakpoint
DROP VIEW "public"."report_repo_days";--> statement-breakpoint
CREATE VIEW "public"."report_hours" AS (
  select h.workspace_id, w.name as workspace, h.day, h.weekday, h.hour, h.minutes
  from workspace_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null);--> statement-breakpoint
CREATE VIEW "public"."report_member_days" AS (
  select a.workspace_id, w.name as workspace, a.day, u.login,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
  from daily_activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, u.login);--> statement-breakpoint
CREATE VIEW "public"."report_repo_days" AS (
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where a.user_id <> '00000000-0000-0000-0000-000000000000') as members
  from daily_activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key));--> statement-breakpoint
-- step: lock activity_other_zones
DROP TABLE "activity_other_zones";--> statement-breakpoint
-- step: lock stale_local_days
DROP TABLE "stale_local_days";--> statement-breakpoint
-- step: concurrently activity_days
DROP INDEX CONCURRENTLY IF EXISTS "activity_days_not_by_local_day";
