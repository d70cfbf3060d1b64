import { type Static, Type } from '@sinclair/typebox'
import { privacyLevels, repohostKinds, StringEnum } from './common.js'
import { ALLOWED_KEYS, DENIED_KEYS } from './denied-patterns.js'
import { limits } from './limits.js'
import { EDITOR_PREFIXES } from './settings-keys.js'

const BaseUrl = (options: object) =>
  Type.String({
    format: 'base-url',
    expected: 'an http or https URL without query, fragment or user',
    ...options,
  })
const Origin = (options: object) =>
  Type.Optional(
    Type.String({ format: 'origin', expected: 'an origin such as https://example.com', ...options }),
  )
const Text = (options: object) => Type.Optional(Type.String({ whenUnset: 'off', ...options }))
const Secret = (options: object) => Text({ secret: true, ...options })
const List = (item: object, expected: string, options: object) =>
  Type.Array(Type.String(item), {
    minItems: 1,
    expected: `a comma-separated list of ${expected}`,
    ...options,
  })
const port = { minimum: 1, maximum: 65_535 }

/**
 * The service's environment variables, in the order of `.env.example`. `expected` completes the error about
 * a wrong value, and `whenUnset` describes a default that isn't a constant. A `secret` can also come from a file: the
 * variable with `_FILE` at the end of its name holds the path.
 */
export const Environment = Type.Object({
  HOST: Type.String({
    format: 'host',
    expected: 'a host name or an address',
    default: '127.0.0.1',
    description: 'The address to listen on. `0.0.0.0` means all addresses of the machine.',
    examples: ['0.0.0.0'],
  }),
  PORT: Type.Integer({ ...port, default: 3000, description: 'The port to listen on.', examples: [8080] }),
  DATABASE_URL: Type.Optional(
    Type.String({
      format: 'postgres-url',
      expected: 'a postgres:// URL',
      secret: true,
      whenUnset: 'an embedded PostgreSQL in `DATA_DIR`',
      description:
        'PostgreSQL 15 or newer. With several hosts (`one:5432,two:5432`), the service uses the primary, even after a failover. `?sslmode=verify-full` encrypts the connection. Without TLS, the service doesn’t connect to a server that asks for the password in clear text or as an MD5 hash, unless `?require_auth=password` or `?require_auth=md5` allows it. For a Unix socket, give its folder as the host: `postgres://user:password@%2Fvar%2Frun%2Fpostgresql/name`.',
      examples: ['postgres://user:password@host:5432/name'],
    }),
  ),
  DATA_DIR: Type.String({
    default: '.data',
    description: 'The folder for the embedded database and the generated signing secret.',
    examples: ['/var/lib/team-settings'],
  }),
  BACKUP_DIR: Text({
    whenUnset: 'the service makes no backups',
    description:
      'A folder for a daily backup of the database, which nothing else uses. If there are several instances, one writes it, so give all of them the same folder, or set it for one.',
    examples: ['/var/backups/team-settings'],
  }),
  BACKUP_KEEP: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 7,
    description: 'How many of its backups the service keeps in `BACKUP_DIR`.',
    examples: [30],
  }),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 10,
    description: 'Database connections per instance. The service uses at least 4.',
    examples: [20],
  }),
  DATABASE_PREPARE: Type.Boolean({
    default: true,
    description: 'Set it to `false` behind a transaction pooler such as PgBouncer.',
    examples: [false],
  }),

  JWT_SECRETS: Type.Optional(
    Type.Array(Type.String({ format: 'secret' }), {
      expected: 'comma-separated secrets of at least 32 bytes each',
      secret: true,
      whenUnset: 'generated with the embedded database; required with `DATABASE_URL`',
      description:
        'The secrets of session tokens, comma-separated, at least 32 bytes each. The first one signs, and all verify. Create one with `openssl rand -base64 48`.',
      examples: ['3q2+7w…,tOQ2Xg…'],
    }),
  ),

  SITE_URL: Origin({
    whenUnset: 'the service itself',
    description: 'The dashboard’s origin, where sign-ins start and end.',
    examples: ['https://app.example.com'],
  }),
  BASE_URL: Origin({
    whenUnset: '`http://HOST:PORT`, and `http://localhost:PORT` if `HOST` is `0.0.0.0`',
    description: 'The service’s origin, as callers see it.',
    examples: ['https://api.example.com'],
  }),
  DASHBOARD_ORIGINS: Type.Optional(
    List({ format: 'origin' }, 'origins', {
      whenUnset: 'none',
      description: 'More origins that can call with the cookie, comma-separated.',
      examples: ['https://beta.example.com,http://localhost:5173'],
    }),
  ),

  DASHBOARD: StringEnum(['on', 'off'], {
    default: 'on',
    description: '`off` serves no page at `/`. Use it if you have your own dashboard at `SITE_URL`.',
    examples: ['off'],
  }),

  EXTENSION_PREFIX: List(
    { maxLength: 50, pattern: '^([A-Za-z0-9_-]+([/ ][A-Za-z0-9_-]+)*|\\*)$' },
    '1 to 200 different prefixes',
    {
      maxItems: 200,
      uniqueItems: true,
      keepEmpty: true,
      expected:
        'a comma-separated list of 1 to 200 different prefixes, each of 1 to 50 letters, digits, - or _, with / or a space between them, and without the dot',
      default: ['ext', ...EDITOR_PREFIXES],
      description:
        "The prefixes of settings keys, without the dot. Put your own extension's first, or keep `ext`. A key starts with a prefix and a dot, or is one of the others (`gopls`). Teams can share only settings with these prefixes. The default has those of the editor itself; list them too when you add those of extensions. `*` as the last prefix allows every other one.",
      examples: ['ext,editor,files,search,workbench,eslint,ruby lsp,*'],
    },
  ),
  SETTINGS_DENIED: List({ pattern: '^\\S{1,200}$' }, 'patterns of keys, such as terminal.*', {
    maxItems: 500,
    default: DENIED_KEYS,
    description:
      'Settings that no one may store, except under the first prefix. `*` stands for any text, and case doesn’t matter. A pattern is about names of programs and places, and denies only values with a text in them; with a leading `!`, it denies any value. The three kinds of patterns are explained below. No list of names is complete: the editor decides what it applies.',
    examples: ['!terminal.*,*path'],
  }),
  SETTINGS_ALLOWED: List({ pattern: '^\\S{1,200}$' }, 'patterns of keys, such as terminal.integrated.font*', {
    maxItems: 500,
    default: ALLOWED_KEYS,
    description:
      'Settings that teams may store although a pattern in `SETTINGS_DENIED` denies them. It replaces the default. It doesn’t lift what extensions list in `restrictedConfigurations`.',
    examples: ['terminal.integrated.font*,*.trace.server'],
  }),
  EXTENSION_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      expected: 'an http or https URL',
      whenUnset: 'no link',
      description: 'Where people install the editor extension. A workspace’s first steps link to it.',
      examples: ['https://marketplace.visualstudio.com/items?itemName=acme.editor'],
    }),
  ),

  SETTINGS_SCHEMA: Type.Optional(
    List({ minLength: 1 }, 'files', {
      maxItems: 50,
      whenUnset: 'settings aren’t checked',
      description:
        "Files that describe settings, comma-separated: the `package.json` of VS Code extensions (`contributes.configuration`), each with the `package.nls.json` beside it, or JSON Schemas. The service reads them at start, and leaves out what it can't use. It also denies the settings that these extensions list in `restrictedConfigurations`, except under the first prefix.",
      examples: ['/etc/team-settings/package.json'],
    }),
  ),
  SETTINGS_VALIDATION: StringEnum(['warn', 'enforce'], {
    default: 'warn',
    description:
      'What happens to settings that don’t match `SETTINGS_SCHEMA`. `warn` stores them and lists what is wrong in the response. `enforce` rejects them.',
    examples: ['enforce'],
  }),

  REPOHOST_KIND: StringEnum(repohostKinds, {
    default: 'github',
    description: 'The kind of the repository host. `forgejo` is also for Gitea. A deployment has one host.',
    examples: ['gitlab'],
  }),
  REPOHOST_URL: Type.Optional(
    BaseUrl({
      whenUnset: '`https://github.com`, `https://gitlab.com`; required for `forgejo`',
      description:
        'The repository host’s address. It can have a path, as in `https://git.example.com/gitlab`, if the host is below one.',
      examples: ['https://git.example.com'],
    }),
  ),
  REPOHOST_API_URL: Type.Optional(
    BaseUrl({
      whenUnset:
        'follows `REPOHOST_URL`: `REPOHOST_URL/api/v4` for GitLab, `REPOHOST_URL/api/v1` for Forgejo, `REPOHOST_URL/api/v3` for GitHub Enterprise Server, `https://api.github.com` for github.com, `https://api.NAME.ghe.com` for `https://NAME.ghe.com`',
      description:
        'The address of the repository host’s API, if the service must use another address than the one that follows from `REPOHOST_URL`, such as an internal one. People’s tokens are sent there.',
      examples: ['https://git.internal/api/v4'],
    }),
  ),
  REPOHOST_MOVED: Type.Optional(
    Type.String({
      format: 'former-host',
      expected: `an http or https URL without query, fragment or user, or one of ${repohostKinds.join(', ')}`,
      whenUnset: 'the service starts only with the same host as before',
      description:
        'The repository host’s former address, if the same host is now at the address in `REPOHOST_URL`. If only `REPOHOST_KIND` was wrong, enter the wrong kind. Accounts are keyed by the host’s numeric ids, so another host would give accounts to strangers. Remove this variable after the start.',
      examples: ['https://old-git.example.com'],
    }),
  ),
  REPOHOST_CLIENT_ID: Text({
    description:
      'The OAuth app for signing in with the browser. Set both this and `REPOHOST_CLIENT_SECRET`, or neither.',
    examples: ['Iv1.0123456789abcdef'],
  }),
  REPOHOST_CLIENT_SECRET: Secret({
    description: 'The OAuth app’s secret.',
    examples: ['0123456789abcdef0123456789abcdef01234567'],
  }),
  REPOHOST_SCOPES: Type.Optional(
    List({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }, 'OAuth scopes', {
      whenUnset: 'none',
      description:
        'Scopes that the sign-in button asks for besides its own, comma-separated. Membership that follows the host needs `read:org` at GitHub, `read_api` at GitLab, and `read:organization` at Forgejo.',
      examples: ['read:org'],
    }),
  ),
  REPOHOST_ALLOWED_CLIENT_IDS: Type.Optional(
    List({}, 'OAuth client ids', {
      whenUnset: 'all',
      description:
        'OAuth apps whose tokens `POST /api/auth/verify` accepts, comma-separated. Not available with Forgejo, which doesn’t say which app a token was made for.',
      examples: ['Iv1.0123456789abcdef'],
    }),
  ),

  WEBHOOK_KEYS: Type.Optional(
    Type.Array(Type.String({ format: 'secret' }), {
      expected: 'comma-separated secrets of at least 32 bytes each',
      secret: true,
      whenUnset: 'generated with the embedded database; otherwise no one can create a webhook',
      description:
        'The keys from which the service derives the secrets of repository webhooks, comma-separated, at least 32 bytes each. The service derives new secrets from the first key, and accepts secrets from all of them. Create one with `openssl rand -base64 48`.',
      examples: ['9vK1Zt…,Qm4pXs…'],
    }),
  ),

  ADMIN_KEYS: Type.Optional(
    List({}, 'keys', {
      secret: true,
      whenUnset: 'no one has access',
      description: 'Keys for `GET /api/admin/funnel`, comma-separated.',
      examples: ['a-long-random-text'],
    }),
  ),

  BILLING_SECRET_KEY: Secret({
    description: 'The billing provider’s secret key.',
    examples: ['sk_live_…'],
  }),
  BILLING_WEBHOOK_SECRET: Secret({
    description: 'The secret that signs the billing provider’s notifications.',
    examples: ['whsec_…'],
  }),
  BILLING_API_URL: Type.Optional(
    BaseUrl({
      whenUnset: "the provider's own",
      description: 'Another address for the billing provider’s API, for tests.',
      examples: ['http://127.0.0.1:4242'],
    }),
  ),
  BILLING_PRICE_MONTH: Text({ description: 'The monthly price’s id.', examples: ['price_month'] }),
  BILLING_PRICE_YEAR: Text({ description: 'The yearly price’s id.', examples: ['price_year'] }),
  BILLING_DORMANT: Type.Boolean({
    default: true,
    description: '`true` gives everyone Pro. `false` makes the team routes require a subscription.',
    examples: [false],
  }),

  ASSISTANT_A_URL: BaseUrl({
    default: 'https://api.openai.com',
    description: 'The first model provider’s address.',
    examples: ['https://models.example.com'],
  }),
  ASSISTANT_B_URL: BaseUrl({
    default: 'https://api.anthropic.com',
    description: 'The second model provider’s address.',
    examples: ['https://models.example.com'],
  }),

  FUNNEL_STEPS: List({ pattern: '^[a-z][a-z0-9_.-]{0,63}$' }, 'different event names', {
    uniqueItems: true,
    default: ['signed_in', 'settings_pushed', 'workspace_created', 'workspace_joined', 'activity_flushed'],
    description: 'The steps of `GET /api/admin/funnel`, in order.',
    examples: ['signed_in,settings_pushed'],
  }),

  ACTIVITY_DETAIL_DAYS: Type.Integer({
    minimum: 31,
    maximum: 36_500,
    default: 400,
    description:
      'How many days the service keeps the hours of activity. Daily totals are kept as long as the workspace.',
    examples: [90],
  }),

  ACTIVITY_PRIVACY_FLOOR: StringEnum(privacyLevels, {
    default: 'named',
    description:
      'With `team`, no workspace can show any single member’s activity. Workspaces with `named` change to `team` at the next start, and keep it if you remove the floor.',
    examples: ['team'],
  }),
  ACTIVITY_MIN_GROUP: Type.Integer({
    minimum: 3,
    maximum: 1_000,
    default: 5,
    description:
      'The minimum number of people behind every number that is shown at the privacy level `team`, and, besides the viewer, behind each day in the heatmap of a team at `named`.',
    examples: [8],
  }),

  RATE_LIMITS: StringEnum(['on', 'off'], {
    default: 'on',
    description: 'Use `off` for load tests only.',
    examples: ['off'],
  }),
  LIMITS: Type.Optional(
    List(
      { format: 'limit' },
      'name=number, with names of docs/configuration.md and numbers from 1 to 999999999',
      {
        whenUnset: 'each limit has its default',
        description: 'Limits that differ from their defaults, as `name=number`, comma-separated.',
        examples: [`rate_per_caller=${2 * limits.rate_per_caller},removals=50`],
      },
    ),
  ),
  LIMIT_EXEMPT: Type.Optional(
    List({ format: 'address-or-range' }, 'IP addresses or CIDR ranges', {
      whenUnset: 'none',
      description:
        'Addresses without rate limits, such as the shared address of a company network: addresses or CIDR ranges, comma-separated.',
      examples: ['203.0.113.7,10.0.0.0/8'],
    }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({
      format: 'redis-url',
      expected: 'a redis:// or rediss:// URL',
      secret: true,
      whenUnset: 'each instance counts for itself',
      description: 'A Redis or Valkey server through which all instances share rate limits.',
      examples: ['rediss://user:password@host:6379/0'],
    }),
  ),
  TRUST_PROXY: Type.Optional(
    List({ format: 'address-or-range' }, 'IP addresses or CIDR ranges', {
      whenUnset: 'none',
      description:
        'Proxies whose `X-Forwarded-For` the service trusts: addresses or CIDR ranges, comma-separated.',
      examples: ['10.0.0.0/8,127.0.0.1'],
    }),
  ),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      ...port,
      whenUnset: 'off',
      description: 'The port for Prometheus metrics.',
      examples: [9090],
    }),
  ),
  SHUTDOWN_DELAY_MS: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 0,
    description:
      'How many milliseconds the service continues to serve requests after a signal to stop. `GET /api/ready` already returns 503, so load balancers can send requests elsewhere.',
    examples: [5_000],
  }),
  MAINTENANCE: Text({
    description:
      'A message. While it is set, the service rejects every write with 503 `maintenance` and this message. Reads continue.',
    examples: ['Back at 14:00 UTC.'],
  }),
  MAINTENANCE_FILE: Type.Optional(
    Type.String({
      whenUnset: '`maintenance` in `DATA_DIR`',
      description:
        'A file that turns maintenance on and off while the service runs. Maintenance is on while the file exists, with its text as the message.',
      examples: ['/run/team-settings/maintenance'],
    }),
  ),
  LOG_LEVEL: StringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'The lowest level of log lines to write.',
    examples: ['warn'],
  }),
})
export type Environment = Static<typeof Environment>

export interface Variable {
  type: 'string' | 'integer' | 'boolean' | 'array'
  description: string
  examples: [string | number | boolean]
  default?: unknown
  whenUnset?: string
  secret?: boolean
  expected?: string
  /** Empty list items are kept, so that they are reported as invalid. */
  keepEmpty?: boolean
  enum?: string[]
  minimum?: number
  maximum?: number
}

/** The variables of `Environment` as plain data, by name. */
export const variables = Environment.properties as unknown as Record<keyof Environment, Variable>
