-- Rollups are made again from the activity in their new form; until then dashboards read the activity itself.
INSERT INTO "stale_days" ("workspace_id", "day") SELECT DISTINCT "workspace_id", "day" FROM "activity";--> statement-breakpoint
TRUNCATE "activity_days", "activity_repo_days", "activity_repo_months";--> statement-breakpoint
CREATE TABLE "activity_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active" bit varying NOT NULL,
	"members" "bytea" NOT NULL,
	"cells" "bytea" NOT NULL,
	CONSTRAINT "activity_months_workspace_id_month_pk" PRIMARY KEY("workspace_id","month")
);
--> statement-breakpoint
DROP TABLE "activity_member_days";--> statement-breakpoint
DROP TABLE "activity_member_months";--> statement-breakpoint
DROP TABLE "activity_zone_days";--> statement-breakpoint
DROP INDEX "activity_of_day";--> statement-breakpoint
ALTER TABLE "activity_days" ALTER COLUMN "minutes" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_days" ALTER COLUMN "commits" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_days" ALTER COLUMN "closed_issues" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ALTER COLUMN "minutes" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ALTER COLUMN "commits" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ALTER COLUMN "closed_issues" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_months" ALTER COLUMN "minutes" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_months" ALTER COLUMN "commits" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_months" ALTER COLUMN "closed_issues" SET DATA TYPE bigint;--> statement-breakpoint
ALTER TABLE "activity_days" ADD COLUMN "members" "bytea" NOT NULL;--> statement-breakpoint
ALTER TABLE "activity_days" ADD COLUMN "hours" "bytea";--> statement-breakpoint
ALTER TABLE "activity_months" ADD CONSTRAINT "activity_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_days_with_hours" ON "activity_days" USING btree ("day") WHERE "activity_days"."hours" is not null;--> statement-breakpoint
CREATE INDEX "billing_events_by_age" ON "billing_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "oauth_states_by_age" ON "oauth_states" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "activity_of_day" ON "activity" USING btree ("workspace_id","day","user_id","repo_key");