/** The checks that make up a settings schema. */
import { RE2JS } from 're2js'
import type { Run, ValuePath } from './faults.js'

export const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const
export type TypeName = (typeof types)[number]

/** A parsed schema: what a value must be. Only the rules that the schema contains are set. */
export interface Node {
  types?: ReadonlySet<TypeName>
  allowed?: Allowed
  number?: Bounds & { multipleOf?: number }
  length?: Bounds
  pattern?: { pattern: LinearPattern; message: string | undefined }
  array?: Bounds & { unique: boolean; tuple: Node[]; rest: Node | undefined }
  object?: Bounds & {
    required: string[]
    properties: ReadonlyMap<string, Node>
    patterns: { pattern: LinearPattern; node: Node }[]
    rest: Node | undefined
  }
  all?: Node[]
  /** Each is a list of alternatives, one of which must hold. */
  any?: Node[][]
  /** The schema `false`. */
  never?: true
}

/** Both ends are included unless they're exclusive. */
export interface Bounds {
  min?: number
  max?: number
  above?: number
  below?: number
}

/** The values of an `enum` or a `const`. */
export interface Allowed {
  simple: ReadonlySet<unknown>
  /** Arrays and objects, as `canonical` writes them. */
  texts: ReadonlySet<string>
  message: string
}

/** JSON text that doesn't depend on the order of keys. */
export const canonical = (value: unknown, run?: Run): string => {
  run?.spend(PER_WRITTEN_NODE)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, run)).join(',')}]`
  if (!isObject(value)) {
    if (typeof value === 'string') run?.spend(value.length * PER_CHARACTER)
    return JSON.stringify(value)
  }
  const keys = Object.keys(value)
  run?.spend(keys.length * PER_SORTED_KEY)
  const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key], run)}`)
  return `{${members.join(',')}}`
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const typeOf = (value: unknown): TypeName => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return typeof value as TypeName
}

const articles: Record<TypeName, string> = {
  null: 'null',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  array: 'a list',
  object: 'an object',
}

/** Units of work (`faults.ts`). A pattern declares how many it takes. */
const PER_NODE = 6
const PER_WRITTEN_NODE = 12
const PER_CHARACTER = 1 / 2
const PER_SORTED_KEY = 20
const PER_TEST = 100
const PER_NAME = 2

/** Notes everything in `value` that the schema doesn't allow. */
export const check = (node: Node, value: unknown, place: ValuePath | undefined, run: Run): void => {
  run.spend(PER_NODE)
  const violation = violationOf(node, value, run)
  if (violation !== undefined) {
    run.note(place, violation)
    return
  }
  if (typeof value === 'number') checkNumber(node, value, place, run)
  if (typeof value === 'string') checkText(node, value, place, run)
  if (Array.isArray(value)) checkArray(node, value, place, run)
  else if (isObject(value)) checkObject(node, value, place, run)
  for (const part of node.all ?? []) check(part, value, place, run)
  for (const choices of node.any ?? []) checkAny(choices, value, place, run)
}

/** Explains why a value doesn't fit at all. */
const violationOf = (
  { never, types: expected, allowed }: Node,
  value: unknown,
  run: Run,
): string | undefined => {
  if (never) return 'isn’t allowed here'
  const type = typeOf(value)
  if (expected && !expected.has(type) && !(type === 'integer' && expected.has('number')))
    return `must be ${[...expected].map((name) => articles[name]).join(' or ')}`
  if (allowed && !isAllowed(allowed, value, run)) return allowed.message
  return undefined
}

const isAllowed = ({ simple, texts }: Allowed, value: unknown, run: Run): boolean => {
  if (typeof value !== 'object' || value === null) return simple.has(value)
  if (texts.size === 0) return false
  return texts.has(canonical(value, run))
}

/** Notes what's wrong with the number of items or characters, if anything. */
const noteOutside = (
  bounds: Bounds | undefined,
  size: number,
  [start, unit]: [start: string, unit: string],
  place: ValuePath | undefined,
  run: Run,
) => {
  const { min, max, above, below } = bounds ?? {}
  if (min !== undefined && size < min) run.note(place, `${start} at least ${min}${unit}`)
  else if (max !== undefined && size > max) run.note(place, `${start} at most ${max}${unit}`)
  else if (above !== undefined && size <= above) run.note(place, `${start} more than ${above}${unit}`)
  else if (below !== undefined && size >= below) run.note(place, `${start} less than ${below}${unit}`)
}

const checkNumber = (node: Node, value: number, place: ValuePath | undefined, run: Run) => {
  noteOutside(node.number, value, ['must be', ''], place, run)
  const step = node.number?.multipleOf
  // Decimal fractions have no exact number: 0.3 is a multiple of 0.1.
  if (step !== undefined && Math.abs(value / step - Math.round(value / step)) > 1e-9)
    run.note(place, `must be a multiple of ${step}`)
}

/** Characters as people count them: a pair of surrogates is one. */
const lengthOf = (text: string): number => {
  let pairs = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++
  return text.length - pairs
}

const checkText = (node: Node, value: string, place: ValuePath | undefined, run: Run) => {
  if (node.length) {
    run.spend(value.length * PER_CHARACTER)
    noteOutside(node.length, lengthOf(value), ['must have', ' characters'], place, run)
  }
  if (!node.pattern) return
  const { pattern, message } = node.pattern
  run.spend(PER_TEST + value.length * pattern.work)
  if (!pattern.test(value)) run.note(place, message ?? 'doesn’t have the required format')
}

const checkArray = ({ array }: Node, value: unknown[], place: ValuePath | undefined, run: Run) => {
  if (!array) return
  noteOutside(array, value.length, ['must have', ' items'], place, run)
  if (array.unique && hasEqualItems(value, run)) run.note(place, 'must not contain the same item twice')
  const { tuple, rest } = array
  // A list without an item schema can be long, and there's nothing to check in it.
  const length = rest ? value.length : Math.min(value.length, tuple.length)
  for (let index = 0; index < length; index++) {
    const node = tuple[index] ?? rest
    if (node) check(node, value[index], { parent: place, key: index }, run)
  }
}

const hasEqualItems = (items: unknown[], run: Run): boolean => {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonical(item, run)
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}

const checkObject = (
  { object }: Node,
  value: Record<string, unknown>,
  place: ValuePath | undefined,
  run: Run,
) => {
  if (!object) return
  const keys = Object.keys(value)
  noteOutside(object, keys.length, ['must have', ' members'], place, run)
  run.spend(object.required.length * PER_NAME)
  for (const name of object.required) {
    if (!Object.hasOwn(value, name)) run.note({ parent: place, key: name }, 'is required')
  }
  for (const key of keys) {
    run.spend(PER_NAME)
    const here = { parent: place, key }
    const own = object.properties.get(key)
    if (own) check(own, value[key], here, run)
    let isKnown = own !== undefined
    for (const { pattern, node } of object.patterns) {
      run.spend(PER_TEST + key.length * pattern.work)
      if (!pattern.test(key)) continue
      isKnown = true
      check(node, value[key], here, run)
    }
    if (isKnown || !object.rest) continue
    if (object.rest.never) run.note(here, 'isn’t known')
    else check(object.rest, value[key], here, run)
  }
}

const checkAny = (choices: Node[], value: unknown, place: ValuePath | undefined, run: Run) => {
  if (choices.some((choice) => run.passes(() => check(choice, value, place, run)))) return
  const [only, ...others] = choices.filter(({ types }) => types?.has(typeOf(value)))
  // If only one alternative has the right type, its faults are more helpful.
  if (only && others.length === 0) check(only, value, place, run)
  else run.note(place, 'matches none of the allowed forms')
}

/** Patterns of a settings schema, evaluated in linear time: backtracking would let one value hold up everyone. */
export interface LinearPattern {
  test(text: string): boolean
  /** Units of work (`faults.ts`) for each character, at most. */
  work: number
}

/** The engine builds its automaton while reading, and a new state takes up to 100 ns per instruction. */
const WORK_PER_INSTRUCTION = 5

/** Undefined if the pattern has parts that take more than linear time, such as a lookahead or a back-reference. */
export const compilePattern = (pattern: string): LinearPattern | undefined => {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // The engine prepares itself with the first text, which can take a millisecond.
    compiled.test('')
    return { test: (text) => compiled.test(text), work: compiled.programSize() * WORK_PER_INSTRUCTION }
  } catch {
    return undefined
  }
}
