/**
 * CPU time of the check of settings with expensive schemas, for the first check of a process and for later ones. Each case has
 * several sizes, because a check ends early if it would be too much work. Each size runs in processes of its own. No check may
 * take longer than 50 ms.
 *
 * `npm run bench -- settings-schema ajv` measures the same cases at their full size with ajv, which has no limit of work
 * (`docs/decisions/23-a-schema-check-that-ends.md`).
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { RE2JS } from 're2js'
import { limits } from '../schemas/limits.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { readSettingsSchema } from '../src/platform/settings-schema/read.js'
import { median, say } from './harness.js'

const ROUNDS = 15
const PROCESSES = 3
/** Parts of the largest settings. */
const SIZES = [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64]

interface Case {
  property: unknown
  value: unknown
}

let size = 1

/** How many items of this size fit. */
const fitting = (bytes: number) => Math.floor(((limits.settings_bytes - 100) * size) / bytes)
const many = (part: unknown): unknown[] => Array(fitting(JSON.stringify(part).length + 1)).fill(part)
const distinct = <T>(count: number, item: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => item(n))
const members = (count: number, nameOf: (n: number) => string, value: unknown) =>
  Object.fromEntries(distinct(count, (n) => [nameOf(n), value] as const))
const nested = (levels: number, inner: unknown): unknown =>
  levels === 0 ? inner : [nested(levels - 1, inner)]
const anyOf = (levels: number): unknown =>
  levels === 0
    ? { type: 'array', minItems: 2 }
    : {
        anyOf: [
          { type: 'array', items: anyOf(levels - 1) },
          { type: 'array', items: anyOf(levels - 1), maxItems: 0 },
        ],
      }
const text = (part: string) => part.repeat(fitting(Buffer.byteLength(part)))
const names = distinct(5_000, (n) => `name-${n}`)

const cases: Record<string, () => Case> = {
  'a text of a simple pattern': () => ({ property: { pattern: '^[a-z]*$' }, value: text('a') }),
  'a text of a pattern with many states': () => ({
    property: { pattern: '(a|b)*a(a|b){30}$' },
    value: text('ab'),
  }),
  'a text of a pattern with many instructions': () => ({
    property: { pattern: `(${distinct(200, (n) => `x${n}y*`).join('|')})+$` },
    value: text('x1yx2yx3'),
  }),
  'short texts of a pattern': () => ({ property: { items: { pattern: '^(a|b)*c$' } }, value: many('ab') }),
  'different texts of a pattern': () => ({
    property: { items: { pattern: '(a|b)*a(a|b){10}$' } },
    value: distinct(fitting(17), (n) => n.toString(2).replaceAll('0', 'a').replaceAll('1', 'b')),
  }),
  'a text of 50 patterns': () => ({
    property: { allOf: distinct(50, (n) => ({ pattern: `a{${n}}b?$` })) },
    value: text('a'),
  }),
  'a text of a pattern with letters of all scripts': () => ({
    property: { pattern: '^(\\p{L}|\\p{N})+$' },
    value: text('aé漢'),
  }),
  'objects that miss all of many names': () => ({
    property: { items: { anyOf: [{ required: names }, {}] } },
    value: many({}),
  }),
  'objects of 1,000 alternatives': () => ({
    property: { items: { anyOf: [...Array(1_000).fill({ required: ['a'] }), true] } },
    value: many({}),
  }),
  'numbers of 1,000 alternatives': () => ({
    property: { items: { anyOf: [...Array(1_000).fill({ type: 'string' }), true] } },
    value: many(1),
  }),
  'numbers of which none matches': () => ({
    property: { anyOf: [{ items: { type: 'string' } }, true] },
    value: many(1),
  }),
  'numbers with bounds': () => ({
    property: { items: { minimum: 0, maximum: 9, multipleOf: 0.1 } },
    value: many(1),
  }),
  'alternatives within alternatives': () => ({ property: anyOf(8), value: nested(8, many(1)) }),
  'unique numbers': () => ({ property: { uniqueItems: true }, value: distinct(fitting(6), (n) => n) }),
  'unique objects': () => ({
    property: { uniqueItems: true },
    value: distinct(fitting(30), (n) => ({ b: n, a: { d: 1, c: 2 } })),
  }),
  'unique long texts': () => ({
    property: { uniqueItems: true },
    value: distinct(fitting(1_010), (n) => 'x'.repeat(1_000) + n),
  }),
  'one of many objects': () => ({
    property: { items: { enum: distinct(1_000, (n) => ({ a: n })) } },
    value: many({ a: 1 }),
  }),
  'an object with many keys in an enum': () => ({
    property: { enum: [{}, { a: 1 }] },
    value: members(fitting(12), (n) => `k${n}`, 1),
  }),
  'keys of 50 patterns': () => ({
    property: { patternProperties: members(50, (n) => `^(x+y*){${n + 1}}$`, {}) },
    value: members(fitting(12), (n) => `x${n}`, 1),
  }),
  'unknown keys in alternatives': () => ({
    property: { anyOf: [{ properties: {}, additionalProperties: false }, {}] },
    value: members(fitting(12), (n) => `k${n}`, 1),
  }),
  'long keys with faults': () => ({
    property: { additionalProperties: { type: 'string' } },
    value: members(fitting(1_400), (n) => `/~${n}`.repeat(200), 1),
  }),
  'empty lists in empty lists': () => ({
    property: { items: { items: { items: { type: 'string' } } } },
    value: many([[[]]]),
  }),
  'numbers where texts belong': () => ({ property: { items: { type: 'string' } }, value: many(1) }),
  'objects that match none of 50 alternatives': () => ({
    property: { items: { anyOf: distinct(50, (n) => ({ type: 'object', required: [`name-${n}`] })) } },
    value: many({}),
  }),
  'numbers below 28 bounds': () => ({
    property: { items: { allOf: distinct(28, (n) => ({ minimum: n + 1 })) } },
    value: many(0),
  }),
  'texts that aren’t among 10,000': () => ({
    property: { items: { enum: distinct(10_000, (n) => `value-${n}`) } },
    value: many('x'),
  }),
  'objects that aren’t among 10,000': () => ({
    property: { items: { enum: distinct(10_000, (n) => ({ a: 1, b: n })) } },
    value: many({ a: 1, b: -1 }),
  }),
  'an object with 20,000 known members': () => ({
    property: { properties: members(20_000, (n) => `m${n}`, { type: 'string', minLength: 1, maxLength: 9 }) },
    value: members(fitting(12), (n) => `m${n}`, 1),
  }),
  'an object of one of 2,000 forms': () => ({
    property: { anyOf: distinct(2_000, (n) => ({ type: 'object', required: [`name-${n}`] })) },
    value: {},
  }),
  'a bound of lengths': () => ({ property: { items: { minLength: 2 } }, value: [text('😀')] }),
}

const millisecondsOf = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

type Check = (settings: Record<string, unknown>) => unknown[]

const ownCheck = (property: unknown): Check =>
  readSettingsSchema(
    [{ name: 'bench', text: JSON.stringify({ properties: { 'ext.a': property } }), texts: undefined }],
    settingsKeys({ prefixes: ['ext'], ...NO_RULES }),
  ).schema.check

/** With linear patterns and unique items, and all faults, as warnings list them. */
const ajvCheck = (property: unknown): Check => {
  const regExp = (pattern: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text: string) => compiled.test(text) }
  }
  regExp.code = 'RE2JS'
  const options = { meta: false, validateSchema: false, strict: false, ownProperties: true }
  const ajv = new Ajv({ ...options, allErrors: true, code: { regExp, optimize: false } })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    validate: (_wanted: boolean, items: unknown[]) =>
      new Set(items.map((item) => JSON.stringify(item))).size === items.length,
  })
  const validate = ajv.compile({ properties: { 'ext.a': property } })
  return (settings) => (validate(settings) ? [] : (validate.errors ?? []))
}

const settingsOf = (name: string, value: unknown) => {
  const settings = { 'ext.a': value }
  if (Buffer.byteLength(JSON.stringify(settings)) > limits.settings_bytes)
    throw new Error(`${name} is too large`)
  return settings
}

/** @returns the milliseconds of the first check, and of each later one */
const measure = (name: string): number[] => {
  const { property, value } = (cases[name] as () => Case)()
  const settings = settingsOf(name, value)
  const check = ownCheck(property)
  return Array.from({ length: ROUNDS }, () => millisecondsOf(() => check(settings)))
}

const MEBIBYTE = 2 ** 20

/** A row of the table about ajv. */
const measureAjv = (name: string): string => {
  const { property, value } = (cases[name] as () => Case)()
  const settings = settingsOf(name, value)
  let check: Check = () => []
  const compiling = millisecondsOf(() => {
    check = ajvCheck(property)
  })
  let faults = 0
  const before = process.resourceUsage().maxRSS
  const checking = millisecondsOf(() => {
    faults = check(settings).length
  })
  const grown = (process.resourceUsage().maxRSS - before) / (MEBIBYTE / 1_024)
  return `${compiling.toFixed(0)} ms | ${checking.toFixed(0)} ms | ${faults} | ${grown.toFixed(0)} MiB`
}

/** In a process with the memory of a small container. */
const runApart = async (...args: string[]): Promise<string> => {
  const script = fileURLToPath(import.meta.url)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=400', script, ...args],
    { timeout: 30_000 },
  )
  return stdout.trim()
}

const measureApart = async (name: string, part: number): Promise<number[]> =>
  JSON.parse(await runApart(name, String(part)))

const reasonOf = (error: unknown): string => {
  const { stderr = '', killed } = error as { stderr?: string; killed?: boolean }
  if (killed) return 'not done after 30 s'
  return /heap out of memory/.test(stderr)
    ? 'out of memory'
    : (/^\w*Error: .*$/m.exec(stderr)?.[0] ?? 'failed')
}

const [name, part] = process.argv.slice(2)
if (name === 'ajv' && part !== undefined) say(measureAjv(part))
else if (name === 'ajv') {
  say('| settings | compile | check | faults | memory |\n|---|---|---|---|---|')
  for (const tried of Object.keys(cases))
    say(`| ${tried} | ${await runApart('ajv', tried).catch((error) => `${reasonOf(error)} | | |`)} |`)
} else if (name !== undefined && part !== undefined) {
  size = Number(part)
  say(JSON.stringify(measure(name)))
} else {
  say('| settings | size | first check | later checks |\n|---|---|---|---|')
  for (const tried of name === undefined ? Object.keys(cases) : [name]) {
    let worst = { part: 0, first: 0, later: 0 }
    for (const part of SIZES) {
      const runs: number[][] = []
      for (let n = 0; n < PROCESSES; n++) runs.push(await measureApart(tried, part))
      const first = median(runs.map(([first = 0]) => first))
      const later = median(runs.map(([, ...later]) => median(later)))
      if (Math.max(first, later) > Math.max(worst.first, worst.later)) worst = { part, first, later }
    }
    const kib = `${((limits.settings_bytes * worst.part) / 1024).toFixed(0)} KiB`
    say(`| ${tried} | ${kib} | ${worst.first.toFixed(1)} ms | ${worst.later.toFixed(1)} ms |`)
  }
}
