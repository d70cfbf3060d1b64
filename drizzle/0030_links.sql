-- step: lock organizations
ALTER TABLE "organizations" ADD COLUMN "confirmed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "denied_at" timestamp(3) with time zone;