CREATE TABLE "recordings" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"paused" boolean NOT NULL,
	"repos_off" text[] NOT NULL,
	"repos_off_like" text[] NOT NULL,
	"hours" jsonb
);
--> statement-breakpoint
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;