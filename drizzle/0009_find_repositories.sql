-- An operator with many rows may have built it before, beside the running service.
CREATE INDEX IF NOT EXISTS "activity_of_repo" ON "activity" USING btree ("workspace_id","repo_key","day");--> statement-breakpoint
-- A row that finds room in its own page when it changes needs no new entry in any index. For pages from now on.
ALTER TABLE "activity" SET (fillfactor = 70);
