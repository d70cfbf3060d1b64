-- step: lock
CREATE TABLE "reported_renames" (
	"workspace_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reported_renames_workspace_id_hash_pk" PRIMARY KEY("workspace_id","hash")
);
--> statement-breakpoint
CREATE INDEX "reported_renames_by_age" ON "reported_renames" USING btree ("at");--> statement-breakpoint
-- step: lock workspaces
ALTER TABLE "reported_renames" ADD CONSTRAINT "reported_renames_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;
