/**
 * CPU time of the check of settings with expensive schemas, for the first check of a process and for later ones. Each case has
 * several sizes, because a check ends early if it would be too much work. Each size runs in processes of its own. No check may
 * take longer than 50 ms.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { limits } from '../schemas/limits.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { readSettingsSchema } from '../src/features/settings/schema/read.js'
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
  'a bound of lengths': () => ({ property: { items: { minLength: 2 } }, value: [text('😀')] }),
}

/** @returns the milliseconds of the first check, and of each later one */
const measure = (name: string): number[] => {
  const { property, value } = (cases[name] as () => Case)()
  const { schema } = readSettingsSchema(
    [{ name, text: JSON.stringify({ properties: { 'ext.a': property } }), texts: undefined }],
    settingsKeys({ prefixes: ['ext'], ...NO_RULES }),
  )
  const settings = { 'ext.a': value }
  if (Buffer.byteLength(JSON.stringify(settings)) > limits.settings_bytes)
    throw new Error(`${name} is too large`)
  return Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    schema.check(settings)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
}

const measureApart = async (name: string, part: number): Promise<number[]> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileURLToPath(import.meta.url),
    name,
    String(part),
  ])
  return JSON.parse(stdout)
}

const [name, part] = process.argv.slice(2)
if (name !== undefined && part !== undefined) {
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
