/** JSON with comments and trailing commas, as VS Code reads its settings, with the line of every value. */

export interface Parsed {
  value: unknown
  /** The line of each value, by its JSON pointer. The first line is 1. */
  lines: Map<string, number>
}

export class JsonError extends Error {
  constructor(
    message: string,
    readonly line: number,
  ) {
    super(message)
  }
}

/** Deeper values would exhaust the stack. */
const DEEPEST = 100
const SKIPPED = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y
const SCALAR = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y

export const pointerOf = (...names: (string | number)[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** @throws {JsonError} */
export const parseJson = (text: string): Parsed => {
  const lines = new Map<string, number>()
  let at = text.startsWith('\uFEFF') ? 1 : 0
  let line = 1
  let counted = 0

  const lineHere = () => {
    for (; counted < at; counted++) if (text[counted] === '\n') line++
    return line
  }
  const fail = (message: string): never => {
    throw new JsonError(message, lineHere())
  }
  const missing = (message: string) => fail(at < text.length ? message : 'the file ends too early')
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) at += found.length
    return found
  }
  const next = () => {
    match(SKIPPED)
    return text[at]
  }
  const scalar = (): unknown => {
    const begin = at
    const found = match(SCALAR)
    try {
      if (found !== undefined) return JSON.parse(found)
    } catch {
      at = begin
    }
    return missing(`unexpected \`${text[at]}\``)
  }
  /** The items between brackets; `item` reads one. */
  const list = (end: string, item: () => void) => {
    at++
    for (let first = true; next() !== end; first = false) {
      if (!first) {
        if (text[at] !== ',') missing(`\`,\` or \`${end}\` is missing`)
        at++
        if (next() === end) break
      }
      item()
    }
    at++
  }
  const value = (pointer: string, depth: number): unknown => {
    const start = next()
    if (depth > DEEPEST) fail('the values are nested too deeply')
    lines.set(pointer, lineHere())
    if (start === '[') {
      const items: unknown[] = []
      list(']', () => items.push(value(pointer + pointerOf(items.length), depth + 1)))
      return items
    }
    if (start !== '{') return scalar()
    const members = new Map<string, unknown>()
    list('}', () => {
      if (next() !== '"') missing('a name in double quotes is missing')
      const name = scalar() as string
      if (members.has(name)) fail(`\`${name}\` appears twice`)
      if (next() !== ':') missing(`\`:\` is missing after \`${name}\``)
      at++
      members.set(name, value(pointer + pointerOf(name), depth + 1))
    })
    return Object.fromEntries(members)
  }

  const whole = value('', 0)
  if (next() !== undefined) fail(`unexpected \`${text[at]}\` after the end`)
  return { value: whole, lines }
}
