-- The schema of version 1.0.0, which 30 migrations made. A database of 1.0.0 has it: this migration then counts as applied, because
-- it was made at the same moment as the last of them.
-- step: lock
CREATE TABLE "access_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid,
	"workspace_id" uuid,
	"created_by" uuid NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"last_used_day" date,
	CONSTRAINT "access_keys_owner" CHECK (("access_keys"."user_id" is null) <> ("access_keys"."workspace_id" is null))
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"login_key" text NOT NULL,
	"started_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	CONSTRAINT "key_secrets_key_id_unique" UNIQUE("key_id")
);
--> statement-breakpoint
CREATE TABLE "oauth_states" (
	"state_hash" text PRIMARY KEY NOT NULL,
	"return_to" text NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "person_repos" (
	"user_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"name" text NOT NULL,
	"repo" text NOT NULL,
	"seen_day" date NOT NULL,
	CONSTRAINT "person_repos_user_id_repo_key_pk" PRIMARY KEY("user_id","repo_key")
);
--> statement-breakpoint
CREATE TABLE "recordings" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"paused" boolean NOT NULL,
	"repos_off" text[] NOT NULL,
	"repos_off_like" text[] NOT NULL,
	"hours" jsonb
);
--> statement-breakpoint
CREATE TABLE "repository_host" (
	"id" integer PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"url" text NOT NULL,
	"recorded_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "revocations" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"jti" uuid,
	"user_id" uuid,
	"generation" integer,
	"revoked_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repohost_id" bigint,
	"login" text NOT NULL,
	"login_key" text NOT NULL,
	"avatar_url" text NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"timezone" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"disabled_at" timestamp(3) with time zone,
	CONSTRAINT "users_repohost_id_unique" UNIQUE("repohost_id"),
	CONSTRAINT "users_login_key_unique" UNIQUE("login_key")
);
--> statement-breakpoint
CREATE TABLE "billing_customers" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "billing_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"received_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" text PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"status" text NOT NULL,
	"event_created" bigint NOT NULL,
	"event_rank" smallint NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
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
	"created_by" uuid,
	CONSTRAINT "webhooks_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "dashboard_views" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"viewer_id" uuid NOT NULL,
	"member_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"from_day" date NOT NULL,
	"to_day" date NOT NULL,
	"exported" boolean NOT NULL,
	"viewed" datemultirange DEFAULT '{}' NOT NULL,
	"compared" datemultirange DEFAULT '{}' NOT NULL,
	"downloaded" datemultirange DEFAULT '{}' NOT NULL,
	CONSTRAINT "dashboard_views_pk" PRIMARY KEY("workspace_id","day","viewer_id","member_id","repo_key")
);
--> statement-breakpoint
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
	"last_times" smallint[],
	"counted_repos" text[],
	"counted_for" bit(60)[],
	"agent_projects" text[],
	"agent_marks" bit(60)[],
	"agent_leaves" bit(60)[],
	"agent_last_times" smallint[],
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
	"agent_projects" text[],
	"agent_marks" bit(1440)[],
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
CREATE TABLE "funnel_days" (
	"user_id" uuid NOT NULL,
	"event" text NOT NULL,
	"source" text NOT NULL,
	"first_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"events" integer DEFAULT 1 NOT NULL,
	"day" date NOT NULL,
	CONSTRAINT "funnel_days_user_id_event_source_day_pk" PRIMARY KEY("user_id","event","source","day")
);
--> statement-breakpoint
CREATE TABLE "funnel_users" (
	"user_id" uuid NOT NULL,
	"event" text NOT NULL,
	"source" text NOT NULL,
	"first_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"events" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "funnel_users_user_id_event_source_pk" PRIMARY KEY("user_id","event","source")
);
--> statement-breakpoint
CREATE TABLE "activity" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" integer DEFAULT 0 NOT NULL,
	"commits" integer DEFAULT 0 NOT NULL,
	"closed_issues" integer DEFAULT 0 NOT NULL,
	"hours" smallint[],
	"commits_uploaded" boolean,
	"closed_issues_uploaded" boolean,
	CONSTRAINT "activity_workspace_id_user_id_day_repo_key_pk" PRIMARY KEY("workspace_id","user_id","day","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_people" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "activity_people_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_repos" (
	"workspace_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	CONSTRAINT "activity_repos_workspace_id_repo_key_pk" PRIMARY KEY("workspace_id","repo_key")
);
--> statement-breakpoint
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
CREATE TABLE "flushes" (
	"user_id" uuid NOT NULL,
	"flush_id" text NOT NULL,
	"body_hash" text NOT NULL,
	"answer" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "flushes_user_id_flush_id_pk" PRIMARY KEY("user_id","flush_id")
);
--> statement-breakpoint
CREATE TABLE "stale_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stale_days_workspace_id_day_id_pk" PRIMARY KEY("workspace_id","day","id")
);
--> statement-breakpoint
CREATE TABLE "activity_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_members" integer NOT NULL,
	"hour_crews" jsonb,
	"by_repo" boolean,
	CONSTRAINT "activity_days_workspace_id_day_pk" PRIMARY KEY("workspace_id","day")
);
--> statement-breakpoint
CREATE TABLE "activity_hours" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"weekday" smallint NOT NULL,
	"hour" smallint NOT NULL,
	"minutes" bigint NOT NULL,
	CONSTRAINT "activity_hours_workspace_id_day_weekday_hour_pk" PRIMARY KEY("workspace_id","day","weekday","hour")
);
--> statement-breakpoint
CREATE TABLE "activity_member_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	CONSTRAINT "activity_member_days_workspace_id_day_user_id_pk" PRIMARY KEY("workspace_id","day","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_member_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_day_bits" integer NOT NULL,
	CONSTRAINT "activity_member_months_workspace_id_month_user_id_pk" PRIMARY KEY("workspace_id","month","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_members" integer,
	"timezones" text[],
	"hours" integer[],
	"crew_sizes" integer[],
	"crews" uuid[],
	CONSTRAINT "activity_repo_days_workspace_id_day_repo_key_pk" PRIMARY KEY("workspace_id","day","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	CONSTRAINT "activity_repo_months_workspace_id_month_repo_key_pk" PRIMARY KEY("workspace_id","month","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_people" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"user_id" uuid NOT NULL,
	"day_bits" integer NOT NULL,
	"active_day_bits" integer,
	"minutes" bigint,
	"commits" bigint,
	"closed_issues" bigint,
	"week_minutes" integer[],
	CONSTRAINT "activity_repo_people_workspace_id_month_repo_key_user_id_pk" PRIMARY KEY("workspace_id","month","repo_key","user_id")
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
CREATE TABLE "override_versions" (
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"workspace_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"settings" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"created_by" uuid NOT NULL,
	"created_by_key" text,
	"reason" text,
	CONSTRAINT "override_versions_owner_key_repo_key_workspace_id_version_pk" PRIMARY KEY("owner_key","repo_key","workspace_id","version")
);
--> statement-breakpoint
CREATE TABLE "overrides" (
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"workspace_id" uuid NOT NULL,
	"revision" uuid NOT NULL,
	"owner" text NOT NULL,
	"repo" text NOT NULL,
	"settings" text NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_by" uuid NOT NULL,
	"size_bytes" integer GENERATED ALWAYS AS (octet_length("settings")) STORED NOT NULL,
	"updated_by_key" text,
	"version" integer DEFAULT 1 NOT NULL,
	"reason" text,
	CONSTRAINT "overrides_owner_key_repo_key_workspace_id_pk" PRIMARY KEY("owner_key","repo_key","workspace_id"),
	CONSTRAINT "overrides_of_workspace" UNIQUE("workspace_id","owner_key","repo_key")
);
--> statement-breakpoint
CREATE TABLE "snapshot_versions" (
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"workspace_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"settings" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_by" uuid NOT NULL,
	"reason" text,
	CONSTRAINT "snapshot_versions_owner_key_repo_key_workspace_id_version_pk" PRIMARY KEY("owner_key","repo_key","workspace_id","version")
);
--> statement-breakpoint
CREATE TABLE "snapshots" (
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"owner" text NOT NULL,
	"repo" text NOT NULL,
	"version" integer NOT NULL,
	"settings" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_by" uuid NOT NULL,
	CONSTRAINT "snapshots_owner_key_repo_key_workspace_id_pk" PRIMARY KEY("owner_key","repo_key","workspace_id")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"target" text,
	"details" jsonb NOT NULL,
	"actor_id" uuid,
	"target_id" uuid,
	CONSTRAINT "audit_entries_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "invites" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"code" text NOT NULL,
	"code_key" text NOT NULL,
	"role" text NOT NULL,
	"max_uses" integer,
	"used_count" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	"created_by" uuid NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invites_code_key_unique" UNIQUE("code_key"),
	CONSTRAINT "invites_uses" CHECK ("invites"."max_uses" is null or "invites"."used_count" <= "invites"."max_uses")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"joined_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id"),
	CONSTRAINT "members_role" CHECK ("members"."role" in ('admin', 'member'))
);
--> statement-breakpoint
CREATE TABLE "organization_members" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"confirmed_at" timestamp(3) with time zone,
	"left_at" timestamp(3) with time zone,
	CONSTRAINT "organization_members_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"workspace_id" uuid NOT NULL,
	"host_id" bigint NOT NULL,
	"name" text NOT NULL,
	"joins" text NOT NULL,
	"leaves" text NOT NULL,
	"linked_by" uuid NOT NULL,
	"linked_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "organizations_workspace_id_pk" PRIMARY KEY("workspace_id")
);
--> statement-breakpoint
CREATE TABLE "patterns" (
	"workspace_id" uuid NOT NULL,
	"owner_key" text NOT NULL,
	"repo_key" text NOT NULL,
	"position" smallint NOT NULL,
	"pattern" text NOT NULL,
	"exact" boolean NOT NULL,
	"literal_length" smallint NOT NULL,
	"repo_like" text NOT NULL,
	CONSTRAINT "patterns_workspace_id_owner_key_repo_key_pk" PRIMARY KEY("workspace_id","owner_key","repo_key")
);
--> statement-breakpoint
CREATE TABLE "privacy_levels" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"since" timestamp(3) with time zone NOT NULL,
	"level" text NOT NULL,
	CONSTRAINT "privacy_levels_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "removals" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"removed_at" timestamp(3) with time zone NOT NULL,
	"returns" boolean DEFAULT false NOT NULL,
	"reports" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "removals_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "removed_people" (
	"workspace_id" uuid NOT NULL,
	"key_id" text NOT NULL,
	"person" text NOT NULL,
	"removed_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "removed_people_workspace_id_key_id_person_pk" PRIMARY KEY("workspace_id","key_id","person")
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
	"reason" text,
	CONSTRAINT "workspace_settings_versions_workspace_id_version_pk" PRIMARY KEY("workspace_id","version")
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"personal_of" uuid,
	"idle_window_minutes" smallint NOT NULL,
	"settings" text DEFAULT '{}' NOT NULL,
	"settings_version" integer DEFAULT 1 NOT NULL,
	"settings_updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp(3) with time zone,
	"activity_privacy" text DEFAULT 'named' NOT NULL,
	"activity_privacy_since" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"locked" text DEFAULT '[]' NOT NULL,
	"created_by" uuid,
	CONSTRAINT "workspaces_personal_of_unique" UNIQUE("personal_of"),
	CONSTRAINT "workspaces_activity_privacy" CHECK ("workspaces"."activity_privacy" in ('named', 'team'))
);
--> statement-breakpoint
CREATE TABLE "backups" (
	"made_at" timestamp(3) with time zone PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_keys" ADD CONSTRAINT "access_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_keys" ADD CONSTRAINT "access_keys_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recordings" ADD CONSTRAINT "recordings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "billing_customers" ADD CONSTRAINT "billing_customers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reported_commits" ADD CONSTRAINT "reported_commits_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reported_issues" ADD CONSTRAINT "reported_issues_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_views" ADD CONSTRAINT "dashboard_views_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imported_minutes" ADD CONSTRAINT "imported_minutes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "funnel_days" ADD CONSTRAINT "funnel_days_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "funnel_users" ADD CONSTRAINT "funnel_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity" ADD CONSTRAINT "activity_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_people" ADD CONSTRAINT "activity_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repos" ADD CONSTRAINT "activity_repos_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_minutes" ADD CONSTRAINT "agent_minutes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stale_days" ADD CONSTRAINT "stale_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_days" ADD CONSTRAINT "activity_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_hours" ADD CONSTRAINT "activity_hours_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_days" ADD CONSTRAINT "activity_member_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_months" ADD CONSTRAINT "activity_member_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD CONSTRAINT "activity_repo_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_months" ADD CONSTRAINT "activity_repo_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD CONSTRAINT "activity_repo_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_cells" ADD CONSTRAINT "published_cells_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_days" ADD CONSTRAINT "published_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_repos" ADD CONSTRAINT "published_repos_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "published_weeks" ADD CONSTRAINT "published_weeks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "override_versions" ADD CONSTRAINT "override_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "override_versions" ADD CONSTRAINT "override_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_updated_by_users_id_fk" FOREIGN KEY ("updated_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_versions" ADD CONSTRAINT "snapshot_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_versions" ADD CONSTRAINT "snapshot_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_updated_by_users_id_fk" FOREIGN KEY ("updated_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_of_member" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."members"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_linked_by_users_id_fk" FOREIGN KEY ("linked_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patterns" ADD CONSTRAINT "patterns_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "privacy_levels" ADD CONSTRAINT "privacy_levels_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "removals" ADD CONSTRAINT "removals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "removals" ADD CONSTRAINT "removals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "removed_people" ADD CONSTRAINT "removed_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_settings_versions" ADD CONSTRAINT "workspace_settings_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_settings_versions" ADD CONSTRAINT "workspace_settings_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_personal_of_users_id_fk" FOREIGN KEY ("personal_of") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_keys_of_user" ON "access_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "access_keys_of_workspace" ON "access_keys" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "access_keys_by_creator" ON "access_keys" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "key_secrets_by_end" ON "key_secrets" USING btree ((least(expires_at, revoked_at)));--> statement-breakpoint
CREATE INDEX "oauth_states_by_age" ON "oauth_states" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "person_repos_by_name" ON "person_repos" USING btree ("user_id","name");--> statement-breakpoint
CREATE INDEX "person_repos_by_age" ON "person_repos" USING btree ("seen_day");--> statement-breakpoint
CREATE INDEX "revocations_revoked_at" ON "revocations" USING btree ("revoked_at");--> statement-breakpoint
CREATE INDEX "revocations_expires_at" ON "revocations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "users_disabled" ON "users" USING btree ("id") WHERE "users"."disabled_at" is not null;--> statement-breakpoint
CREATE INDEX "billing_customers_of_user" ON "billing_customers" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "billing_events_by_age" ON "billing_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "subscriptions_of_customer" ON "subscriptions" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "deliveries_by_age" ON "deliveries" USING btree ("at");--> statement-breakpoint
CREATE INDEX "reported_commits_by_age" ON "reported_commits" USING btree ("day");--> statement-breakpoint
CREATE INDEX "reported_issues_by_age" ON "reported_issues" USING btree ("day");--> statement-breakpoint
CREATE INDEX "reported_issues_of_user" ON "reported_issues" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "webhooks_by_creator" ON "webhooks" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "dashboard_views_by_age" ON "dashboard_views" USING btree ("day");--> statement-breakpoint
CREATE INDEX "dashboard_views_by_viewer" ON "dashboard_views" USING btree ("viewer_id");--> statement-breakpoint
CREATE INDEX "dashboard_views_of_member" ON "dashboard_views" USING btree ("member_id");--> statement-breakpoint
CREATE INDEX "editor_projects_by_age" ON "editor_projects" USING btree ("seen_at") WHERE "editor_projects"."repo" is null and not "editor_projects"."ignored";--> statement-breakpoint
CREATE INDEX "heartbeat_hours_by_age" ON "heartbeat_hours" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "import_days_by_age" ON "import_days" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "imported_minutes_of_workspace" ON "imported_minutes" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "imports_running" ON "imports" USING btree ("created_at") WHERE "imports"."state" = 'running';--> statement-breakpoint
CREATE INDEX "imports_by_age" ON "imports" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "funnel_days_by_day" ON "funnel_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "activity_of_day" ON "activity" USING btree ("workspace_id","day","user_id","repo_key");--> statement-breakpoint
CREATE INDEX "activity_of_repo" ON "activity" USING btree ("workspace_id","repo_key","day");--> statement-breakpoint
CREATE INDEX "activity_people_of_user" ON "activity_people" USING btree ("user_id","workspace_id");--> statement-breakpoint
CREATE INDEX "agent_minutes_of_workspace" ON "agent_minutes" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "agent_minutes_by_age" ON "agent_minutes" USING btree ("day") WHERE "agent_minutes"."hours" is not null;--> statement-breakpoint
CREATE INDEX "flushes_by_age" ON "flushes" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "activity_days_not_by_repo" ON "activity_days" USING btree ("workspace_id","day") WHERE by_repo is null;--> statement-breakpoint
CREATE INDEX "activity_hours_by_age" ON "activity_hours" USING btree ("day");--> statement-breakpoint
CREATE INDEX "activity_repo_days_with_hours" ON "activity_repo_days" USING btree ("day") WHERE timezones is not null;--> statement-breakpoint
CREATE INDEX "override_versions_of_workspace" ON "override_versions" USING btree ("workspace_id","owner_key","repo_key","version");--> statement-breakpoint
CREATE INDEX "override_versions_by_author" ON "override_versions" USING btree ("created_by","owner_key","repo_key","workspace_id","version");--> statement-breakpoint
CREATE INDEX "overrides_by_size" ON "overrides" USING btree ("workspace_id","size_bytes");--> statement-breakpoint
CREATE INDEX "overrides_by_name" ON "overrides" USING btree ("workspace_id","repo_key");--> statement-breakpoint
CREATE INDEX "overrides_by_author" ON "overrides" USING btree ("updated_by");--> statement-breakpoint
CREATE INDEX "snapshot_versions_of_workspace" ON "snapshot_versions" USING btree ("workspace_id","owner_key","repo_key","version");--> statement-breakpoint
CREATE INDEX "snapshot_versions_by_author" ON "snapshot_versions" USING btree ("created_by","owner_key","repo_key","workspace_id","version");--> statement-breakpoint
CREATE INDEX "snapshots_of_workspace" ON "snapshots" USING btree ("workspace_id","size_bytes");--> statement-breakpoint
CREATE INDEX "snapshots_by_name" ON "snapshots" USING btree ("workspace_id","repo_key");--> statement-breakpoint
CREATE INDEX "snapshots_by_author" ON "snapshots" USING btree ("updated_by");--> statement-breakpoint
CREATE INDEX "audit_entries_of_workspace" ON "audit_entries" USING btree ("workspace_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_age" ON "audit_entries" USING btree ("at");--> statement-breakpoint
CREATE INDEX "audit_entries_by_actor" ON "audit_entries" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_target" ON "audit_entries" USING btree ("target_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_login" ON "audit_entries" USING btree (lower("actor"),"id") WHERE "audit_entries"."actor_id" is null;--> statement-breakpoint
CREATE INDEX "audit_entries_about_login" ON "audit_entries" USING btree (lower("target"),"id") WHERE "audit_entries"."target_id" is null and (action like 'member.%' or action = 'invites.revoked');--> statement-breakpoint
CREATE INDEX "invites_of_workspace" ON "invites" USING btree ("workspace_id","created_at");--> statement-breakpoint
CREATE INDEX "invites_by_author" ON "invites" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "members_of_user" ON "members" USING btree ("user_id","workspace_id","role");--> statement-breakpoint
CREATE INDEX "members_by_joined_at" ON "members" USING btree ("workspace_id","joined_at","user_id");--> statement-breakpoint
CREATE INDEX "organization_members_of_user" ON "organization_members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "organizations_by_host_id" ON "organizations" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "organizations_by_linker" ON "organizations" USING btree ("linked_by");--> statement-breakpoint
CREATE INDEX "patterns_by_owner" ON "patterns" USING btree ("owner_key","workspace_id");--> statement-breakpoint
CREATE INDEX "removals_of_user" ON "removals" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "workspace_settings_versions_by_author" ON "workspace_settings_versions" USING btree ("created_by","workspace_id","version");--> statement-breakpoint
CREATE INDEX "workspaces_by_creator" ON "workspaces" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "workspaces_deleted" ON "workspaces" USING btree ("deleted_at") WHERE "workspaces"."deleted_at" is not null;--> statement-breakpoint
CREATE VIEW "public"."report_hours" AS (
  select h.workspace_id, w.name as workspace, h.day, h.weekday, h.hour, h.minutes
  from activity_hours h
  join workspaces w on w.id = h.workspace_id and w.deleted_at is null);--> statement-breakpoint
CREATE VIEW "public"."report_member_days" AS (
  select a.workspace_id, w.name as workspace, a.day, u.login,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  join users u on u.id = a.user_id
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, u.login);--> statement-breakpoint
CREATE VIEW "public"."report_repo_days" AS (
  select a.workspace_id, w.name as workspace, a.day, coalesce(r.repo, a.repo_key) as repo,
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues,
    count(*) filter (where a.user_id <> '00000000-0000-0000-0000-000000000000') as members
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key));--> statement-breakpoint
-- A row that finds room in its own page when it changes needs no new entry in any index.
ALTER TABLE "heartbeat_hours" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "heartbeat_people" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "editor_projects" SET (fillfactor = 70);--> statement-breakpoint
-- By default, a table is vacuumed and analysed once a fifth of it has changed, which takes weeks for a table that keeps years.
ALTER TABLE "activity" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "flushes" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
-- A pass of rollups deletes and inserts the rows of a month.
ALTER TABLE "activity_member_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_member_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_days" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_months" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "activity_repo_people" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
-- Its rows live for an hour, and every dashboard reads it.
ALTER TABLE "stale_days" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);--> statement-breakpoint
INSERT INTO "users" ("id", "login", "login_key", "avatar_url") VALUES ('00000000-0000-0000-0000-000000000000', 'deleted user', 'deleted user', '');--> statement-breakpoint
-- Every version recognises its database by the moment of the first migration, 2026-11-21.
INSERT INTO "drizzle"."__drizzle_migrations" ("hash", "created_at") VALUES ('initial', 1795226417074);
