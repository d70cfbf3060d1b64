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
	"active_days" integer NOT NULL,
	CONSTRAINT "activity_member_months_workspace_id_month_user_id_pk" PRIMARY KEY("workspace_id","month","user_id")
);
--> statement-breakpoint
CREATE TABLE "activity_repo_people" (
	"workspace_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"user_id" uuid NOT NULL,
	"month" date NOT NULL,
	"days" integer NOT NULL,
	CONSTRAINT "activity_repo_people_workspace_id_repo_key_user_id_month_pk" PRIMARY KEY("workspace_id","repo_key","user_id","month")
);
--> statement-breakpoint
ALTER TABLE "activity_months" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "activity_months" CASCADE;--> statement-breakpoint
ALTER TABLE "activity_people" DROP CONSTRAINT "activity_people_ordinal";--> statement-breakpoint
DROP INDEX "activity_days_with_hours";--> statement-breakpoint
ALTER TABLE "activity" ALTER COLUMN "hours" SET DATA TYPE smallint[] USING CASE WHEN "hours" IS NOT NULL THEN array[get_byte("hours",0),get_byte("hours",1),get_byte("hours",2),get_byte("hours",3),get_byte("hours",4),get_byte("hours",5),get_byte("hours",6),get_byte("hours",7),get_byte("hours",8),get_byte("hours",9),get_byte("hours",10),get_byte("hours",11),get_byte("hours",12),get_byte("hours",13),get_byte("hours",14),get_byte("hours",15),get_byte("hours",16),get_byte("hours",17),get_byte("hours",18),get_byte("hours",19),get_byte("hours",20),get_byte("hours",21),get_byte("hours",22),get_byte("hours",23)]::smallint[] END;--> statement-breakpoint
ALTER TABLE "activity_hours" ADD CONSTRAINT "activity_hours_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_days" ADD CONSTRAINT "activity_member_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_months" ADD CONSTRAINT "activity_member_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD CONSTRAINT "activity_repo_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_hours_by_age" ON "activity_hours" USING btree ("day");--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "active";--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "members";--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "hours";--> statement-breakpoint
ALTER TABLE "activity_people" DROP COLUMN "ordinal";--> statement-breakpoint
ALTER TABLE "activity_repo_days" DROP COLUMN "people";--> statement-breakpoint
ALTER TABLE "activity_repo_months" DROP COLUMN "people";--> statement-breakpoint
INSERT INTO "activity_people" ("workspace_id", "user_id") SELECT DISTINCT "workspace_id", "user_id" FROM "activity" ON CONFLICT DO NOTHING;