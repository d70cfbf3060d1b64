import type { Test } from 'tap'

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The properties of `found` that `expected` names. Where a pattern or a type in `expected` fits, it replaces the value. */
const pick = (found: unknown, expected: unknown): unknown => {
  if (expected instanceof RegExp) return typeof found === 'string' && expected.test(found) ? expected : found
  if (expected === Number) return typeof found === 'number' ? expected : found
  if (expected === String) return typeof found === 'string' ? expected : found
  if (Array.isArray(expected) && Array.isArray(found))
    return found.map((item, n) => (n < expected.length ? pick(item, expected[n]) : item))
  if (!isPlain(expected) || !isObject(found)) return found
  return Object.fromEntries(Object.keys(expected).map((name) => [name, pick(found[name], expected[name])]))
}

/**
 * Compares the properties that `expected` names, at any depth. Strings must be equal as a whole, and arrays must have as many
 * items; `t.match` accepts a part of a string, and `t.match` and `t.hasStrict` accept the first items of an array.
 * A regular expression stands for every string that it matches, `Number` and `String` for every value of that type.
 */
export const hasProperties = (t: Test, found: unknown, expected: unknown, message?: string): boolean =>
  t.strictSame(pick(found, expected), expected, message ?? 'has the expected properties')
