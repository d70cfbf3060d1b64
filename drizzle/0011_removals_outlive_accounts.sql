CREATE TABLE "removed_people" (
	"workspace_id" uuid NOT NULL,
	"key_id" text NOT NULL,
	"person" text NOT NULL,
	"removed_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "removed_people_workspace_id_key_id_person_pk" PRIMARY KEY("workspace_id","key_id","person")
);
--> statement-breakpoint
ALTER TABLE "removed_people" ADD CONSTRAINT "removed_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;