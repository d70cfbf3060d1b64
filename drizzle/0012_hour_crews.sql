ALTER TABLE "activity_days" ADD COLUMN "hour_crews" jsonb;--> statement-breakpoint
-- The rollups of days with hours are made again, because they do not say yet whose hours they hold.
INSERT INTO "stale_days" ("workspace_id", "day") SELECT DISTINCT "workspace_id", "day" FROM "activity_hours";
