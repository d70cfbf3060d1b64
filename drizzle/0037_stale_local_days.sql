-- step: lock workspaces
CREATE TABLE "stale_local_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stale_local_days_workspace_id_day_id_pk" PRIMARY KEY("workspace_id","day","id")
);
--> statement-breakpoint
ALTER TABLE "stale_local_days" ADD CONSTRAINT "stale_local_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- step: lock stale_days
ALTER TABLE "stale_days" DROP COLUMN "by_local_day";