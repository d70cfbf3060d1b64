import { limitNames } from '../limits.js'

/** A label's values, which all begin at 0, or a description of the values if they aren't known here. */
type Values = readonly string[] | string

interface Definition {
  type: 'counter' | 'histogram' | 'gauge'
  help: string
  labels: Record<string, Values>
  /** Upper bounds, in seconds. */
  buckets?: readonly number[]
}

const counter = <const L extends Record<string, Values>>(help: string, labels: L) =>
  ({ type: 'counter', help, labels }) as const

const histogram = <const L extends Record<string, Values>>(
  help: string,
  labels: L,
  buckets: readonly number[],
) => ({ type: 'histogram', help, labels, buckets }) as const

const gauge = <const L extends Record<string, Values>>(help: string, labels: L) =>
  ({ type: 'gauge', help, labels }) as const

const request = {
  method: 'the method',
  route: 'the route’s template, or `unknown`',
  status: 'the status',
}
const OF_REQUESTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const OF_STATEMENTS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
const OF_TASKS = [0.01, 0.1, 1, 10, 60, 600]

export const pools = ['requests', 'writers', 'reads', 'reserved', 'background'] as const
const pool = { pool: pools }

export const tasks = [
  'rollups',
  'retirement',
  'erasures',
  'revocations',
  'deleted workspaces',
  'old audit entries',
  'expired revocations',
  'expired logins',
  'old flush ids',
  'old billing events',
  'old views',
  'ended removals',
  'old hashes of keys',
  'old access keys',
  'old deliveries',
  'old reported commits',
  'old reported issues',
  'old reported renames',
  'old heartbeats',
  'old project names',
  'old counts of dropped names',
  'old repositories of people',
  'old imports',
  'old import days',
  'old attempts',
  'imports',
] as const

export const metrics = {
  http_requests_total: counter('Completed requests.', {
    ...request,
    code: 'the problem’s code, or empty for a success',
  }),
  http_request_duration_seconds: histogram('Time to respond.', request, OF_REQUESTS),
  team_settings_unhandled_rejections_total: counter(
    'Unhandled failures. Each is a bug in the service, and a log line has its cause.',
    {},
  ),
  http_requests_under_way: gauge('Requests in progress.', {}),

  team_settings_refusals_total: counter('Requests that a limit rejected.', {
    limit: limitNames,
  }),
  team_settings_rate_limits_shared: gauge(
    'With REDIS_URL: whether limits are counted across all instances (1), or Redis is unavailable (0).',
    {},
  ),
  team_settings_sign_ins_total: counter(
    'Sign-ins by method. `issued`: there is a new session. `refused`: the token or the login wasn’t valid. `failed`: the repository host or the database failed.',
    { way: ['token', 'browser'], outcome: ['issued', 'refused', 'failed'] },
  ),
  team_settings_sessions_revoked_total: counter('Sessions that were signed out before they expired.', {
    scope: ['one', 'all_of_user'],
  }),
  team_settings_access_keys_total: counter(
    'Personal and workspace keys that were created, or revoked by request.',
    { owner: ['person', 'workspace'], change: ['created', 'revoked'] },
  ),
  team_settings_flushes_total: counter('Flushes of active minutes. A duplicate had already been counted.', {
    outcome: ['counted', 'duplicate'],
  }),
  team_settings_flush_entries_total: counter('Entries of counted flushes.', {
    outcome: ['accepted', 'capped', 'ignored'],
  }),
  team_settings_heartbeats_total: counter(
    'Heartbeats from editors. `accepted`: for a repository. `waiting`: for a name without a repository. `ignored`: they can never count. `agents`: for agent time.',
    { outcome: ['accepted', 'waiting', 'ignored', 'agents'] },
  ),
  team_settings_webhooks_total: counter(
    'Notifications from the billing provider. `refused`: wrong signature. `failed`: not stored.',
    { outcome: ['applied', 'duplicate', 'without_effect', 'refused', 'failed'] },
  ),

  team_settings_upstream_duration_seconds: histogram(
    'Round trips to other services. `refused`: 4xx. `limited`: the other service limits the rate. `failed`: 5xx, or no usable response.',
    {
      upstream: ['repohost', 'billing-provider', 'assistant-a', 'assistant-b'],
      outcome: ['answered', 'refused', 'limited', 'failed', 'timeout'],
    },
    OF_REQUESTS,
  ),

  team_settings_ready: gauge(
    'Whether requests can be served, as `/api/ready` says: the database responds and accepts writes, its schema is current, and the process isn’t stopping.',
    {},
  ),
  team_settings_database_up: gauge('Whether the database responded to the last check.', {}),
  team_settings_database_statement_duration_seconds: histogram(
    'Round trips to the database, including failed ones, without the wait for a connection.',
    { statement: 'the name of a statement, or its verb and first table if Drizzle built it' },
    OF_STATEMENTS,
  ),
  team_settings_database_failures_total: counter(
    'Statements that failed. `unavailable`: the database is unavailable or too slow. `conflict`: two transactions conflicted (most are retried).',
    { reason: ['unavailable', 'conflict', 'other'] },
  ),
  team_settings_database_transactions_total: counter(
    'Transactions. After a conflict, a transaction starts again.',
    {
      outcome: ['committed', 'conflict', 'failed'],
    },
  ),
  team_settings_database_pool_size: gauge(
    'The size of the pool: connections, and for `reads` concurrent statements on their shared connection. `writers` are part of `requests`.',
    pool,
  ),
  team_settings_database_pool_used: gauge('Connections or statements in use.', pool),
  team_settings_database_pool_waiting: gauge('Statements and transactions that wait for a connection.', pool),
  team_settings_database_wait_seconds: histogram(
    'Time that statements and transactions waited for a connection. Those that didn’t wait aren’t counted.',
    pool,
    OF_STATEMENTS,
  ),
  team_settings_database_wait_refusals_total: counter('Waits that ended without a connection.', pool),

  team_settings_rollup_stale_days: gauge(
    'In the whole database: workspaces’ days before today with stale rollups, among the first 20,000 changes.',
    {},
  ),
  team_settings_rollup_oldest_stale_day_age_seconds: gauge(
    'Seconds that the first stale day of the whole database has waited for its rollups. For the current day, the wait starts when the day ends. 0 if none are waiting.',
    {},
  ),
  team_settings_background_runs_total: counter('Runs of background tasks.', {
    task: tasks,
    outcome: ['done', 'failed'],
  }),
  team_settings_background_duration_seconds: histogram(
    'Duration of runs of background tasks.',
    { task: tasks },
    OF_TASKS,
  ),
  team_settings_background_last_success_timestamp_seconds: gauge(
    'When a background task last succeeded, in seconds since 1970. Until the first success: when the process started.',
    { task: tasks },
  ),

  team_settings_backup_age_seconds: gauge(
    'In the whole database: the age of the last backup that the service or `npm run backup` made. Absent if there is none. Negative if one is from the future, because a clock ran ahead.',
    {},
  ),
  team_settings_data_dir_free_bytes: gauge('Free space on the disk of DATA_DIR, if the service uses it.', {}),
  team_settings_data_dir_size_bytes: gauge('The size of the disk of DATA_DIR, if the service uses it.', {}),
  team_settings_build_info: gauge(
    'Always 1. The labels have the service version, the Node version and this version’s newest migration.',
    { version: 'the version', node: 'the version of Node', schema: 'the name of a migration' },
  ),
} as const satisfies Record<string, Definition>

type Metrics = typeof metrics
type NamesOf<Type> = { [N in keyof Metrics]: Metrics[N]['type'] extends Type ? N : never }[keyof Metrics]
export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>
export type GaugeName = NamesOf<'gauge'>
export type MetricName = keyof Metrics

/** A metric's labels, each with one of its values or a text. */
export type LabelsOf<N extends MetricName> = {
  [L in keyof Metrics[N]['labels']]: Metrics[N]['labels'][L] extends readonly (infer Value)[] ? Value : string
}

export type Task = (typeof tasks)[number]
export type Pool = (typeof pools)[number]
