CREATE TABLE "repository_host" (
	"id" integer PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"url" text NOT NULL,
	"recorded_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"delivery_id" text,
	"at" timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"event" text NOT NULL,
	"repo" text,
	"status" smallint NOT NULL,
	"counted" integer NOT NULL,
	"skipped" integer NOT NULL,
	CONSTRAINT "deliveries_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "reported_commits" (
	"workspace_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"hash" text NOT NULL,
	"day" date NOT NULL,
	CONSTRAINT "reported_commits_workspace_id_repo_key_hash_pk" PRIMARY KEY("workspace_id","repo_key","hash")
);
--> statement-breakpoint
CREATE TABLE "reported_issues" (
	"workspace_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"number" bigint NOT NULL,
	"day" date NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"closed" boolean NOT NULL,
	"user_id" uuid,
	CONSTRAINT "reported_issues_workspace_id_repo_key_number_day_pk" PRIMARY KEY("workspace_id","repo_key","number","day")
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"replaced_at" timestamp(3) with time zone[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_id_unique" UNIQUE("id")
);
--> statement-breakpoint
ALTER TABLE "activity" ADD COLUMN "commits_uploaded" boolean;--> statement-breakpoint
ALTER TABLE "activity" ADD COLUMN "closed_issues_uploaded" boolean;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reported_commits" ADD CONSTRAINT "reported_commits_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reported_issues" ADD CONSTRAINT "reported_issues_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deliveries_by_age" ON "deliveries" USING btree ("at");--> statement-breakpoint
CREATE INDEX "reported_commits_by_age" ON "reported_commits" USING btree ("day");--> statement-breakpoint
CREATE INDEX "reported_issues_by_age" ON "reported_issues" USING btree ("day");--> statement-breakpoint
CREATE INDEX "reported_issues_of_user" ON "reported_issues" USING btree ("user_id");