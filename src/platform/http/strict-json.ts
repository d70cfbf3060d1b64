/**
 * A strict JSON parser: one linear scan of the bytes for what `JSON.parse` would accept silently (wide or deep texts,
 * NUL, lone surrogates, numbers that lose digits), then `JSON.parse`. A reviver can't replace the scan: Node 20, the
 * oldest supported version, doesn't pass it the source text of numbers, and `JSON.parse` has already built everything by
 * then.
 */
import { isUtf8 } from 'node:buffer'

/** The reason why a text is rejected although it may be JSON. The message is for the caller. */
export class StrictJsonError extends Error {}

/** The text contains more than any legitimate one. */
export class TooManyValuesError extends StrictJsonError {}

export interface Bounds {
  /** Levels of arrays and objects. */
  depth: number
  /** Total properties and items of all objects and arrays. An empty one counts as one. */
  values: number
  /** Properties of all objects, whose names cost several times more than values. */
  properties?: number
}

/**
 * Parses JSON and rejects what wouldn't survive the round trip to the database: bytes that aren't UTF-8, NUL and lone
 * surrogates in strings, numbers that a double can't hold, `__proto__` and `constructor.prototype`, and anything that
 * exceeds the bounds. The time is linear in the length of any text.
 *
 * @throws {StrictJsonError}
 */
export const parseStrictJson = (bytes: Buffer, bounds: Bounds): unknown => {
  const canPoison = scan(bytes, bounds)
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    throw malformed()
  }
  if (canPoison) checkKeys(value)
  return value
}

export const notUtf8 = () => new StrictJsonError('The body isn’t UTF-8.')
export const tooDeep = (levels: number) =>
  new StrictJsonError(`The body is nested deeper than ${levels} levels.`)
export const tooWide = (count: number, what: 'values' | 'properties') =>
  new TooManyValuesError(`The body has more than ${count} ${what}. Send fewer at once.`)
export const containsNul = () => new StrictJsonError('A string contains NUL (\\u0000).')
export const halfSurrogate = () => new StrictJsonError('A string contains half of a surrogate pair.')
export const forbiddenKey = (key: string) => new StrictJsonError(`The key ${key} isn’t allowed.`)
export const malformed = () => new StrictJsonError('The body isn’t valid JSON.')

const codeOf = (char: string) => char.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const COLON = codeOf(':')
const COMMA = codeOf(',')
const OPEN_ARRAY = codeOf('[')
const CLOSE_ARRAY = codeOf(']')
const OPEN_OBJECT = codeOf('{')
const CLOSE_OBJECT = codeOf('}')
const MINUS = codeOf('-')
const PLUS = codeOf('+')
const POINT = codeOf('.')
const ZERO = codeOf('0')
const NINE = codeOf('9')
const LOWER_E = codeOf('e')
const UPPER_E = codeOf('E')
const LOWER_U = codeOf('u')

/**
 * One pass over the bytes before parsing. Invalid JSON may pass, because the parser comes next.
 * @returns whether the text can contain a rejected key
 */
const scan = (bytes: Buffer, bounds: Bounds): boolean => {
  const { properties: maxProperties = bounds.values } = bounds
  if (!isUtf8(bytes)) throw notUtf8()
  let canPoison = bytes.includes('__proto__') || bytes.includes('constructor')
  let depth = 0
  let values = 0
  let properties = 0
  let at = 0
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      at++
      while (at < bytes.length && bytes[at] !== QUOTE) {
        if (bytes[at] !== BACKSLASH) at++
        else if (bytes[at + 1] !== LOWER_U) at += 2
        else {
          at = checkEscape(bytes, at)
          canPoison = true
        }
      }
      at++
    } else if (byte === MINUS || isDigit(byte)) {
      at = checkNumber(bytes, at)
    } else {
      at++
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        if (++depth > bounds.depth) throw tooDeep(bounds.depth)
        values++
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
      else if (byte === COMMA) values++
      else if (byte === COLON) properties++
      if (values > bounds.values) throw tooWide(bounds.values, 'values')
      if (properties > maxProperties) throw tooWide(maxProperties, 'properties')
    }
  }
  return canPoison
}

/** @returns where the escape (`\uXXXX`, or two that make a pair) ends */
const checkEscape = (bytes: Buffer, start: number): number => {
  const unit = escapedUnit(bytes, start)
  if (Number.isNaN(unit)) throw malformed()
  if (unit === 0) throw containsNul()
  if (unit < 0xd800 || unit > 0xdfff) return start + 6
  const next = escapedUnit(bytes, start + 6)
  if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) throw halfSurrogate()
  return start + 12
}

/** NaN if there's no such escape. */
const escapedUnit = (bytes: Buffer, start: number): number =>
  bytes[start] === BACKSLASH && bytes[start + 1] === LOWER_U
    ? Number(`0x${bytes.toString('latin1', start + 2, start + 6)}`)
    : Number.NaN

/** How many significant digits any double keeps, and how many a double can keep at most. */
const SAFE_DIGITS = 15
const MAX_DIGITS = 17
/** Up to this power of ten, positive or negative, every double keeps `SAFE_DIGITS`. */
const SAFE_EXPONENT = 307

/**
 * Few numbers need a conversion. Numbers of up to 15 digits that are neither huge nor tiny are exact, and those with
 * more than 17 aren't.
 *
 * @returns where the number ends
 */
const checkNumber = (bytes: Buffer, start: number): number => {
  let at = start
  if (bytes[at] === MINUS) at++
  // The number is 0.d₁d₂… × 10^exponent, where d₁ is the first digit that isn't 0.
  let digits = 0
  let zeros = 0
  let exponent = 0
  let hasPoint = false
  for (; ; at++) {
    const byte = bytes[at] as number
    if (byte === POINT) hasPoint = true
    else if (byte >= ZERO && byte <= NINE) {
      if (byte !== ZERO) {
        digits += zeros + 1
        zeros = 0
      } else if (digits > 0) zeros++
      if (digits > 0) exponent += hasPoint ? 0 : 1
      else if (hasPoint) exponent--
    } else break
  }
  if (bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
    at++
    const sign = bytes[at] === MINUS ? -1 : 1
    if (bytes[at] === MINUS || bytes[at] === PLUS) at++
    let power = 0
    // Beyond this exponent, every number is infinite or zero.
    for (; isDigit(bytes[at]); at++) {
      power = Math.min(power * 10 + (bytes[at] as number) - ZERO, 1e9)
    }
    exponent += sign * power
  }
  const isSafe = digits === 0 || (digits <= SAFE_DIGITS && Math.abs(exponent - 1) <= SAFE_EXPONENT)
  if (!isSafe && (digits > MAX_DIGITS || !isExact(bytes.toString('latin1', start, at), exponent - 1))) {
    const literal = bytes.toString('latin1', start, Math.min(at, start + 40))
    throw new StrictJsonError(`The number ${literal} can’t be stored exactly. Send it as a string.`)
  }
  return at
}

/** @throws {StrictJsonError} for a number that a double can't hold */
export const requireExact = (literal: string): void => {
  checkNumber(Buffer.from(literal, 'latin1'), 0)
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE

/** Whether the double has the literal's digits and exponent. */
const isExact = (literal: string, exponent: number): boolean => {
  const value = Number(literal)
  if (String(value) === literal) return true
  // The digits without the zeros around them.
  const digits = (literal.split(/e/i)[0] as string).replace(/[-.]/g, '')
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const rest = digits.slice(first + 1, end)
  const wanted = `${digits[first]}${rest && '.'}${rest}e${exponent < 0 ? '' : '+'}${exponent}`
  return Math.abs(value).toExponential() === wanted
}

/** The depth has already been checked. */
const checkKeys = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) checkKeys(item)
    return
  }
  for (const key of Object.keys(value)) {
    const property = (value as Record<string, unknown>)[key]
    checkProperty(key, property)
    checkKeys(property)
  }
}

const checkProperty = (key: string, property: unknown): void => {
  const poisons =
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof property === 'object' &&
      property !== null &&
      Object.hasOwn(property, 'prototype'))
  if (poisons) throw forbiddenKey(key)
}
