-- step: lock reported_issues
ALTER TABLE "reported_issues" ADD COLUMN "counted_in" text;--> statement-breakpoint
-- step: concurrently reported_commits
DROP INDEX CONCURRENTLY IF EXISTS "reported_commits_by_hash";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "reported_commits_by_hash" ON "reported_commits" USING btree ("workspace_id","hash");
