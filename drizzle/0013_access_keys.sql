CREATE TABLE "access_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid,
	"workspace_id" uuid,
	"created_by" uuid NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"last_used_day" date,
	CONSTRAINT "access_keys_owner" CHECK (("access_keys"."user_id" is null) <> ("access_keys"."workspace_id" is null))
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	CONSTRAINT "key_secrets_key_id_unique" UNIQUE("key_id")
);
--> statement-breakpoint
ALTER TABLE "overrides" ADD COLUMN "updated_by_key" text;--> statement-breakpoint
ALTER TABLE "access_keys" ADD CONSTRAINT "access_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_keys" ADD CONSTRAINT "access_keys_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_keys_of_user" ON "access_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "access_keys_of_workspace" ON "access_keys" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "access_keys_by_creator" ON "access_keys" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "key_secrets_by_end" ON "key_secrets" USING btree ((least(expires_at, revoked_at)));