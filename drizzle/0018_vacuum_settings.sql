-- By default, a table is vacuumed and analysed once a fifth of it has changed, which takes weeks for a table that keeps years.
ALTER TABLE "activity" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "flushes" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
-- A pass of rollups deletes and inserts the rows of a month.
ALTER TABLE "activity_member_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_member_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_people" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
-- Its rows live for an hour, and every dashboard reads it.
ALTER TABLE "stale_days" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);
