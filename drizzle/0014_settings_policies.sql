CREATE TABLE "override_versions" (
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"workspace_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"settings" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" uuid NOT NULL,
	"created_by_key" text,
	CONSTRAINT "override_versions_owner_key_repo_key_workspace_id_version_pk" PRIMARY KEY("owner_key","repo_key","workspace_id","version")
);
--> statement-breakpoint
CREATE TABLE "workspace_settings_versions" (
	"workspace_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"settings" text NOT NULL,
	"locked" text NOT NULL,
	"idle_window_minutes" smallint NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_by" uuid,
	"created_by_key" text,
	CONSTRAINT "workspace_settings_versions_workspace_id_version_pk" PRIMARY KEY("workspace_id","version")
);
--> statement-breakpoint
ALTER TABLE "overrides" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "locked" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "override_versions" ADD CONSTRAINT "override_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "override_versions" ADD CONSTRAINT "override_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_settings_versions" ADD CONSTRAINT "workspace_settings_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_settings_versions" ADD CONSTRAINT "workspace_settings_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "override_versions_of_workspace" ON "override_versions" USING btree ("workspace_id","owner_key","repo_key","version");--> statement-breakpoint
CREATE INDEX "override_versions_by_author" ON "override_versions" USING btree ("created_by","owner_key","repo_key","workspace_id","version");--> statement-breakpoint
CREATE INDEX "workspace_settings_versions_by_author" ON "workspace_settings_versions" USING btree ("created_by","workspace_id","version");