/**
 * Statements of committed migrations, which are never edited, in the form in which they run on a database in use: in parts,
 * because a statement that changes every row of a table would keep all of them locked until its end.
 */
const PERSONAL = `UPDATE "workspaces" SET "created_by" = "personal_of" WHERE "personal_of" IS NOT NULL AND "created_by" IS NULL;`
const SHARED = `UPDATE "workspaces" SET "created_by" = v."created_by" FROM "workspace_settings_versions" v
WHERE v."workspace_id" = "workspaces"."id" AND v."version" = 1 AND "workspaces"."created_by" IS NULL AND v."created_by" IS NOT NULL;`

export const replacements = new Map([
  [
    PERSONAL,
    `-- Repeated until it changes no row.
update workspaces set created_by = personal_of where id in (
  select id from workspaces where personal_of is not null and created_by is null order by id limit 1000)`,
  ],
  [
    SHARED,
    `-- Repeated until it changes no row.
update workspaces set created_by = v.created_by from workspace_settings_versions v
where v.workspace_id = workspaces.id and v.version = 1 and workspaces.id in (
  select w.id from workspaces w join workspace_settings_versions f on f.workspace_id = w.id and f.version = 1
  where w.created_by is null and f.created_by is not null order by w.id limit 1000)`,
  ],
])
