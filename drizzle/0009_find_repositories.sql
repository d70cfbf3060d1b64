-- An operator with many rows may have built it before, beside the running service.
CREATE INDEX IF NOT EXISTS "activity_of_repo" ON "activity" USING btree ("workspace_id","repo_key","day");