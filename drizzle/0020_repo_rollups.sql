ALTER TABLE "activity_days" ADD COLUMN "by_repo" boolean;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD COLUMN "active_members" integer;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD COLUMN "timezones" text[];--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD COLUMN "hours" integer[];--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD COLUMN "crew_sizes" integer[];--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD COLUMN "crews" uuid[];--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD COLUMN "active_day_bits" integer;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD COLUMN "minutes" bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD COLUMN "commits" bigint;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD COLUMN "closed_issues" bigint;--> statement-breakpoint
ALTER TABLE "stale_days" ADD COLUMN "at" timestamp(3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "activity_days_not_by_repo" ON "activity_days" USING btree ("workspace_id","day") WHERE by_repo is null;