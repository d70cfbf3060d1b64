ALTER TABLE "users" ADD COLUMN "disabled_at" timestamp(3) with time zone;--> statement-breakpoint
CREATE INDEX "users_disabled" ON "users" USING btree ("id") WHERE "users"."disabled_at" is not null;