CREATE TABLE "privacy_levels" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"since" timestamp(3) with time zone NOT NULL,
	"level" text NOT NULL,
	CONSTRAINT "privacy_levels_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "published_cells" (
	"workspace_id" uuid NOT NULL,
	"week" date NOT NULL,
	"weekday" smallint NOT NULL,
	"hour" smallint NOT NULL,
	"minutes" bigint NOT NULL,
	CONSTRAINT "published_cells_workspace_id_week_weekday_hour_pk" PRIMARY KEY("workspace_id","week","weekday","hour")
);
--> statement-breakpoint
CREATE TABLE "published_days" (
	"workspace_id" uuid NOT NULL,
	"week" date NOT NULL,
	"day" date NOT NULL,
	"minutes" bigint,
	"commits" bigint,
	"closed_issues" bigint,
	"active_members" integer,
	CONSTRAINT "published_days_workspace_id_week_day_pk" PRIMARY KEY("workspace_id","week","day")
);
--> statement-breakpoint
CREATE TABLE "published_repos" (
	"workspace_id" uuid NOT NULL,
	"week" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" bigint,
	"commits" bigint,
	"closed_issues" bigint,
	"active_members" integer,
	"members" integer NOT NULL,
	CONSTRAINT "published_repos_workspace_id_week_repo_key_pk" PRIMARY KEY("workspace_id","week","repo_key")
);
--> statement-breakpoint
CREATE TABLE "published_weeks" (
	"workspace_id" uuid NOT NULL,
	"week" date NOT NULL,
	"min_group" smallint NOT NULL,
	"minutes" bigint,
	"commits" bigint,
	"closed_issues" bigint,
	"active_members" integer,
	"published_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "published_weeks_workspace_id_week_pk" PRIMARY KEY("workspace_id","week")
);
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "activity_privacy" text DEFAULT 'named' NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "activity_privacy_since" timestamp(3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "privacy_levels" ADD CONSTRAINT "privacy_levels_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_cells" ADD CONSTRAINT "published_cells_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_days" ADD CONSTRAINT "published_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_repos" ADD CONSTRAINT "published_repos_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_weeks" ADD CONSTRAINT "published_weeks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_activity_privacy" CHECK ("workspaces"."activity_privacy" in ('named', 'team'));--> statement-breakpoint
UPDATE "workspaces" SET "activity_privacy_since" = "created_at";--> statement-breakpoint
INSERT INTO "privacy_levels" ("workspace_id", "id", "since", "level") SELECT "id", gen_random_uuid(), "created_at", 'named' FROM "workspaces";
