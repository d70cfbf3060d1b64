-- step: lock deliveries
ALTER TABLE "deliveries" ADD COLUMN "skipped_commits" jsonb;--> statement-breakpoint
-- step: concurrently deliveries
DROP INDEX CONCURRENTLY IF EXISTS "deliveries_by_skipped";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "deliveries_by_skipped" ON "deliveries" USING gin ("skipped_commits" jsonb_path_ops);