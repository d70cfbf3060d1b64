-- step: lock imports
ALTER TABLE "imports" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "skipped_future" integer DEFAULT 0 NOT NULL;