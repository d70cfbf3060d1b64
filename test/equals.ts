import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'

/** `t.strictSame` renders both sides even if they're equal, which takes too long for many large responses. */
export const equals = (
  t: Pick<Test, 'pass' | 'strictSame'>,
  found: unknown,
  expected: unknown,
  message = 'is as expected',
): boolean => (isDeepStrictEqual(found, expected) ? t.pass(message) : t.strictSame(found, expected, message))
