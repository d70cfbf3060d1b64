-- step: lock workspaces
CREATE TABLE "changed_month_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	CONSTRAINT "changed_month_days_workspace_id_day_pk" PRIMARY KEY("workspace_id","day")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"job" text NOT NULL,
	"unit" text NOT NULL,
	"failures" integer NOT NULL,
	"next_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "attempts_job_unit_pk" PRIMARY KEY("job","unit")
);
--> statement-breakpoint
ALTER TABLE "changed_month_days" ADD CONSTRAINT "changed_month_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attempts_by_age" ON "attempts" USING btree ("next_at");