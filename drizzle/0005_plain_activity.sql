ALTER TABLE "activity" ALTER COLUMN "hours" SET DATA TYPE smallint[]
	USING CASE WHEN "hours" IS NOT NULL THEN array[get_byte("hours", 0), get_byte("hours", 1), get_byte("hours", 2), get_byte("hours", 3), get_byte("hours", 4), get_byte("hours", 5), get_byte("hours", 6), get_byte("hours", 7), get_byte("hours", 8), get_byte("hours", 9), get_byte("hours", 10), get_byte("hours", 11), get_byte("hours", 12), get_byte("hours", 13), get_byte("hours", 14), get_byte("hours", 15), get_byte("hours", 16), get_byte("hours", 17), get_byte("hours", 18), get_byte("hours", 19), get_byte("hours", 20), get_byte("hours", 21), get_byte("hours", 22), get_byte("hours", 23)]::smallint[] END;--> statement-breakpoint
CREATE TABLE "activity_hours" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"weekday" smallint NOT NULL,
	"hour" smallint NOT NULL,
	"minutes" bigint NOT NULL,
	CONSTRAINT "activity_hours_workspace_id_day_weekday_hour_pk" PRIMARY KEY("workspace_id","day","weekday","hour")
);--> statement-breakpoint
CREATE TABLE "activity_member_days" (
	"workspace_id" uuid NOT NULL,
	"day" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	CONSTRAINT "activity_member_days_workspace_id_day_user_id_pk" PRIMARY KEY("workspace_id","day","user_id")
);--> statement-breakpoint
CREATE TABLE "activity_member_months" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"user_id" uuid NOT NULL,
	"minutes" bigint NOT NULL,
	"commits" bigint NOT NULL,
	"closed_issues" bigint NOT NULL,
	"active_day_bits" integer NOT NULL,
	CONSTRAINT "activity_member_months_workspace_id_month_user_id_pk" PRIMARY KEY("workspace_id","month","user_id")
);--> statement-breakpoint
CREATE TABLE "activity_repo_people" (
	"workspace_id" uuid NOT NULL,
	"month" date NOT NULL,
	"repo_key" text NOT NULL,
	"user_id" uuid NOT NULL,
	"day_bits" integer NOT NULL,
	CONSTRAINT "activity_repo_people_workspace_id_month_repo_key_user_id_pk" PRIMARY KEY("workspace_id","month","repo_key","user_id")
);--> statement-breakpoint
-- Days that are marked stale are read from the activity, and rolled up soon: of these, what is taken along does not matter.
INSERT INTO "activity_member_days" ("workspace_id", "day", "user_id", "minutes", "commits", "closed_issues")
SELECT "workspace_id", "day", "user_id", sum("minutes"), sum("commits"), sum("closed_issues")
FROM "activity" WHERE "minutes" + "commits" + "closed_issues" > 0
GROUP BY "workspace_id", "day", "user_id";--> statement-breakpoint
INSERT INTO "activity_member_months" ("workspace_id", "month", "user_id", "minutes", "commits", "closed_issues", "active_day_bits")
SELECT "workspace_id", date_trunc('month', "day"), "user_id", sum("minutes"), sum("commits"), sum("closed_issues"),
	coalesce(bit_or(1 << extract(day FROM "day")::int - 1) FILTER (WHERE "minutes" > 0), 0)
FROM "activity_member_days"
GROUP BY "workspace_id", date_trunc('month', "day"), "user_id";--> statement-breakpoint
INSERT INTO "activity_repo_people" ("workspace_id", "month", "repo_key", "user_id", "day_bits")
SELECT "workspace_id", date_trunc('month', "day"), "repo_key", "user_id", bit_or(1 << extract(day FROM "day")::int - 1)
FROM "activity" WHERE "minutes" + "commits" + "closed_issues" > 0
GROUP BY "workspace_id", date_trunc('month', "day"), "repo_key", "user_id";--> statement-breakpoint
-- The hours of a day were 51 integers of four bytes: by local hour, from twelve before the UTC day begins.
INSERT INTO "activity_hours" ("workspace_id", "day", "weekday", "hour", "minutes")
SELECT d."workspace_id", d."day", extract(isodow FROM l."at"), extract(hour FROM l."at"), l."minutes"
FROM "activity_days" d CROSS JOIN generate_series(0, 50) AS n CROSS JOIN LATERAL (
	SELECT d."day" + make_interval(hours => n - 12) AS "at",
		(get_byte(d."hours", 4 * n)::bigint << 24) + (get_byte(d."hours", 4 * n + 1) << 16)
			+ (get_byte(d."hours", 4 * n + 2) << 8) + get_byte(d."hours", 4 * n + 3) AS "minutes"
) l
WHERE d."hours" IS NOT NULL AND l."minutes" > 0;--> statement-breakpoint
DROP TABLE "activity_months";--> statement-breakpoint
DROP INDEX "activity_days_with_hours";--> statement-breakpoint
ALTER TABLE "activity_people" DROP CONSTRAINT "activity_people_ordinal";--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "active";--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "members";--> statement-breakpoint
ALTER TABLE "activity_days" DROP COLUMN "hours";--> statement-breakpoint
ALTER TABLE "activity_people" DROP COLUMN "ordinal";--> statement-breakpoint
ALTER TABLE "activity_repo_days" DROP COLUMN "people";--> statement-breakpoint
ALTER TABLE "activity_repo_months" DROP COLUMN "people";--> statement-breakpoint
INSERT INTO "activity_people" ("workspace_id", "user_id") SELECT DISTINCT "workspace_id", "user_id" FROM "activity" ON CONFLICT DO NOTHING;--> statement-breakpoint
ALTER TABLE "activity_hours" ADD CONSTRAINT "activity_hours_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_days" ADD CONSTRAINT "activity_member_days_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_member_months" ADD CONSTRAINT "activity_member_months_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity_repo_people" ADD CONSTRAINT "activity_repo_people_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_hours_by_age" ON "activity_hours" USING btree ("day");--> statement-breakpoint
-- So that the first dashboards are planned as well as later ones.
ANALYZE "activity", "activity_people", "activity_member_days", "activity_member_months", "activity_repo_people", "activity_hours";--> statement-breakpoint
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
    sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues, count(*) as members
  from activity a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.minutes + a.commits + a.closed_issues > 0
  group by a.workspace_id, w.name, a.day, coalesce(r.repo, a.repo_key));