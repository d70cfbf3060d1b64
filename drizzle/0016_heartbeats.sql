CREATE TABLE "editor_projects" (
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"repo" text,
	"ignored" boolean DEFAULT false NOT NULL,
	"automatic" boolean DEFAULT false NOT NULL,
	"last_at" timestamp(3) with time zone,
	"seen_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "editor_projects_user_id_name_pk" PRIMARY KEY("user_id","name")
);
--> statement-breakpoint
CREATE TABLE "heartbeat_hours" (
	"user_id" uuid NOT NULL,
	"hour" integer NOT NULL,
	"projects" text[] NOT NULL,
	"marks" bit(60)[] NOT NULL,
	"leaves" bit(60)[],
	"counted_in" uuid[] NOT NULL,
	"counted" bit(60)[] NOT NULL,
	CONSTRAINT "heartbeat_hours_user_id_hour_pk" PRIMARY KEY("user_id","hour")
);
--> statement-breakpoint
CREATE TABLE "heartbeat_people" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"last_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "import_days" (
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"projects" text[] NOT NULL,
	"marks" bit(1440)[] NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "import_days_user_id_day_pk" PRIMARY KEY("user_id","day")
);
--> statement-breakpoint
CREATE TABLE "imported_minutes" (
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" integer NOT NULL,
	CONSTRAINT "imported_minutes_user_id_workspace_id_day_repo_key_pk" PRIMARY KEY("user_id","workspace_id","day","repo_key")
);
--> statement-breakpoint
CREATE TABLE "imports" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"heartbeats" integer NOT NULL,
	"days" integer NOT NULL,
	"days_done" integer DEFAULT 0 NOT NULL,
	"minutes" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "imported_minutes" ADD CONSTRAINT "imported_minutes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "editor_projects_by_age" ON "editor_projects" USING btree ("seen_at") WHERE "editor_projects"."repo" is null and not "editor_projects"."ignored";--> statement-breakpoint
CREATE INDEX "heartbeat_hours_by_age" ON "heartbeat_hours" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "import_days_by_age" ON "import_days" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "imported_minutes_of_workspace" ON "imported_minutes" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "imports_running" ON "imports" USING btree ("created_at") WHERE "imports"."state" = 'running';--> statement-breakpoint
CREATE INDEX "imports_by_age" ON "imports" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "overrides_by_name" ON "overrides" USING btree ("workspace_id","repo_key");--> statement-breakpoint
CREATE INDEX "snapshots_by_name" ON "snapshots" USING btree ("workspace_id","repo_key");--> statement-breakpoint
-- A row that finds room in its own page when it changes needs no new entry in any index.
ALTER TABLE "heartbeat_hours" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "heartbeat_people" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "editor_projects" SET (fillfactor = 70);
