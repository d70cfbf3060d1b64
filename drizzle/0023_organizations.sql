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
ALTER TABLE "removals" ADD COLUMN "returns" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "removals" ADD COLUMN "reports" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_of_member" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."members"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_linked_by_users_id_fk" FOREIGN KEY ("linked_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "organization_members_of_user" ON "organization_members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "organizations_by_host_id" ON "organizations" USING btree ("host_id");--> statement-breakpoint
CREATE INDEX "organizations_by_linker" ON "organizations" USING btree ("linked_by");--> statement-breakpoint
-- At GitLab, `owner/**` now reaches into subgroups. What was stored before keeps its meaning, which was that of `owner/*`.
DO $$
BEGIN
  IF EXISTS (SELECT FROM repository_host WHERE kind = 'gitlab') THEN
    DELETE FROM patterns p USING patterns q
      WHERE p.repo_key = '**' AND q.repo_key = '*' AND q.workspace_id = p.workspace_id AND q.owner_key = p.owner_key;
    UPDATE patterns SET repo_key = '*', pattern = left(pattern, -1) WHERE repo_key = '**';
    UPDATE recordings SET repos_off = array(
      SELECT regexp_replace(o.pattern, '/\*\*$', '/*') FROM unnest(repos_off) WITH ORDINALITY AS o (pattern, place) ORDER BY o.place
    ) WHERE '/' || array_to_string(repos_off, '/') || '/' LIKE '%/**/%';
  END IF;
END $$;
