/** Scans JSON text for errors and their positions. `JSON.parse` would accept some of them silently. */
import { limits } from '../schemas/limits.js'
import { isBlock } from '../schemas/settings-keys.js'

export interface Fault {
  from: number
  to: number
  message: string
  /** The outermost key that contains the fault. */
  key?: string
}

/** A key in the outermost object, or in one of its language blocks. */
interface Member {
  block: string | undefined
  key: string
  from: number
  to: number
  isNull: boolean
}

export interface Scan {
  /** The position where the text stops being valid JSON. */
  syntax: Fault | undefined
  /** Duplicate keys, and numbers that would change. */
  faults: Fault[]
  members: Member[]
  isObject: boolean
}

/** A number's digits and exponent, the same however it's written. */
const normalize = (literal: string): string => {
  const [, whole = '', fraction = '', power = '0'] =
    literal.match(/^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  return digits && `${digits}e${Number(power) - fraction.length + all.length - digits.length}`
}

/** Whether a double has exactly the literal's value. */
const isExact = (literal: string): boolean => {
  const value = Number(literal)
  return Number.isFinite(value) && normalize(String(Math.abs(value))) === normalize(literal)
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/iy
const WORD = /true|false|null/y
const BLANKS = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4})|[\u007f-\u009f])*"/iuy

export const scanJson = (text: string): Scan => {
  const scan: Scan = { syntax: undefined, faults: [], members: [], isObject: false }
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const peek = () => {
    take(BLANKS)
    return text[at]
  }
  const fail = (expected: string): never => {
    throw { from: at, to: Math.min(at + 1, text.length), message: `expected ${expected}` }
  }
  const string = (expected: string): string => {
    const found = take(STRING)
    if (found) return JSON.parse(found)
    return fail(text[at] === '"' ? 'a string on one line that ends with a quotation mark' : expected)
  }
  /** The properties or items between brackets. */
  const list = (close: string, item: () => void) => {
    at++
    if (peek() !== close) {
      for (;;) {
        item()
        const next = peek()
        if (next === close) break
        if (next !== ',') fail(`a comma or ${close}`)
        at++
        peek()
      }
    }
    at++
  }
  const value = (depth: number, block?: string): void => {
    const first = peek()
    if (depth > limits.json_depth) fail(`at most ${limits.json_depth} levels`)
    if (first === '{') {
      const seen = new Set<string>()
      list('}', () => {
        const from = at
        const key = string('a key in quotation marks')
        const to = at
        if (seen.has(key)) scan.faults.push({ from, to, message: `“${key}” appears twice. Remove one.` })
        seen.add(key)
        if (peek() !== ':') fail('a colon')
        at++
        const isNull = peek() === 'n'
        const isInside = depth === 1 && block !== undefined
        // A block comes before the keys inside it, in the order of `settingsIn`.
        if (depth === 0 || isInside) scan.members.push({ block, key, from, to, isNull })
        value(depth + 1, depth === 0 && isBlock(key) ? key : undefined)
      })
    } else if (first === '[') list(']', () => value(depth + 1))
    else if (first === '"') string('a string')
    else {
      const from = at
      const number = take(NUMBER)
      if (number && !isExact(number)) {
        const message = `${number} would become ${Number(number)}. Write it as a string.`
        scan.faults.push({ from, to: at, message })
      }
      if (!number && !take(WORD)) fail('a value')
    }
  }
  try {
    scan.isObject = peek() === '{'
    value(0)
    if (peek() !== undefined) fail('the end')
  } catch (fault) {
    scan.syntax = fault as Fault
  }
  return scan
}

/** The line and column of an offset, as people count them. */
export const placeOf = (text: string, offset: number): string => {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}
