-- step: lock agent_minutes
ALTER TABLE "agent_minutes" ADD COLUMN "other_zones" jsonb;--> statement-breakpoint
-- step: lock personal_minutes
ALTER TABLE "personal_minutes" ADD COLUMN "other_zones" jsonb;