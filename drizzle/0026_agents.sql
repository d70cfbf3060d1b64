CREATE TABLE "agent_minutes" (
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	"minutes" integer NOT NULL,
	"hours" smallint[],
	CONSTRAINT "agent_minutes_user_id_workspace_id_day_repo_key_pk" PRIMARY KEY("user_id","workspace_id","day","repo_key")
);
--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "last_times" smallint[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "counted_repos" text[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "counted_for" bit(60)[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "agent_projects" text[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "agent_marks" bit(60)[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "agent_leaves" bit(60)[];--> statement-breakpoint
ALTER TABLE "heartbeat_hours" ADD COLUMN "agent_last_times" smallint[];--> statement-breakpoint
ALTER TABLE "agent_minutes" ADD CONSTRAINT "agent_minutes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_minutes_of_workspace" ON "agent_minutes" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "agent_minutes_by_age" ON "agent_minutes" USING btree ("day") WHERE "agent_minutes"."hours" is not null;