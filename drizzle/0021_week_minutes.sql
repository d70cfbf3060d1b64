ALTER TABLE "activity_repo_people" ADD COLUMN "week_minutes" integer[];--> statement-breakpoint
-- Their rollups are made again, with the new column.
UPDATE "activity_days" SET "by_repo" = null WHERE "by_repo";
