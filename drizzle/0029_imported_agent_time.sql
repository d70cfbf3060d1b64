ALTER TABLE "import_days" ADD COLUMN "agent_projects" text[];--> statement-breakpoint
ALTER TABLE "import_days" ADD COLUMN "agent_marks" bit(1440)[];