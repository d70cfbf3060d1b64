CREATE TABLE "activity" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" smallint DEFAULT 0 NOT NULL,
	"commits" smallint DEFAULT 0 NOT NULL,
	"closed_issues" smallint DEFAULT 0 NOT NULL,
	"hours" "bytea",
	CONSTRAINT "activity_workspace_id_user_id_day_repo_key_pk" PRIMARY KEY("workspace_id","user_id","day","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"minutes" integer NOT NULL,
	"commits" integer NOT NULL,
	"closed_issues" integer NOT NULL,
	"active_members" integer NOT NULL,
	"active" bit varying NOT NULL,
	CONSTRAINT "activity_days_workspace_id_day_pk" PRIMARY KEY("workspace_id","day")
);
--> statement-breakpoint
CREATE TABLE "activity_member_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" integer NOT NULL,
	"commits" integer NOT NULL,
	"closed_issues" integer NOT NULL,
	CONSTRAINT "activity_member_days_workspace_id_day_user_id_pk" PRIMARY KEY("workspace_id","day","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_member_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" integer NOT NULL,
	"commits" integer NOT NULL,
	"closed_issues" integer NOT NULL,
	"active_days" integer NOT NULL,
	"last_active_day" date,
	CONSTRAINT "activity_member_months_workspace_id_month_user_id_pk" PRIMARY KEY("workspace_id","month","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_people" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	CONSTRAINT "activity_people_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id"),
	CONSTRAINT "activity_people_ordinal" UNIQUE("workspace_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" integer NOT NULL,
	"commits" integer NOT NULL,
	"closed_issues" integer NOT NULL,
	"people" bit varying NOT NULL,
	CONSTRAINT "activity_repo_days_workspace_id_day_repo_key_pk" PRIMARY KEY("workspace_id","day","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"minutes" integer NOT NULL,
	"commits" integer NOT NULL,
	"closed_issues" integer NOT NULL,
	"people" bit varying NOT NULL,
	CONSTRAINT "activity_repo_months_workspace_id_month_repo_key_pk" PRIMARY KEY("workspace_id","month","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_repos" (
	"workspace_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"repo" text NOT NULL,
	CONSTRAINT "activity_repos_workspace_id_repo_key_pk" PRIMARY KEY("workspace_id","repo_key")
);
--> statement-breakpoint
CREATE TABLE "activity_zone_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"timezone" text NOT NULL,
	"hours" integer[] NOT NULL,
	CONSTRAINT "activity_zone_days_workspace_id_day_timezone_pk" PRIMARY KEY("workspace_id","day","timezone")
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
	CONSTRAINT "audit_entries_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
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
CREATE TABLE "flushes" (
	"user_id" uuid NOT NULL,
	"flush_id" text NOT NULL,
	"body_hash" text NOT NULL,
	"answer" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "flushes_user_id_flush_id_pk" PRIMARY KEY("user_id","flush_id")
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
CREATE TABLE "oauth_states" (
	"state_hash" text PRIMARY KEY NOT NULL,
	"return_to" text NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
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
	CONSTRAINT "overrides_owner_key_repo_key_workspace_id_pk" PRIMARY KEY("owner_key","repo_key","workspace_id"),
	CONSTRAINT "overrides_of_workspace" UNIQUE("workspace_id","owner_key","repo_key")
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
CREATE TABLE "revocations" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"jti" uuid,
	"user_id" uuid,
	"generation" integer,
	"revoked_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL
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
CREATE TABLE "stale_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	CONSTRAINT "stale_days_workspace_id_day_id_pk" PRIMARY KEY("workspace_id","day","id")
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
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repohost_id" bigint NOT NULL,
	"login" text NOT NULL,
	"login_key" text NOT NULL,
	"avatar_url" text NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"timezone" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_repohost_id_unique" UNIQUE("repohost_id"),
	CONSTRAINT "users_login_key_unique" UNIQUE("login_key")
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
	CONSTRAINT "workspaces_personal_of_unique" UNIQUE("personal_of")
);
--> statement-breakpoint
ALTER TABLE "activity" ADD CONSTRAINT "activity_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_days" ADD CONSTRAINT "activity_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_days" ADD CONSTRAINT "activity_member_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_months" ADD CONSTRAINT "activity_member_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_people" ADD CONSTRAINT "activity_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_days" ADD CONSTRAINT "activity_repo_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_months" ADD CONSTRAINT "activity_repo_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repos" ADD CONSTRAINT "activity_repos_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_zone_days" ADD CONSTRAINT "activity_zone_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "billing_customers" ADD CONSTRAINT "billing_customers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "funnel_days" ADD CONSTRAINT "funnel_days_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "funnel_users" ADD CONSTRAINT "funnel_users_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_updated_by_users_id_fk" FOREIGN KEY ("updated_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patterns" ADD CONSTRAINT "patterns_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_versions" ADD CONSTRAINT "snapshot_versions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_versions" ADD CONSTRAINT "snapshot_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_updated_by_users_id_fk" FOREIGN KEY ("updated_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stale_days" ADD CONSTRAINT "stale_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_personal_of_users_id_fk" FOREIGN KEY ("personal_of") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_of_day" ON "activity" USING btree ("workspace_id","day","repo_key");--> statement-breakpoint
CREATE INDEX "activity_people_of_user" ON "activity_people" USING btree ("user_id","workspace_id");--> statement-breakpoint
CREATE INDEX "activity_zone_days_by_age" ON "activity_zone_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "audit_entries_of_workspace" ON "audit_entries" USING btree ("workspace_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_by_age" ON "audit_entries" USING btree ("at");--> statement-breakpoint
CREATE INDEX "billing_customers_of_user" ON "billing_customers" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "flushes_by_age" ON "flushes" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "funnel_days_by_day" ON "funnel_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "invites_of_workspace" ON "invites" USING btree ("workspace_id","created_at");--> statement-breakpoint
CREATE INDEX "members_of_user" ON "members" USING btree ("user_id","workspace_id","role");--> statement-breakpoint
CREATE INDEX "members_by_joined_at" ON "members" USING btree ("workspace_id","joined_at","user_id");--> statement-breakpoint
CREATE INDEX "patterns_by_owner" ON "patterns" USING btree ("owner_key","workspace_id");--> statement-breakpoint
CREATE INDEX "revocations_revoked_at" ON "revocations" USING btree ("revoked_at");--> statement-breakpoint
CREATE INDEX "revocations_expires_at" ON "revocations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "snapshot_versions_of_workspace" ON "snapshot_versions" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "snapshots_of_workspace" ON "snapshots" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "subscriptions_of_customer" ON "subscriptions" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "workspaces_deleted" ON "workspaces" USING btree ("deleted_at") WHERE "workspaces"."deleted_at" is not null;