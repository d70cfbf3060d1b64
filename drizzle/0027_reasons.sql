ALTER TABLE "override_versions" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "overrides" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "snapshot_versions" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "workspace_settings_versions" ADD COLUMN "reason" text;