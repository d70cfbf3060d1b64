import fc from 'fast-check'
import t from 'tap'
import { JsonTokens } from '../src/platform/http/json-tokens.js'
import { readJson } from '../src/platform/http/json-values.js'
import { parseStrictJson } from '../src/platform/http/strict-json.js'

const bounds = { depth: 32, values: 1_000 }

/** The value as text, so that the order of keys counts; or that there is none. */
const outcomeOf = (parse: () => unknown): string => {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    return (error as Error).name
  }
}

t.test('forbidden keys are rejected at any depth, even if escaped', async (t) => {
  for (const poison of [
    '{"__proto__": [1, 2, 3]}',
    '{"\u005f_proto__": 1}',
    '{"constructor": {"prototype": [1]}}',
    '{"a": {"constructor": {"a": [1, 2, 3, 4, 5], "prototype": {}}}}',
    '[1, {"__proto__": {"a": 1}}]',
  ])
    t.throws(() => parseStrictJson(Buffer.from(`{"a": [${poison}], "b": 1}`), bounds), {
      message: /isn’t allowed/,
    })
})

t.test('only text that JSON.parse reads without losing anything is accepted', async (t) => {
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.constantFrom('0', '1', '9007199254740993', '12', '99999999999999999', '5', '17976931348623157'),
      fc.constantFrom('', '.0', '.5', '.000000000000001', '.12345678901234567', '.30000000000000004'),
      fc.constantFrom('', 'e0', 'E+2', 'e-7', 'e307', 'e308', 'e-307', 'e-308', 'e-324', 'e292', 'e999'),
    )
    .map((parts) => parts.join(''))
  /** The digits and the power of ten that make the value, in the one way that has no zeros at the ends. */
  const canonical = (literal: string): string => {
    const [mantissa = '', power = '0'] = literal.toLowerCase().replace('-', '').split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    const digits = BigInt(whole + fraction)
    const exponent = Number(literal.toLowerCase().split('e')[1] ?? power) - fraction.length
    const zeros = /0*$/.exec(String(digits))?.[0].length ?? 0
    return digits === 0n ? '0' : `${String(digits).slice(0, -zeros || undefined)}e${exponent + zeros}`
  }
  fc.assert(
    fc.property(number, (literal) => {
      const value = Number(literal)
      const isKept = Number.isFinite(value) && canonical(literal) === canonical(String(value))
      if ((outcomeOf(() => parseStrictJson(Buffer.from(literal), bounds)) !== 'Error') !== isKept)
        throw new Error(`${literal} ${isKept ? 'is kept by' : 'is changed by'} JSON.parse`)
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

t.test('streams accept exactly the texts that JSON.parse accepts, in pieces of any size', async (t) => {
  const part = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\ud83d\\ude00é"',
      '"\\x"',
      '"',
      '-1.5e7',
      '01',
      '1.',
      'true',
      'nul',
      ' \n',
    ],
  )
  const text = fc.oneof(
    fc.json(),
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (text, size) => {
      const bytes = Buffer.from(text)
      const readInPieces = () => {
        const tokens = new JsonTokens()
        for (let at = 0; at < bytes.length; at += size) tokens.read(bytes.subarray(at, at + size))
        tokens.end()
      }
      const isAccepted = outcomeOf(readInPieces) === undefined
      if (isAccepted !== (outcomeOf(() => JSON.parse(text)) !== 'SyntaxError'))
        throw new Error(`${text} ${isAccepted ? 'is accepted' : 'is rejected'}`)
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

t.test('large bodies are read as strictly as ordinary ones, into the same values', async (t) => {
  const part = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"a"', '"__proto__":', '"constructor":{"prototype":1}', '"\\u0000"'],
    ...[
      '"\\ud800"',
      '"\\ud83d\\ude00"',
      '"\\n"',
      '1e400',
      '0.1',
      '12345678901234567890',
      '1E+2',
      'true',
      'null',
    ],
  )
  const text = fc.oneof(
    fc.json(),
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
    fc.array(part, { maxLength: 8 }).map((parts) => `[${parts.join()}]`),
    fc
      .string({ minLength: 40, maxLength: 300 })
      .map((value) => JSON.stringify({ [value]: value.repeat(100) })),
  )
  const few = { depth: 5, values: 12, properties: 6 }
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const bytes = Buffer.from(text)
      const strict = outcomeOf(() => parseStrictJson(bytes, few))
      const read = await readJson(bytes, few).then(JSON.stringify, (error: Error) => error.name)
      if (read !== strict) throw new Error(`${text}: ${read}, but ${strict}`)
    }),
    { numRuns: 3_000 },
  )
  const codes = `"${'\\n'.repeat(20_000)}"`
  t.equal(await readJson(Buffer.from(codes), few), JSON.parse(codes))
  await t.rejects(readJson(Buffer.from([0x22, 0xff, 0x22]), few), { message: /UTF-8/ })
  await t.rejects(readJson(Buffer.from('{"a":{"constructor":{"a":1,"prototype":{}}}}'), few), {
    message: /isn’t allowed/,
  })
  t.same(
    await readJson(Buffer.from('[{"__proto__":1,"a":"\\u0000\\ud800"},1e400]'), { ...few, lenient: true }),
    [{ a: '\0\ud800' }, Number.POSITIVE_INFINITY],
  )
})
