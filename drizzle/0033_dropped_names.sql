-- step: lock
CREATE TABLE "dropped_names" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"names" integer NOT NULL,
	"dropped_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "dropped_names_by_age" ON "dropped_names" USING btree ("dropped_at");--> statement-breakpoint
-- step: lock import_days
ALTER TABLE "import_days" ADD COLUMN "heartbeats" integer[];--> statement-breakpoint
ALTER TABLE "import_days" ADD COLUMN "agent_heartbeats" integer[];--> statement-breakpoint
-- step: lock imports
ALTER TABLE "imports" ADD COLUMN "skipped_time" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "skipped_project" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "skipped_recording_off" integer DEFAULT 0 NOT NULL;
