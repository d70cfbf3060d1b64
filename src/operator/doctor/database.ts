/** Checks the database. */
import type postgres from 'postgres'
import type { RepohostKind } from '../../../schemas/common.js'
import { ANY_PREFIX } from '../../../schemas/settings-keys.js'
import type { Config } from '../../config.js'
import { hostFault } from '../../features/accounts/index.js'
import { secretsFault } from '../../features/sessions/index.js'
import { LIST_SIGNING_KEYS } from '../../features/sessions/queries/signing-keys.js'
import { openSession } from '../../platform/database/dedicated-session.js'
import { remedyOf } from '../../platform/database/external-database.js'
import { readNewestMigration } from '../../platform/database/migrate.js'
import { newestMigration } from '../../platform/database/migrations.js'
import { findDatabaseFault, isTransactionPooler } from '../../platform/database/requirements.js'
import { toParameter } from '../../platform/database/statement.js'
import { listTableNames } from '../../platform/database/table.js'
import { READ_WRITABILITY, type Writability, writeFaultOf } from '../../platform/database/writability.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { printable } from '../explain-failure.js'
import { type Finding, ok, problem, warning } from './finding.js'

/** With a larger difference, the service rejects valid tokens or accepts expired ones. */
const CLOCK_MS = 5_000
/** Days that wait for their rollups. Rolling up this many takes a few minutes. */
const BACKLOG = 10_000
/** A backup older than this is reported. */
const BACKUP_DAYS = 7
const ABOUT = 'database'

export const checkDatabase = async (url: string, config: Config): Promise<Finding[]> => {
  const [sql, other] = [openSession(url, 5), openSession(url, 5)]
  try {
    const findings = [...(await checkServer(sql)), ...(await checkRights(sql))]
    if (findings.every(({ level }) => level === 'ok')) findings.push(...(await checkWrites(sql)))
    // Other checks would only fail for the same reason.
    if (findings.some(({ level }) => level === 'problem')) return findings
    return [
      ...findings,
      ...(await checkClock(sql)),
      ...(await checkPooler(sql, other, config)),
      ...(await checkConnections(sql, config)),
      ...(await checkSchema(sql)),
      ...(await checkRecordedHost(sql, config)),
      ...(await checkSigningKeys(sql, config)),
      ...(await checkWebhooks(sql, config)),
      ...(await checkScopes(sql, config)),
      ...(await checkPrefixes(sql, config)),
    ]
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    const remedy = remedyOf(error)
    return [
      problem(
        ABOUT,
        `It can’t be used: ${message || code}.`,
        remedy === undefined
          ? 'Start it, or correct the host and port in DATABASE_URL.'
          : `DATABASE_URL ${remedy}.`,
      ),
    ]
  } finally {
    await Promise.all([sql, other].map((client) => client.end({ timeout: 1 })))
  }
}

const checkServer = async (sql: postgres.Sql): Promise<Finding[]> => {
  const fault = await findDatabaseFault(sql)
  if (fault) return [problem(ABOUT, `DATABASE_URL names ${fault.cause}.`, fault.remedy)]
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`
  return [ok(ABOUT, `PostgreSQL ${row?.version} responds.`)]
}

const checkRights = async (sql: postgres.Sql): Promise<Finding[]> => {
  const [row] = await sql<{ name: string; may: boolean; foreign: string | null }[]>`
    select current_user as name,
      has_database_privilege(current_database(), 'CREATE') and has_schema_privilege('public', 'CREATE') as may,
      (select string_agg(relname, ', ') from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and not pg_has_role(relowner, 'USAGE')) as foreign`
  if (!row?.may) {
    return [
      problem(
        ABOUT,
        `The user ${row?.name} isn’t allowed to create tables.`,
        'Make it the database’s owner, or grant it CREATE on the database and on its schema "public".',
      ),
    ]
  }
  if (row.foreign === null) return []
  return [
    problem(
      ABOUT,
      `Some tables don’t belong to ${row.name}: ${row.foreign}.`,
      `Use their owner in DATABASE_URL, or \`REASSIGN OWNED\` to ${row.name}.`,
    ),
  ]
}

const checkWrites = async (sql: postgres.Sql): Promise<Finding[]> => {
  const { text } = READ_WRITABILITY
  const [row] = await sql.unsafe<Writability[]>(text, [toParameter(listTableNames()) as string])
  const fault = row && writeFaultOf(row)
  return fault ? [problem(ABOUT, `It is read-only: ${fault.cause}`, fault.remedy)] : []
}

const checkClock = async (sql: postgres.Sql): Promise<Finding[]> => {
  const before = Date.now()
  const [row] = await sql<{ at: string }[]>`select (extract(epoch from clock_timestamp()) * 1000)::text as at`
  const after = Date.now()
  const at = Number(row?.at)
  const offMs = at < before ? before - at : Math.max(0, at - after)
  if (offMs <= CLOCK_MS) return [ok('clock', 'It agrees with the database’s clock.')]
  return [
    problem(
      'clock',
      `It differs from the database’s clock by ${Math.round(offMs / 1_000)} s.`,
      'Synchronize both machines with NTP.',
    ),
  ]
}

const checkPooler = async (
  sql: postgres.Sql,
  other: postgres.Sql,
  { databasePrepare }: Config,
): Promise<Finding[]> => {
  const isPooled = await isTransactionPooler(sql, other)
  if (isPooled && databasePrepare) {
    return [
      problem(
        'pooler',
        'There is a transaction pooler in front of the database, and prepared statements don’t work there.',
        'Set DATABASE_PREPARE=false.',
      ),
    ]
  }
  const findings: Finding[] = isPooled
    ? [ok('pooler', 'There is a transaction pooler in front of the database.')]
    : []
  if (databasePrepare) return findings
  // Otherwise the service sets these timeouts for each session.
  const timeouts = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  const [row] = await sql<{ missing: string[] }[]>`
    select coalesce(json_agg(name), '[]') as missing from pg_settings where name in ${sql(timeouts)} and setting = '0'`
  if (!row || row.missing.length === 0) return findings
  return [
    ...findings,
    problem(
      'timeouts',
      `With DATABASE_PREPARE=false the service can’t set ${row.missing.join(', ')}, and the database has none.`,
      "Set them on its role, as in ops/pgbouncer.sql: ALTER ROLE … SET statement_timeout = '5s', and so on. Then let the pooler reconnect.",
    ),
  ]
}

const checkConnections = async (
  sql: postgres.Sql,
  { databaseUrl, databasePoolSize }: Config,
): Promise<Finding[]> => {
  // The embedded server starts with as many as the service needs.
  if (databaseUrl === undefined) return []
  const [row] = await sql<{ places: number }[]>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as places`
  const places = row?.places ?? 0
  if (databasePoolSize <= places) return []
  return [
    problem(
      ABOUT,
      `DATABASE_POOL_SIZE is ${databasePoolSize}, and the server accepts ${places} connections in total.`,
      'Lower DATABASE_POOL_SIZE or raise max_connections. Every instance has its own pool.',
    ),
  ]
}

const checkSchema = async (sql: postgres.Sql): Promise<Finding[]> => {
  const about = 'schema'
  const found = await readNewestMigration(sql)
  if (found === undefined) return [ok(about, 'There are no tables yet: the first start creates them.')]
  if (found > newestMigration.when) {
    return [
      problem(
        about,
        `A newer version has migrated the database: this version’s newest migration is ${newestMigration.tag}.`,
        'Run the version that migrated it, or a newer one.',
      ),
    ]
  }
  if (found < newestMigration.when) {
    return [
      warning(
        about,
        `It is older than this version, whose newest migration is ${newestMigration.tag}.`,
        'Back up first. Then run `npm run migrate`, or start the service, which migrates it.',
      ),
    ]
  }
  return [...(await checkRollups(sql)), ...(await checkBackups(sql))]
}

const checkRollups = async (sql: postgres.Sql): Promise<Finding[]> => {
  const [row] = await sql<{ days: number }[]>`
    select count(*)::int as days from (
      select from (
        select workspace_id, day from changed_days union select workspace_id, day from changed_month_days
      ) changed
      where day < (now() at time zone 'UTC')::date limit ${BACKLOG + 1}
    ) d`
  const days = row?.days ?? 0
  if (days <= BACKLOG) return [ok('schema', `It matches this version; ${days} days wait for their rollups.`)]
  return [
    warning(
      'rollups',
      `More than ${BACKLOG} days wait for their rollups: dashboards are slow.`,
      'Check that an instance is running, and look for "rollups" in its log. `npm run rollups` rebuilds all of them.',
    ),
  ]
}

/** Passes if the service or `npm run backup` has recorded a backup, or if the server archives its WAL. */
const checkBackups = async (sql: postgres.Sql): Promise<Finding[]> => {
  const about = 'backup'
  const [row] = await sql<
    {
      days: number | null
      last: string | null
      ahead: string | null
      inUse: number | null
      archived: boolean
    }[]
  >`
    select
      (select extract(epoch from now() - max(made_at)) / 86400 from backups where made_at <= now())::float8 as days,
      (select to_char(max(made_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from backups where made_at <= now()) as last,
      (select to_char(max(made_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from backups where made_at > now()) as ahead,
      (select extract(epoch from now() - min(created_at)) / 86400 from users where repohost_id is not null)::float8
        as "inUse",
      coalesce((select last_archived_time between now() - make_interval(days => ${BACKUP_DAYS}) and now() from pg_stat_archiver), false)
        as archived`
  const { days = null, last = null, ahead = null, inUse = null, archived = false } = row ?? {}
  if (ahead !== null)
    return [
      problem(
        about,
        `The database lists a backup of ${ahead} UTC, which is in the future. ${last === null ? 'There is no other.' : `The last other one is of ${last} UTC.`}`,
        'Check the clocks, and make a backup with `npm run backup -- FILE`: it removes that entry.',
      ),
    ]
  if (days !== null && days <= BACKUP_DAYS)
    return [ok(about, `The last one is ${Math.floor(days * 24)} hours old: ${last} UTC.`)]
  if (archived) return [ok(about, 'The server archives its WAL.')]
  // Negative if people joined while the clock ran ahead.
  if (inUse === null || (inUse >= 0 && inUse <= BACKUP_DAYS))
    return [ok(about, 'There is no backup, but also little data yet.')]
  return [
    warning(
      about,
      days === null
        ? `There is no known backup, and people have used the service for ${Math.floor(Math.max(0, inUse))} days.`
        : `The last known backup is ${Math.floor(days)} days old: ${last} UTC.`,
      'Set BACKUP_DIR, or run `npm run backup -- FILE` every day with a timer. If you have another backup method, check that it still works.',
    ),
  ]
}

/** Whether a table exists. An older schema may lack it. */
const hasTable = async (sql: postgres.Sql, name: string): Promise<boolean> => {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass(${name}) is not null as exists`
  return table?.exists === true
}

/** The host whose ids identify the accounts. It's recorded at the first start of this version. */
const checkRecordedHost = async (sql: postgres.Sql, { repohost }: Config): Promise<Finding[]> => {
  if (!(await hasTable(sql, 'repository_host'))) return []
  const [recorded] = await sql<{ kind: RepohostKind; url: string }[]>`select kind, url from repository_host`
  const fault = recorded && hostFault(recorded, repohost)
  return fault === undefined ? [] : [problem('repository host', fault.message, fault.remedy)]
}

const checkSigningKeys = async (
  sql: postgres.Sql,
  { databaseUrl, jwtSecrets }: Config,
): Promise<Finding[]> => {
  if (databaseUrl === undefined || !(await hasTable(sql, 'signing_keys'))) return []
  const rows = await sql.unsafe<{ key_id: string }[]>(LIST_SIGNING_KEYS.text)
  const fault = secretsFault(
    rows.map(({ key_id }) => key_id),
    jwtSecrets,
  )
  return fault ? [problem('secrets', fault.message, fault.remedy)] : []
}

/** Without keys there are no secrets to verify deliveries with; the embedded database has keys in its folder. */
const checkWebhooks = async (sql: postgres.Sql, { databaseUrl, webhookKeys }: Config): Promise<Finding[]> => {
  if (databaseUrl === undefined || webhookKeys.length > 0) return []
  if (!(await hasTable(sql, 'webhooks'))) return []
  const [row] = await sql<{ webhooks: number }[]>`select count(*)::int as webhooks from webhooks`
  const webhooks = row?.webhooks ?? 0
  if (webhooks === 0) return []
  return [
    problem(
      'webhooks',
      `${webhooks === 1 ? 'There is 1 webhook' : `There are ${webhooks} webhooks`}, but WEBHOOK_KEYS isn’t set: the service rejects their deliveries.`,
      'Set WEBHOOK_KEYS to the keys that the webhooks were created with.',
    ),
  ]
}

/** Scopes that include the organization scope. */
const BROADER_SCOPES = ['write:org', 'admin:org', 'api', 'write:organization']

/** Without the scope, the sign-in button gets tokens that don't reveal organizations. */
const checkScopes = async (sql: postgres.Sql, { repohost }: Config): Promise<Finding[]> => {
  const { name, organizations } = hostKinds[repohost.kind]
  const isRequested = repohost.scopes.some(
    (scope) => scope === organizations.scope || BROADER_SCOPES.includes(scope),
  )
  if (repohost.clientId === undefined || isRequested || !(await hasTable(sql, 'organizations'))) return []
  const [row] = await sql<{ links: number }[]>`select count(*)::int as links from organizations`
  const links = row?.links ?? 0
  if (links === 0) return []
  return [
    warning(
      'organizations',
      `${links === 1 ? '1 workspace follows an organization' : `${links} workspaces follow an organization`}, but the sign-in button doesn’t ask for ${organizations.scope}: ${name} doesn’t say who belongs to it.`,
      `Add ${organizations.scope} to REPOHOST_SCOPES.`,
    ),
  ]
}

/** How many prefixes are listed. */
const MAX_LISTED = 5

/** Keys that were stored under other prefixes stay and are served, but no one can write them any more. */
const checkPrefixes = async (
  sql: postgres.Sql,
  { settingsKeys: { prefixes } }: Config,
): Promise<Finding[]> => {
  if (!(await hasTable(sql, 'overrides'))) return []
  // A language block's name begins with a bracket. The keys inside it are counted, not the block.
  const rows = await sql<{ prefix: string; keys: number; all: number }[]>`
    with documents as (
      select settings::json as document from snapshots
      union all select settings::json from overrides
      union all select settings::json from workspaces
    ), members as (
      select key, value from documents, json_each(document)
    ), keys as (
      select key from members where key not like '[%'
      union all
      select inner_key from members, json_object_keys(
        case when json_typeof(value) = 'object' then value else '{}' end) as inner_key
      where key like '[%'
    )
    select split_part(key, '.', 1) as prefix, count(*)::int as keys, (sum(count(*)) over ())::int as all
    from keys where split_part(key, '.', 1) not in ${sql(prefixes)}
      and (${prefixes.at(-1) !== ANY_PREFIX} or position('.' in key) = 0)
    group by 1 order by 2 desc, 1 limit ${MAX_LISTED + 1}`
  const [first] = rows
  if (first === undefined) return []
  const named = rows
    .slice(0, MAX_LISTED)
    .map(({ prefix, keys }) => `${printable(prefix.slice(0, 60))} (${keys})`)
  return [
    warning(
      'settings',
      `${first.all === 1 ? '1 stored key has' : `${first.all} stored keys have`} a prefix that EXTENSION_PREFIX doesn’t list: ${named.join(', ')}${rows.length > MAX_LISTED ? ', and others' : ''}.`,
      'Add the prefixes that you use to EXTENSION_PREFIX. Other keys stay and can be removed, but not changed.',
    ),
  ]
}
