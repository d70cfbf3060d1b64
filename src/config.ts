/**
 * The configuration: environment variables, read and checked once. No other module looks at `process.env`.
 */
import { isIP } from 'node:net'
import { OperatorError } from './runtime/operator-error.js'

export interface Config {
  host: string
  port: number
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined
  dataDir: string
  databasePoolSize: number
  databasePrepare: boolean
  /** The first signs, all verify. Empty only with the embedded database, which brings a generated one. */
  jwtSecrets: string[]
  /** The dashboard's origin, for OAuth. */
  siteUrl: string | undefined
  /** The service's own origin. */
  baseUrl: string
  /** Where the browser belongs: the dashboard, or the service itself where there is none. */
  homeUrl: string
  /** Origins that CORS allows with credentials: the dashboard's and further known ones. */
  dashboardOrigins: string[]
  /** Origins whose pages may change things with the cookie: the dashboards and the service itself. */
  trustedOrigins: string[]
  extensionPrefix: string
  repohost: {
    url: string
    apiUrl: string
    clientId: string | undefined
    clientSecret: string | undefined
    /** OAuth apps whose tokens `/auth/verify` accepts; undefined: all. */
    allowedClientIds: string[] | undefined
  }
  adminKeys: string[]
  billing: {
    secretKey: string | undefined
    webhookSecret: string | undefined
    apiUrl: string | undefined
    priceMonth: string | undefined
    priceYear: string | undefined
    /** Dormant: everybody has Pro. */
    dormant: boolean
  }
  assistants: { a: string; b: string }
  funnelSteps: string[]
  activityDetailDays: number
  rateLimits: boolean
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  trustProxy: string[] | undefined
  metricsPort: number | undefined
  logLevel: string
}

/** All that is wrong with the environment, in one message that never contains a value. */
export class ConfigError extends OperatorError {
  constructor(readonly problems: string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}

const slug = /^[a-z][a-z0-9_.-]{0,63}$/
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** @throws {ConfigError} naming every wrong variable at once. */
export const readConfig = (
  env: Record<string, string | undefined>,
  /** False for commands that sign nothing. */
  { needsSecrets = true } = {},
): Config => {
  const problems: string[] = []
  const get = (name: string) => env[name]?.trim() || undefined
  /** Reads one variable; `parse` returns undefined for what it does not accept. */
  const read = <T>(
    name: string,
    fallback: T,
    expected: string,
    parse: (text: string) => T | undefined,
  ): T => {
    const text = get(name)
    if (text === undefined) return fallback
    const value = parse(text)
    if (value === undefined) problems.push(`${name} must be ${expected}`)
    return value ?? fallback
  }
  const integer = <T>(name: string, fallback: T, min: number, max: number) =>
    read<number | T>(name, fallback, `a whole number from ${min} to ${max}`, (text) => {
      const value = Number(text)
      return /^[0-9]{1,9}$/.test(text) && value >= min && value <= max ? value : undefined
    })
  const choice = <T>(name: string, fallback: T, choices: Record<string, T>) =>
    read(name, fallback, `one of ${Object.keys(choices).join(', ')}`, (text) =>
      Object.hasOwn(choices, text) ? choices[text] : undefined,
    )
  const list = (name: string, expected: string, accepts: (item: string) => boolean) =>
    read<string[] | undefined>(name, undefined, `a comma-separated list of ${expected}`, (text) => {
      const items = text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
      return items.length > 0 && items.every(accepts) ? items : undefined
    })
  const origin = (name: string) =>
    read<string | undefined>(name, undefined, 'an origin such as https://example.com', toOrigin)
  const url = <T>(name: string, fallback: T) =>
    read<string | T>(name, fallback, 'an http or https URL without query, fragment or user', toBaseUrl)

  const host = read('HOST', '127.0.0.1', 'a host name or an address', (text) =>
    isIP(text) || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) ? text : undefined,
  )
  const port = integer('PORT', 3000, 1, 65_535)
  const databaseUrl = read<string | undefined>('DATABASE_URL', undefined, 'a postgres:// URL', (text) =>
    /^postgres(ql)?:$/.test(parseUrl(text)?.protocol ?? '') ? text : undefined,
  )
  const jwtSecrets = (get('JWT_SECRETS') ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
  if (jwtSecrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    problems.push('JWT_SECRETS must be comma-separated secrets of at least 32 bytes each')
  }
  if (needsSecrets && databaseUrl !== undefined && jwtSecrets.length === 0) {
    problems.push(
      'JWT_SECRETS is required with DATABASE_URL: every instance must verify what another one signed',
    )
  }

  const siteUrl = origin('SITE_URL')
  const wildcard = host === '0.0.0.0' || host === '::'
  const named = wildcard ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host
  const ownDefault = `http://${named}:${port}`
  const configuredBase = origin('BASE_URL')
  const baseUrl = configuredBase ?? toOrigin(ownDefault) ?? ownDefault
  const dashboards = (list('DASHBOARD_ORIGINS', 'origins', (item) => toOrigin(item) !== undefined) ?? []).map(
    (item) => toOrigin(item) ?? item,
  )
  const dashboardOrigins = [...new Set([...(siteUrl ? [siteUrl] : []), ...dashboards])]
  // On a laptop the same page is reached under both names.
  const loopback = wildcard || ['127.0.0.1', '::1', 'localhost'].includes(host)
  const aliases =
    configuredBase === undefined && loopback ? [`http://localhost:${port}`, `http://127.0.0.1:${port}`] : []

  const clientId = get('REPOHOST_CLIENT_ID')
  const clientSecret = get('REPOHOST_CLIENT_SECRET')
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    problems.push('REPOHOST_CLIENT_ID and REPOHOST_CLIENT_SECRET must be set together')
  }

  const config: Config = {
    host,
    port,
    databaseUrl,
    dataDir: get('DATA_DIR') ?? '.data',
    databasePoolSize: integer('DATABASE_POOL_SIZE', 10, 1, 1_000),
    databasePrepare: choice('DATABASE_PREPARE', true, { true: true, false: false }),
    jwtSecrets,
    siteUrl,
    baseUrl,
    homeUrl: siteUrl ?? baseUrl,
    dashboardOrigins,
    trustedOrigins: [...new Set([...dashboardOrigins, baseUrl, ...aliases])],
    extensionPrefix: read('EXTENSION_PREFIX', 'ext', '1 to 50 letters, digits, - or _', (text) =>
      /^[A-Za-z0-9_-]{1,50}$/.test(text) ? text : undefined,
    ),
    repohost: {
      url: url('REPOHOST_URL', 'https://github.com'),
      apiUrl: url('REPOHOST_API_URL', 'https://api.github.com'),
      clientId,
      clientSecret,
      allowedClientIds: list('REPOHOST_ALLOWED_CLIENT_IDS', 'OAuth client ids', () => true),
    },
    adminKeys: list('ADMIN_KEYS', 'keys', () => true) ?? [],
    billing: {
      secretKey: get('BILLING_SECRET_KEY'),
      webhookSecret: get('BILLING_WEBHOOK_SECRET'),
      apiUrl: url('BILLING_API_URL', undefined),
      priceMonth: get('BILLING_PRICE_MONTH'),
      priceYear: get('BILLING_PRICE_YEAR'),
      dormant: choice('BILLING_DORMANT', true, { true: true, false: false }),
    },
    assistants: {
      a: url('ASSISTANT_A_URL', 'https://api.openai.com'),
      b: url('ASSISTANT_B_URL', 'https://api.anthropic.com'),
    },
    funnelSteps: list('FUNNEL_STEPS', 'different event names', (item) => slug.test(item)) ?? [
      'signed_in',
      'settings_pushed',
      'workspace_created',
      'workspace_joined',
      'activity_flushed',
    ],
    activityDetailDays: integer('ACTIVITY_DETAIL_DAYS', 400, 31, 36_500),
    rateLimits: choice('RATE_LIMITS', true, { on: true, off: false }),
    trustProxy: list('TRUST_PROXY', 'IP addresses or CIDR ranges', isAddressOrRange),
    metricsPort: integer('METRICS_PORT', undefined, 1, 65_535),
    logLevel: read('LOG_LEVEL', 'info', `one of ${logLevels.join(', ')}`, (text) =>
      logLevels.includes(text) ? text : undefined,
    ),
  }
  if (new Set(config.funnelSteps).size !== config.funnelSteps.length) {
    problems.push('FUNNEL_STEPS must be a comma-separated list of different event names')
  }
  if (config.metricsPort === config.port) problems.push('METRICS_PORT must be another one than PORT')
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

const toBaseUrl = (text: string): string | undefined => {
  const url = parseUrl(text)
  const plain =
    url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password
  return plain ? url.href.replace(/\/+$/, '') : undefined
}

const toOrigin = (text: string): string | undefined => {
  const url = parseUrl(text)
  return toBaseUrl(text) !== undefined && url?.pathname === '/' ? url.origin : undefined
}

const isAddressOrRange = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
