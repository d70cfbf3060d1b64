/**
 * A strict JSON parser on top of `JSON.parse`, in two passes. The first scans the bytes for what `JSON.parse` would accept
 * silently: wide or deep texts, NUL, lone surrogates, and numbers that lose digits. The second calls `JSON.parse` on pieces of
 * limited length, so that a long body does not block the event loop. A reviver cannot replace it: Node 20, the oldest
 * supported version, does not pass it the source text of numbers, and `JSON.parse` has already built everything by then.
 */
import { isUtf8 } from 'node:buffer'

/** Why a text is rejected although it may be JSON. The message is for the caller. */
export class StrictJsonError extends Error {}

/** There is more in the text than in any that is of use. */
export class TooManyValuesError extends StrictJsonError {}

export interface Bounds {
  /** Levels of arrays and objects. */
  depth: number
  /** Members and items of all objects and arrays together; an empty one counts as if it had one. */
  values: number
  /** Bytes of a string, of a number, and of the blanks between two values: each is read without a pause. */
  token?: number
}

/**
 * Parses JSON and rejects what would not survive the way to the database and back: bytes that are not UTF-8, NUL and
 * lone surrogates in strings, numbers that a double cannot hold, `__proto__` and `constructor.prototype`, and what is
 * beyond the bounds. The time is linear in the length of any text.
 *
 * @throws {StrictJsonError}
 */
export const parseStrictJson = (bytes: Buffer, bounds: Bounds): unknown => {
  const steps = parseStrictJsonInSteps(bytes, bounds, Number.POSITIVE_INFINITY)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/**
 * The same in steps of a few milliseconds, so that the caller can do other work in between: `JSON.parse` alone takes
 * 100 ms for a mebibyte of objects that have a key of their own each.
 *
 * @param pieceBytes about the length of what is read in one step
 * @throws {StrictJsonError}
 */
export function* parseStrictJsonInSteps(
  bytes: Buffer,
  bounds: Bounds,
  pieceBytes = 32_768,
): Generator<undefined, unknown> {
  const { canPoison, ends } = yield* scan(bytes, bounds, pieceBytes)
  if (ends.size === 0) return parseText(bytes.toString(), canPoison)
  const start = skipBlanks(bytes, 0)
  const end = ends.get(start)
  if (end === undefined || skipBlanks(bytes, end) < bytes.length) throw malformed()
  return yield* parseLarge({ bytes, canPoison, ends, pieceBytes }, start)
}

const malformed = () => new StrictJsonError('The body is not valid JSON.')

const parseText = (text: string, canPoison: boolean): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed()
  }
  if (canPoison) checkKeys(value)
  return value
}

interface Large extends Scanned {
  bytes: Buffer
  pieceBytes: number
}

/** Parses an array or object that is longer than a piece, as many whole members at once as make a piece. */
function* parseLarge(large: Large, start: number): Generator<undefined, unknown> {
  const { bytes, canPoison, ends, pieceBytes } = large
  const last = (ends.get(start) as number) - 1
  const isArray = bytes[start] === OPEN_ARRAY
  if (bytes[last] !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) throw malformed()
  const items: unknown[] = []
  const members: Record<string, unknown> = {}
  const add = (text: string) => {
    if (isArray) for (const item of parseText(`[${text}]`, canPoison) as unknown[]) items.push(item)
    else Object.assign(members, parseText(`{${text}}`, canPoison))
  }

  let pieceStart = start + 1
  let memberStart = pieceStart
  let depth = 0
  let at = pieceStart
  for (;;) {
    const byte = bytes[at]
    const end = isOpening(byte) ? ends.get(at) : undefined
    if (end !== undefined) {
      const value = yield* parseLarge(large, at)
      // Zero stands in its place, so that the parser judges what is before it.
      add(`${bytes.toString('utf8', pieceStart, at)}0`)
      if (isArray) items[items.length - 1] = value
      else {
        const member = JSON.parse(`{${bytes.toString('utf8', memberStart, at)}0}`)
        const key = Object.keys(member)[0] as string
        if (canPoison) checkMember(key, value)
        members[key] = value
      }
      at = skipBlanks(bytes, end)
      if (at === last) return isArray ? items : members
      if (bytes[at] !== COMMA) throw malformed()
      memberStart = pieceStart = ++at
    } else if (at === last || (byte === COMMA && depth === 0 && at - pieceStart >= pieceBytes)) {
      // Nothing but blanks is an array or object without members, and anywhere else a comma too many.
      const isNothing = skipBlanks(bytes, pieceStart) === at
      if (isNothing && (at !== last || pieceStart !== start + 1)) throw malformed()
      add(bytes.toString('utf8', pieceStart, at))
      yield
      if (at === last) return isArray ? items : members
      memberStart = pieceStart = ++at
    } else if (byte === QUOTE) at = skipString(bytes, at)
    else {
      if (isOpening(byte)) depth++
      else if (isClosing(byte)) depth--
      at++
      if (byte === COMMA && depth === 0) memberStart = at
    }
  }
}

const isOpening = (byte: number | undefined) => byte === OPEN_ARRAY || byte === OPEN_OBJECT
const isClosing = (byte: number | undefined) => byte === CLOSE_ARRAY || byte === CLOSE_OBJECT

const isBlank = (byte: number | undefined) =>
  byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB

const skipBlanks = (bytes: Buffer, start: number): number => {
  let at = start
  while (isBlank(bytes[at])) at++
  return at
}

const skipString = (bytes: Buffer, start: number): number => {
  let at = start + 1
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}

const codeOf = (char: string) => char.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const COMMA = codeOf(',')
const SPACE = codeOf(' ')
const TAB = codeOf('\t')
const LINE_FEED = codeOf('\n')
const CARRIAGE_RETURN = codeOf('\r')
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

interface Scanned {
  /** Whether the text can contain a rejected key. */
  canPoison: boolean
  /** The ends of arrays and objects that are longer than a piece, by their starts. */
  ends: Map<number, number>
}

/** Bytes that are checked or searched in one step. */
const STEP_BYTES = 1_048_576

/** @returns whether the text can contain a rejected key */
function* requireUtf8(bytes: Buffer): Generator<undefined, boolean> {
  let canPoison = false
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + STEP_BYTES, bytes.length)
    // A character has at most three bytes after its first one.
    for (let rest = 0; rest < 3 && isContinuation(bytes[to]); rest++) to++
    if (!isUtf8(bytes.subarray(from, to))) throw new StrictJsonError('The body is not UTF-8.')
    const piece = bytes.subarray(from, to + LONGEST_POISON)
    canPoison ||= piece.includes('__proto__') || piece.includes('constructor')
    from = to
    if (from < bytes.length) yield
  }
  return canPoison
}

const LONGEST_POISON = 'constructor'.length
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** One pass over the bytes before parsing. Invalid JSON may pass, because the parser comes next. */
function* scan(bytes: Buffer, bounds: Bounds, pieceBytes: number): Generator<undefined, Scanned> {
  const hasPoison = yield* requireUtf8(bytes)
  const { token = Number.POSITIVE_INFINITY } = bounds
  const opened: number[] = []
  const ends = new Map<number, number>()
  let values = 0
  let hasEscapes = false
  let at = 0
  let pauseAt = pieceBytes
  while (at < bytes.length) {
    if (at >= pauseAt) {
      yield
      pauseAt = at + pieceBytes
    }
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      const start = at++
      const last = Math.min(bytes.length, start + token)
      while (at < last && bytes[at] !== QUOTE) {
        if (bytes[at] !== BACKSLASH) at++
        else if (bytes[at + 1] !== LOWER_U) at += 2
        else {
          at = checkEscape(bytes, at)
          hasEscapes = true
        }
      }
      if (at < bytes.length && bytes[at] !== QUOTE) throw tooLong(token)
      at++
    } else if (byte === MINUS || isDigit(byte)) {
      at = checkNumber(bytes, at, token)
    } else if (isBlank(byte) && token < bytes.length) {
      const last = at + token
      at = skipBlanks(bytes.subarray(0, last), at)
      if (at === last) throw tooLong(token)
    } else {
      at++
      if (isOpening(byte)) {
        opened.push(at - 1)
        if (opened.length > bounds.depth)
          throw new StrictJsonError(`The body is nested deeper than ${bounds.depth} levels.`)
        values++
      } else if (isClosing(byte)) {
        const start = opened.pop()
        if (start !== undefined && at - start > pieceBytes) ends.set(start, at)
      } else if (byte === COMMA) values++
      if (values > bounds.values)
        throw new TooManyValuesError(`The body has more than ${bounds.values} values. Send fewer at once.`)
    }
  }
  return { canPoison: hasPoison || hasEscapes, ends }
}

const tooLong = (most: number) =>
  new StrictJsonError(`The body has a value or blanks of more than ${most} bytes.`)

/** @returns where the escape (`\uXXXX`, or two that make a pair) ends */
const checkEscape = (bytes: Buffer, start: number): number => {
  const unit = escapedUnit(bytes, start)
  if (Number.isNaN(unit)) throw malformed()
  if (unit === 0) throw new StrictJsonError('A string contains NUL (\\u0000).')
  if (unit < 0xd800 || unit > 0xdfff) return start + 6
  const next = escapedUnit(bytes, start + 6)
  if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff))
    throw new StrictJsonError('A string contains half of a surrogate pair.')
  return start + 12
}

/** NaN where there is no such escape. */
const escapedUnit = (bytes: Buffer, start: number): number =>
  bytes[start] === BACKSLASH && bytes[start + 1] === LOWER_U
    ? Number(`0x${bytes.toString('latin1', start + 2, start + 6)}`)
    : Number.NaN

/** Significant digits that every double keeps, and that some keep. */
const SAFE_DIGITS = 15
const MOST_DIGITS = 17
/** Powers of ten of the first digit between which all doubles have these digits. */
const SAFE_EXPONENT = 307

/**
 * Few numbers need a conversion: what has up to 15 digits and is neither huge nor tiny is kept, and what has more than
 * 17 is not.
 *
 * @returns where the number ends
 */
const checkNumber = (bytes: Buffer, start: number, most: number): number => {
  let at = start
  if (bytes[at] === MINUS) at++
  // The number is 0.d₁d₂… × 10^exponent, where d₁ is the first digit that is not 0.
  let digits = 0
  let zeros = 0
  let exponent = 0
  let hasPoint = false
  for (; ; at++) {
    if (at - start > most) throw tooLong(most)
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
      if (at - start > most) throw tooLong(most)
      power = Math.min(power * 10 + (bytes[at] as number) - ZERO, 1e9)
    }
    exponent += sign * power
  }
  const isSafe = digits === 0 || (digits <= SAFE_DIGITS && Math.abs(exponent - 1) <= SAFE_EXPONENT)
  if (!isSafe && (digits > MOST_DIGITS || !survives(bytes.toString('latin1', start, at), exponent - 1))) {
    const literal = bytes.toString('latin1', start, Math.min(at, start + 40))
    throw new StrictJsonError(`The number ${literal} cannot be stored exactly. Send it as a string.`)
  }
  return at
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE

/** Whether the double has the digits and the exponent of the literal. */
const survives = (literal: string, exponent: number): boolean => {
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

/** The depth is known to be bounded. */
const checkKeys = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) checkKeys(item)
    return
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    checkMember(key, member)
    checkKeys(member)
  }
}

const checkMember = (key: string, member: unknown): void => {
  const poisons =
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof member === 'object' &&
      member !== null &&
      Object.hasOwn(member, 'prototype'))
  if (poisons) throw new StrictJsonError(`The key ${key} is not allowed.`)
}
