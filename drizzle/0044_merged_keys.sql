-- step: lock workspace_settings_versions
ALTER TABLE "workspace_settings_versions" ADD COLUMN "merged" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
-- step: lock workspaces
ALTER TABLE "workspaces" ADD COLUMN "merged" text DEFAULT '[]' NOT NULL;