-- step: lock workspaces
CREATE TABLE "activity_other_zones" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"timezone" text NOT NULL,
	"hours" smallint[] NOT NULL,
	CONSTRAINT "activity_other_zones_pk" PRIMARY KEY("workspace_id","user_id","day","repo_key","timezone")
);
--> statement-breakpoint
ALTER TABLE "activity_other_zones" ADD CONSTRAINT "activity_other_zones_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- step: lock activity
ALTER TABLE "activity" ADD COLUMN "timezone" text, ADD COLUMN "minutes_before" integer DEFAULT 0 NOT NULL, ADD COLUMN "minutes_after" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- step: lock agent_minutes
ALTER TABLE "agent_minutes" ADD COLUMN "timezone" text, ADD COLUMN "minutes_before" integer DEFAULT 0 NOT NULL, ADD COLUMN "minutes_after" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- step: lock stale_days
ALTER TABLE "stale_days" ADD COLUMN "by_local_day" boolean;--> statement-breakpoint
-- step: lock activity_days
ALTER TABLE "activity_days" ADD COLUMN "hour_people" integer, ADD COLUMN "by_local_day" boolean;--> statement-breakpoint
-- step: lock activity_repo_days
ALTER TABLE "activity_repo_days" ADD COLUMN "hour_people" integer, ADD COLUMN "local_hours" integer[];--> statement-breakpoint
-- step: lock published_weeks
ALTER TABLE "published_weeks" ADD COLUMN "by_local_day" boolean;--> statement-breakpoint
-- step: concurrently activity_days
DROP INDEX CONCURRENTLY IF EXISTS "activity_days_not_by_local_day";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "activity_days_not_by_local_day" ON "activity_days" USING btree ("workspace_id","day") WHERE by_local_day is null;
