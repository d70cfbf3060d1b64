CREATE TABLE "removals" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"removed_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "removals_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "removals" ADD CONSTRAINT "removals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "removals" ADD CONSTRAINT "removals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
-- Invites of people who were demoted, removed or have left, from before these revoked them.
UPDATE "invites" SET "revoked_at" = now() WHERE "revoked_at" IS NULL AND NOT EXISTS (
	SELECT FROM "members" WHERE "members"."workspace_id" = "invites"."workspace_id" AND "members"."user_id" = "invites"."created_by" AND "members"."role" = 'admin'
);
