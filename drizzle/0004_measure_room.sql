DROP INDEX "snapshots_of_workspace";--> statement-breakpoint
ALTER TABLE "overrides" ADD COLUMN "size_bytes" integer GENERATED ALWAYS AS (octet_length("settings")) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "overrides_by_size" ON "overrides" USING btree ("workspace_id","size_bytes");--> statement-breakpoint
CREATE INDEX "snapshots_of_workspace" ON "snapshots" USING btree ("workspace_id","size_bytes");