/** The service's configuration: environment variables, read and checked once by the program that starts. */

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import type { PrivacyLevel, RepohostKind } from '../schemas/common.js'
import { isDeniedWhole } from '../schemas/denied-settings.js'
import { type Environment, variables } from '../schemas/environment.js'
import { type AdjustedLimits, limits, type RateLimitName, rateLimits } from '../schemas/limits.js'
import { ANY_PREFIX, type SettingsKeyRules } from '../schemas/settings-keys.js'
import { isHostKind, limitOf, readEnvironment } from './environment.js'
import { hostKinds } from './platform/hosts/index.js'
import { codeOf } from './platform/process/code-of.js'
import { ConfigError } from './platform/process/config-error.js'
import { nearestTo } from './platform/process/spelling.js'
import {
  readSettingsSchema,
  SchemaError,
  type SchemaFile,
  type SettingsRules,
} from './platform/settings-schema/read.js'

export interface Config {
  host: string
  port: number
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined
  dataDir: string
  /** The folder for daily backups, and how many to keep. Undefined: the service makes none. */
  backups: { folder: string | undefined; keep: number }
  databasePoolSize: number
  databasePrepare: boolean
  /**
   * The first secret signs tokens, and every secret verifies them. Empty only with the embedded database,
   * which generates one.
   */
  jwtSecrets: string[]
  /** The dashboard's origin, for OAuth. */
  siteUrl: string | undefined
  /** The service's own origin. */
  baseUrl: string
  /** False: it follows from HOST and PORT. */
  isBaseUrlSet: boolean
  /** The dashboard's URL, or the service's own if there's no dashboard. */
  homeUrl: string
  /** Origins that CORS allows with credentials: the dashboard's and further known ones. */
  dashboardOrigins: string[]
  /** Origins whose pages may make changes with the cookie: the dashboards and the service itself. */
  trustedOrigins: string[]
  /** Whether the service shows its own dashboard. */
  dashboard: boolean
  /** The first prefix of settings keys, which examples show. */
  extensionPrefix: string
  settingsKeys: SettingsKeyRules
  /** Where people install the extension. */
  extensionUrl: string | undefined
  /** The settings schema, and whether settings that don't match are rejected. Undefined: anything is accepted. */
  settingsRules: SettingsRules | undefined
  repohost: {
    kind: RepohostKind
    url: string
    apiUrl: string
    clientId: string | undefined
    clientSecret: string | undefined
    /** OAuth apps whose tokens `/auth/verify` accepts; undefined: all. */
    allowedClientIds: string[] | undefined
    /** Scopes that the sign-in page asks for, besides the one that the kind of host requires. */
    scopes: string[]
    /** The host's former address, if the operator says that it has moved. */
    movedFrom: string | undefined
  }
  /** New webhook secrets come from the first key, and all keys' secrets work. Empty: no webhook can be created. */
  webhookKeys: string[]
  adminKeys: string[]
  billing: {
    secretKey: string | undefined
    webhookSecret: string | undefined
    apiUrl: string | undefined
    priceMonth: string | undefined
    priceYear: string | undefined
    /** While billing is dormant, everyone has Pro. */
    dormant: boolean
  }
  assistants: { a: string; b: string }
  funnelSteps: string[]
  activityDetailDays: number
  privacy: {
    /** No workspace can have a looser level. */
    floor: PrivacyLevel
    /** The fewest people that a number may cover at the level `team`. */
    minGroup: number
  }
  rateLimits: boolean
  /** The Redis in which instances share their rate limits. */
  redisUrl: string | undefined
  /** Keyed by the names in `GET /api/limits`. */
  limits: AdjustedLimits
  /** Addresses and ranges without rate limits. */
  exemptAddresses: string[]
  /** A message that turns maintenance on at startup, and the file that toggles it later. */
  maintenance: { message: string | undefined; file: string }
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: string[] | undefined
  metricsPort: number | undefined
  /** How many milliseconds the service keeps serving after a signal to stop. */
  shutdownDelayMs: number
  logLevel: string
  /** Variables that have no effect. They don't prevent startup. */
  warnings: { message: string; remedy: string }[]
}

/** @throws {ConfigError} naming every wrong variable at once. */
export const readConfig = (
  env: Record<string, string | undefined>,
  /** False for commands that sign nothing. */
  { needsSecrets = true } = {},
): Config => {
  const { values, problems } = readEnvironment(env)
  const together = [values.REPOHOST_CLIENT_ID, values.REPOHOST_CLIENT_SECRET]
  if (together.filter((value) => value !== undefined).length === 1) {
    problems.push('REPOHOST_CLIENT_ID and REPOHOST_CLIENT_SECRET must be set together')
  }
  if (needsSecrets && values.DATABASE_URL !== undefined && !values.JWT_SECRETS?.length) {
    problems.push(
      'JWT_SECRETS is required with DATABASE_URL: set the same secret for every instance, created with openssl rand -base64 48 (after a move from the embedded database, use the content of DATA_DIR/jwt-secret)',
    )
  }
  if (values.METRICS_PORT === values.PORT) problems.push('METRICS_PORT must differ from PORT')
  const keys: SettingsKeyRules = {
    prefixes: values.EXTENSION_PREFIX,
    denied: values.SETTINGS_DENIED,
    allowed: values.SETTINGS_ALLOWED,
    restricted: [],
    described: [],
  }
  if (isDeniedWhole(keys.denied, keys.prefixes[0] ?? ''))
    problems.push(
      `EXTENSION_PREFIX must start with the prefix of your own extension: SETTINGS_DENIED denies all of ${keys.prefixes[0]}.*`,
    )
  if (keys.prefixes.slice(0, -1).includes(ANY_PREFIX) || keys.prefixes[0] === ANY_PREFIX)
    problems.push('EXTENSION_PREFIX must have * as its last prefix, after the one of your own extension')
  const rules = readSettingsRules(values, keys, problems)
  // An unknown kind is already among the problems, so any kind will do here.
  const isKind = Object.hasOwn(hostKinds, values.REPOHOST_KIND)
  const { name, defaultUrl, apiUrlOf, appOfToken } = hostKinds[isKind ? values.REPOHOST_KIND : 'github']
  const repohostUrl = values.REPOHOST_URL ?? defaultUrl
  if (repohostUrl === undefined) problems.push(`REPOHOST_URL is required: every ${name} has its own address`)
  if (values.REPOHOST_ALLOWED_CLIENT_IDS && appOfToken === undefined)
    problems.push(
      `REPOHOST_ALLOWED_CLIENT_IDS can’t be used with REPOHOST_KIND=${values.REPOHOST_KIND}: ${name} doesn’t say which OAuth app a token was made for`,
    )
  const misspelt = misspeltOf(env)
  if (problems.length > 0 || repohostUrl === undefined)
    throw new ConfigError([...problems, ...misspelt.map(({ message, remedy }) => `${message} ${remedy}`)])
  const url = withoutSlash(repohostUrl)
  return {
    host: values.HOST,
    port: values.PORT,
    databaseUrl: values.DATABASE_URL,
    dataDir: values.DATA_DIR,
    backups: { folder: values.BACKUP_DIR, keep: values.BACKUP_KEEP },
    databasePoolSize: values.DATABASE_POOL_SIZE,
    databasePrepare: values.DATABASE_PREPARE,
    jwtSecrets: values.JWT_SECRETS ?? [],
    ...originsOf(values),
    dashboard: values.DASHBOARD === 'on',
    extensionPrefix: keys.prefixes[0] ?? '',
    settingsKeys: { ...keys, restricted: rules.restricted, described: rules.described },
    extensionUrl: values.EXTENSION_URL,
    settingsRules: rules.settingsRules,
    repohost: {
      kind: values.REPOHOST_KIND,
      url,
      // People's tokens must go to no other host than the one that they sign in at.
      apiUrl: withoutSlash(values.REPOHOST_API_URL ?? apiUrlOf(url)),
      clientId: values.REPOHOST_CLIENT_ID,
      clientSecret: values.REPOHOST_CLIENT_SECRET,
      scopes: values.REPOHOST_SCOPES ?? [],
      allowedClientIds: values.REPOHOST_ALLOWED_CLIENT_IDS,
      movedFrom:
        values.REPOHOST_MOVED &&
        (isHostKind(values.REPOHOST_MOVED) ? values.REPOHOST_MOVED : withoutSlash(values.REPOHOST_MOVED)),
    },
    webhookKeys: values.WEBHOOK_KEYS ?? [],
    adminKeys: values.ADMIN_KEYS ?? [],
    billing: {
      secretKey: values.BILLING_SECRET_KEY,
      webhookSecret: values.BILLING_WEBHOOK_SECRET,
      apiUrl: values.BILLING_API_URL && withoutSlash(values.BILLING_API_URL),
      priceMonth: values.BILLING_PRICE_MONTH,
      priceYear: values.BILLING_PRICE_YEAR,
      dormant: values.BILLING_DORMANT,
    },
    assistants: { a: withoutSlash(values.ASSISTANT_A_URL), b: withoutSlash(values.ASSISTANT_B_URL) },
    funnelSteps: values.FUNNEL_STEPS,
    activityDetailDays: values.ACTIVITY_DETAIL_DAYS,
    privacy: { floor: values.ACTIVITY_PRIVACY_FLOOR, minGroup: values.ACTIVITY_MIN_GROUP },
    rateLimits: values.RATE_LIMITS === 'on',
    redisUrl: values.REDIS_URL,
    limits: limitsOf(values),
    exemptAddresses: values.LIMIT_EXEMPT ?? [],
    maintenance: {
      message: values.MAINTENANCE,
      file: values.MAINTENANCE_FILE ?? join(values.DATA_DIR, 'maintenance'),
    },
    trustProxy: values.TRUST_PROXY,
    metricsPort: values.METRICS_PORT,
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
    logLevel: values.LOG_LEVEL,
    warnings: [...warningsOf(env), ...misspelt, ...rules.warnings],
  }
}

/** Variables of earlier versions, with their replacements. */
const removedVariables: Record<string, { message: string; remedy: string }> = {
  WORKERS: {
    message: 'WORKERS is no longer used: the service runs as one process.',
    remedy:
      'Remove WORKERS. To use more processors, run more instances (docs/run.md, “Several instances on one machine”).',
  },
  DATABASE_REPLICA_URL: {
    message: 'DATABASE_REPLICA_URL is no longer used: all reads go to DATABASE_URL.',
    remedy: 'Remove DATABASE_REPLICA_URL.',
  },
  ...Object.fromEntries(
    Object.keys(rateLimits).map((limit) => {
      const name = `LIMIT_${limit.toUpperCase()}`
      return [name, { message: `${name} is no longer used.`, remedy: `Set LIMITS=${limit}=… instead.` }]
    }),
  ),
}

const warningsOf = (env: Record<string, string | undefined>): Config['warnings'] =>
  Object.entries(removedVariables).flatMap(([name, warning]) => {
    const isSet = [env[name], env[`${name}_FILE`]].some((value) => value?.trim())
    // `WORKERS=1` was the default, and changes nothing.
    return isSet && !(name === 'WORKERS' && env[name]?.trim() === '1') ? [warning] : []
  })

const knownNames = Object.entries(variables).flatMap(([name, { secret }]) =>
  secret ? [name, `${name}_FILE`] : [name],
)

/** Variables whose names are close to one of ours. The environment also has other programs' variables. */
const misspeltOf = (env: Record<string, string | undefined>): Config['warnings'] =>
  Object.keys(env).flatMap((name) => {
    const meant = Object.hasOwn(removedVariables, name.replace(/_FILE$/, ''))
      ? undefined
      : nearestTo(name, knownNames)
    return meant === undefined
      ? []
      : [{ message: `${name} isn’t a variable of the service.`, remedy: `Did you mean ${meant}?` }]
  })

const limitsOf = ({ LIMITS = [] }: Environment): AdjustedLimits => ({
  ...(Object.fromEntries(
    (Object.keys(rateLimits) as RateLimitName[]).map((name) => [name, limits[name]]),
  ) as AdjustedLimits),
  ...Object.fromEntries(LIMITS.flatMap((text) => [limitOf(text) ?? []])),
})

const SCHEMA_BYTES = 4 * 2 ** 20

interface SchemaRead {
  settingsRules: SettingsRules | undefined
  /** Keys that the files restrict, and keys that they describe. */
  restricted: string[]
  described: string[]
  warnings: Config['warnings']
}

/** Reads the files listed in `SETTINGS_SCHEMA`, and adds their faults to `problems`. */
const readSettingsRules = (
  { SETTINGS_SCHEMA: names, SETTINGS_VALIDATION }: Environment,
  keys: SettingsKeyRules,
  problems: string[],
): SchemaRead => {
  const none = { settingsRules: undefined, restricted: [], described: [], warnings: [] }
  const enforced = SETTINGS_VALIDATION === 'enforce'
  if (names === undefined) {
    if (enforced)
      problems.push(
        'SETTINGS_VALIDATION=enforce must be set together with SETTINGS_SCHEMA: it has no effect on its own',
      )
    return none
  }
  try {
    const read = readSettingsSchema(names.map(readSchemaFile), keys)
    const { schema, warnings } = read
    const remedy = 'Everything else is checked and shown.'
    const settingsRules = { schema, enforced }
    return { ...read, settingsRules, warnings: warnings.map((message) => ({ message, remedy })) }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    problems.push(`SETTINGS_SCHEMA: ${error.message}`)
    return none
  }
}

/** @throws {SchemaError} */
const readSchemaFile = (name: string): SchemaFile => {
  const text = readText(name)
  if (Buffer.byteLength(text) > SCHEMA_BYTES)
    throw new SchemaError(`${name} is larger than ${SCHEMA_BYTES} bytes`)
  const translations = join(dirname(name), 'package.nls.json')
  return { name, text, texts: existsSync(translations) ? readText(translations) : undefined }
}

/** @throws {SchemaError} */
const readText = (name: string): string => {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    throw new SchemaError(`${name} can’t be read (${codeOf(error)})`)
  }
}

const originsOf = ({ HOST, PORT, SITE_URL, BASE_URL, DASHBOARD_ORIGINS = [] }: Environment) => {
  const siteUrl = SITE_URL && toOrigin(SITE_URL)
  const wildcard = HOST === '0.0.0.0' || HOST === '::'
  const named = wildcard ? 'localhost' : isIP(HOST) === 6 ? `[${HOST}]` : HOST
  const baseUrl = toOrigin(BASE_URL ?? `http://${named}:${PORT}`)
  const dashboardOrigins = [...new Set([...(siteUrl ? [siteUrl] : []), ...DASHBOARD_ORIGINS.map(toOrigin)])]
  // On a laptop, the same page is available under both names.
  const loopback = wildcard || ['127.0.0.1', '::1', 'localhost'].includes(HOST)
  const aliases =
    BASE_URL === undefined && loopback ? [`http://localhost:${PORT}`, `http://127.0.0.1:${PORT}`] : []
  return {
    siteUrl,
    baseUrl,
    isBaseUrlSet: BASE_URL !== undefined,
    homeUrl: siteUrl ?? baseUrl,
    dashboardOrigins,
    trustedOrigins: [...new Set([...dashboardOrigins, baseUrl, ...aliases])],
  }
}

const withoutSlash = (url: string): string => new URL(url).href.replace(/\/+$/, '')

const toOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)
