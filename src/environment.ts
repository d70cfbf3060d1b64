/**
 * The environment variables, converted to their types and checked one by one. `config.ts` combines them into the
 * configuration.
 */

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { Ajv } from 'ajv'
import { Environment, type Variable, variables } from '../schemas/environment.js'
import { type RateLimitName, rateLimits } from '../schemas/limits.js'
import {
  hasKnownAuthentication,
  hasKnownTlsParameters,
  hasUnescapedPassword,
  withFirstHost,
} from './platform/database/url.js'
import { hostKinds } from './platform/hosts/index.js'
import { lazy } from './platform/process/async.js'
import { codeOf } from './platform/process/code-of.js'
import { nearestTo } from './platform/process/spelling.js'

/** The variables, converted to their types. `problems` lists invalid ones. */
export const readEnvironment = (env: Record<string, string | undefined>) => {
  const given: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, variable] of Object.entries(variables)) {
    try {
      const text = readVariable(env, name, variable)
      if (text !== undefined) given[name] = toValue(variable, text)
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  const validate = validator()
  validate(given)
  const wrong = new Set(validate.errors?.map(({ instancePath }) => instancePath.split('/')[1] ?? ''))
  for (const name of wrong) {
    problems.push(`${name} ${problemOf(name, String(given[name]))}`)
  }
  return { values: given as Environment, problems }
}

/** Explains what is wrong with a variable's value, as the rest of a sentence. */
const problemOf = (name: string, text: string): string => {
  if (/^(["']).*\1$/s.test(text)) return 'must have no quotes around it: they are part of the value here'
  if (urlsWithPassword.includes(name) && hasUnescapedPassword(text))
    return 'contains a user or password with a character that has a meaning in URLs: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25'
  const url = name === 'DATABASE_URL' ? parseUrl(withFirstHost(text)) : undefined
  if (url && !hasKnownTlsParameters(url))
    return 'has a parameter for TLS that isn’t known: write sslmode=disable, allow, prefer, require, verify-ca or verify-full'
  if (url && /^postgres/.test(url.protocol) && !hasKnownAuthentication(url))
    return 'must be a postgres:// URL whose require_auth lists only password, md5, scram-sha-256 and none'
  const misspelt = name === 'LIMITS' ? misspeltLimit(text) : ''
  return `must be ${expectedOf(name)}${misspelt}`
}

/** The first name that isn't a limit's, and the nearest one that is. */
const misspeltLimit = (text: string): string => {
  const names = Object.keys(rateLimits)
  for (const [, name = ''] of text.matchAll(/(?<=^|,)([A-Za-z_]{1,60})=/g)) {
    if (names.includes(name)) continue
    const meant = nearestTo(
      name,
      names.map((known) => known.toUpperCase()),
    )
    return `; ${name} is no limit${meant === undefined ? '' : `, did you mean ${meant.toLowerCase()}?`}`
  }
  return ''
}

/**
 * The value of a variable or of the file that it names. Empty counts as unset. @throws {Error} with a message to show
 */
const readVariable = (
  env: Record<string, string | undefined>,
  name: string,
  { secret }: Variable,
): string | undefined => {
  const text = env[name]?.trim() || undefined
  const file = secret ? env[`${name}_FILE`]?.trim() : undefined
  if (!file) return text
  if (text !== undefined) throw new Error(`${name} and ${name}_FILE must not both be set`)
  try {
    const content = readFileSync(file, 'utf8').trim()
    if (content !== '') return content
  } catch (error) {
    throw new Error(`${name}_FILE must name a file that can be read (${codeOf(error)})`)
  }
  throw new Error(`${name}_FILE must name a file that isn’t empty`)
}

const toValue = ({ type, keepEmpty }: Variable, text: string): unknown => {
  // Text that isn't a number or boolean stays as it is, and the validator rejects it.
  if (type === 'integer') return /^[0-9]{1,9}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  if (type !== 'array') return text
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => keepEmpty || item !== '')
}

const urlsWithPassword = ['DATABASE_URL', 'REDIS_URL']

const expectedOf = (name: string): string => {
  const variable = variables[name as keyof Environment]
  if (variable.expected !== undefined) return variable.expected
  if (variable.type === 'integer') return `a whole number from ${variable.minimum} to ${variable.maximum}`
  return `one of ${(variable.enum ?? [true, false]).join(', ')}`
}

const validator = lazy(() => {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    validateSchema: false,
    meta: false,
    // The validator runs once, so optimizing its code doesn't pay off.
    code: { optimize: false },
  })
  ajv.addVocabulary(['expected', 'keepEmpty', 'whenUnset', 'secret'])
  const formats: Record<string, (text: string) => boolean> = {
    host: (text) => isIP(text) > 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text),
    'postgres-url': isPostgresUrl,
    'redis-url': isRedisUrl,
    'base-url': isBaseUrl,
    'former-host': (text) => isHostKind(text) || isBaseUrl(text),
    origin: (text) => isBaseUrl(text) && parseUrl(text)?.pathname === '/',
    secret: (text) => Buffer.byteLength(text) >= 32,
    'address-or-range': isAddressOrRange,
    limit: (text) => limitOf(text) !== undefined,
  }
  for (const [name, accepts] of Object.entries(formats)) ajv.addFormat(name, accepts)
  return ajv.compile(Environment)
})

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

export const isHostKind = (text: string): boolean => Object.hasOwn(hostKinds, text)

const isBaseUrl = (text: string): boolean => {
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return !url.search && !url.hash && !url.username && !url.password
}

const isPostgresUrl = (text: string): boolean => {
  const url = parseUrl(withFirstHost(text))
  return (
    url !== undefined &&
    /^postgres(ql)?:$/.test(url.protocol) &&
    isDecodable(text) &&
    !hasUnescapedPassword(text) &&
    hasKnownAuthentication(url) &&
    hasKnownTlsParameters(url)
  )
}

/** A valid URL can contain a `%` that encodes nothing, which no driver can read. */
const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const isRedisUrl = (text: string): boolean => {
  const url = parseUrl(text)
  return (
    url !== undefined &&
    /^rediss?:$/.test(url.protocol) &&
    /^(\/[0-9]{0,5})?$/.test(url.pathname) &&
    isDecodable(text) &&
    !hasUnescapedPassword(text)
  )
}

/** Reads `name=number`. Undefined for other text. */
export const limitOf = (text: string): [name: RateLimitName, max: number] | undefined => {
  const [, name = '', max] = /^([a-z_]+)=([1-9][0-9]{0,8})$/.exec(text) ?? []
  return Object.hasOwn(rateLimits, name) ? [name as RateLimitName, Number(max)] : undefined
}

const isAddressOrRange = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
