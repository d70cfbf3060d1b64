-- step: lock
CREATE TABLE "personal_minutes" (
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	"minutes" integer NOT NULL,
	"marks" bit(1440),
	"timezone" text,
	"minutes_before" integer DEFAULT 0 NOT NULL,
	"minutes_after" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "personal_minutes_user_id_day_repo_key_pk" PRIMARY KEY("user_id","day","repo_key")
);
--> statement-breakpoint
CREATE INDEX "personal_minutes_by_age" ON "personal_minutes" USING btree ("day") WHERE "personal_minutes"."marks" is not null;--> statement-breakpoint
-- step: lock imports
ALTER TABLE "imports" ADD COLUMN "own_minutes" integer DEFAULT 0 NOT NULL;
