import { isUtf8 } from 'node:buffer'

/** Why a text is refused although it may be JSON; the message is fit for the caller. */
export class StrictJsonError extends Error {}

/**
 * Parses JSON and refuses what would not survive the way to the database and back: bytes that are not UTF-8, NUL and
 * lone surrogates in strings, numbers that a double cannot hold, `__proto__` and `constructor.prototype`, and nesting
 * deeper than `maxDepth`.
 */
export const parseStrictJson = (bytes: Buffer, maxDepth: number): unknown => {
  if (!isUtf8(bytes)) throw new StrictJsonError('The body is not UTF-8.')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new StrictJsonError('The body is not valid JSON.')
  }
  // Nothing else can spell what is refused in strings and keys: without these words, only depth is left to check.
  const isPlain = !text.includes('\\u') && !text.includes('__proto__') && !text.includes('constructor')
  checkValues(value, maxDepth, isPlain)
  checkNumbers(text)
  return value
}

const checkString = (text: string) => {
  if (text.includes('\0')) throw new StrictJsonError('A string contains NUL (\\u0000).')
  if (!text.isWellFormed()) throw new StrictJsonError('A string contains half of a surrogate pair.')
}

/** Level by level and without recursion, so that depth is bounded by the check and not by the stack. */
const checkValues = (root: unknown, maxDepth: number, isPlain: boolean) => {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string' && !isPlain) checkString(value)
      if (typeof value !== 'object' || value === null) continue
      if (depth >= maxDepth) throw new StrictJsonError(`The body is nested deeper than ${maxDepth} levels.`)
      if (Array.isArray(value)) {
        for (const item of value) next.push(item)
      } else {
        for (const key of Object.keys(value)) {
          const member = (value as Record<string, unknown>)[key]
          if (!isPlain) checkKey(key, member)
          next.push(member)
        }
      }
    }
    level = next
  }
}

const checkKey = (key: string, member: unknown) => {
  checkString(key)
  const poisons =
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof member === 'object' &&
      member !== null &&
      Object.hasOwn(member, 'prototype'))
  if (poisons) throw new StrictJsonError(`The key ${key} is not allowed.`)
}

/**
 * Only literals with 16 digits or an exponent can lose anything; most bodies have none and pay one scan. What stands
 * before a number keeps most strings out of it, such as UUIDs.
 */
const suspicious = /(?:^|[\s:,[])-?(?:[0-9.]{16}|[0-9.]+[eE])/
const numbers = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g

const checkNumbers = (text: string) => {
  if (!suspicious.test(text)) return
  for (const gap of outsideStrings(text)) {
    for (const [literal] of gap.matchAll(numbers)) {
      const value = Number(literal)
      if (!Number.isFinite(value) || decimal(literal) !== decimal(String(value))) {
        throw new StrictJsonError(
          `The number ${literal.slice(0, 40)} cannot be kept exactly; send it as a string.`,
        )
      }
    }
  }
}

/** What stands between the strings of a JSON text. By hand, because a pattern for strings overflows on long ones. */
function* outsideStrings(text: string): Generator<string> {
  let start = 0
  for (;;) {
    const open = text.indexOf('"', start)
    yield text.slice(start, open < 0 ? undefined : open)
    if (open < 0) return
    let close = open
    do close = text.indexOf('"', close + 1)
    while (isEscaped(text, close))
    start = close + 1
  }
}

const isEscaped = (text: string, quote: number): boolean => {
  let backslashes = 0
  while (text[quote - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** A number literal as `digits e exponent` without leading and trailing zeros, so that equal values are equal texts. */
const decimal = (literal: string): string => {
  const negative = literal.startsWith('-')
  const [mantissa = '', exponent = '0'] = literal
    .slice(negative ? 1 : 0)
    .toLowerCase()
    .split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const scale = Number(exponent) - fraction.length + digits.length - significant.length
  return `${negative ? '-' : ''}${significant}e${scale}`
}
