-- step: lock
CREATE TABLE "addresses" (
	"hmac" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"confirmed_day" date NOT NULL
);
--> statement-breakpoint
CREATE INDEX "addresses_of_user" ON "addresses" USING btree ("user_id");--> statement-breakpoint
-- step: lock users
ALTER TABLE "addresses" ADD CONSTRAINT "addresses_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- step: lock deliveries
ALTER TABLE "deliveries" ADD COLUMN "not_a_member" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "unknown_author" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "outside_patterns" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "not_delivered" integer;
