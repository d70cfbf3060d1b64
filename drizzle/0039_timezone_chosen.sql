-- step: lock users
ALTER TABLE "users" ADD COLUMN "timezone_chosen" boolean DEFAULT false NOT NULL;