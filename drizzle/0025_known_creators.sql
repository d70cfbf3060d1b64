UPDATE "workspaces" SET "created_by" = "personal_of" WHERE "personal_of" IS NOT NULL AND "created_by" IS NULL;--> statement-breakpoint
UPDATE "workspaces" SET "created_by" = v."created_by" FROM "workspace_settings_versions" v
WHERE v."workspace_id" = "workspaces"."id" AND v."version" = 1 AND "workspaces"."created_by" IS NULL AND v."created_by" IS NOT NULL;
