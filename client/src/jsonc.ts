/** JSON with comments and trailing commas, as VS Code reads its settings, with the place of every value. */

/** `line:column`, both from 1. */
export type Place = `${number}:${number}`

export interface Parsed {
  value: unknown
  /** The place of each value, or of its name, by its JSON pointer. */
  places: Map<string, Place>
  /** The start and the end of each value's text, by its JSON pointer. */
  spans: Map<string, [start: number, end: number]>
  /** The JSON pointers of names that an object has more than once. The last value is the one that's read. */
  repeated: string[]
  /** Why numbers would change, by the JSON pointers of those that would. */
  rounded: Map<string, string>
}

export class JsonError extends Error {
  constructor(
    message: string,
    readonly place: Place,
  ) {
    super(message)
  }
}

/** Text with a byte order mark, or with NUL as its first or second byte, is UTF-16 or UTF-8. Other text is UTF-8. @throws {JsonError} */
export const decode = (bytes: Uint8Array): string => {
  const [first, second] = bytes
  const isLittle = (first === 0xff && second === 0xfe) || second === 0
  const isBig = (first === 0xfe && second === 0xff) || first === 0
  const wide = isLittle ? 'utf-16le' : isBig && 'utf-16be'
  try {
    return new TextDecoder(wide || 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new JsonError('the file is neither UTF-8 nor UTF-16', '1:1')
  }
}

/** Deeper values would exhaust the stack. */
const DEEPEST = 100
const SKIPPED = /[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const SCALAR = /-?\d[\d.eE+-]*|true|false|null/y
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** One text for all notations of the same number, or undefined for `Infinity`. */
const exactly = (text: string): string | undefined => {
  const found = NUMBER.exec(text)
  if (!found) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = found
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const shift = end === 0 ? 0 : Number(exponent) - fraction.length + digits.length - end
  return `${sign}${digits.slice(0, end)}e${shift}`
}

export const pointerOf = (...names: (string | number)[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/**
 * @param isEditors whether the text is an editor's own file. An object in it may have a name twice, and numbers may have more digits
 * than can be kept
 * @throws {JsonError}
 */
export const parseJson = (text: string, { isEditors = false } = {}): Parsed => {
  const places = new Map<string, Place>()
  const spans: Parsed['spans'] = new Map()
  const repeated: string[] = []
  const rounded: Parsed['rounded'] = new Map()
  let at = 0
  let line = 1
  let lineStart = 0
  let counted = 0

  const here = (): Place => {
    for (; counted < at; counted++) {
      if (text[counted] !== '\n') continue
      line++
      lineStart = counted + 1
    }
    return `${line}:${at - lineStart + 1}`
  }
  const fail = (message: string): never => {
    throw new JsonError(message, here())
  }
  const missing = (message: string) => fail(at < text.length ? message : 'the file ends too early')
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) at += found.length
    return found
  }
  const next = () => {
    while (match(SKIPPED) !== undefined);
    return text[at]
  }
  /** Not a regular expression, which would exhaust the stack on a long string. */
  const quoted = () => {
    let end = at + 1
    for (; end < text.length && text[end] !== '"' && text[end] !== '\n'; end++) if (text[end] === '\\') end++
    return text.slice(at, end + 1)
  }
  const scalar = (pointer = ''): unknown => {
    const begin = at
    const found = text[at] === '"' ? quoted() : match(SCALAR)
    let value: unknown
    try {
      value = JSON.parse(found ?? '')
    } catch {
      at = begin
      return missing(`unexpected \`${text[at]}\``)
    }
    at = begin
    if (typeof value === 'number' && found !== undefined && exactly(found) !== exactly(String(value))) {
      const message = `\`${found.slice(0, 100)}\` would become \`${Object.is(value, -0) ? 0 : value}\``
      if (!isEditors) fail(message)
      rounded.set(pointer, message)
    }
    at += found?.length ?? 0
    return value
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
  /** Only the last value of a repeated name is read. */
  const dropRounded = (pointer: string) => {
    for (const one of rounded.keys())
      if (one === pointer || one.startsWith(`${pointer}/`)) rounded.delete(one)
  }
  const value = (pointer: string, depth: number, place?: Place): unknown => {
    const start = next()
    const from = at
    const read = content(start, pointer, depth, place)
    spans.set(pointer, [from, at])
    return read
  }
  const content = (start: string | undefined, pointer: string, depth: number, place?: Place): unknown => {
    if (depth > DEEPEST) fail('the values are nested too deeply')
    places.set(pointer, place ?? here())
    if (start === '[') {
      const items: unknown[] = []
      list(']', () => items.push(value(pointer + pointerOf(items.length), depth + 1)))
      return items
    }
    if (start !== '{') return scalar(pointer)
    const members = new Map<string, unknown>()
    list('}', () => {
      if (next() !== '"') missing('a name in double quotes is missing')
      const place = here()
      const name = scalar() as string
      if (members.has(name)) {
        if (!isEditors) throw new JsonError(`\`${name}\` appears twice`, place)
        repeated.push(pointer + pointerOf(name))
        dropRounded(pointer + pointerOf(name))
      }
      if (next() !== ':') missing(`\`:\` is missing after \`${name}\``)
      at++
      members.set(name, value(pointer + pointerOf(name), depth + 1, place))
    })
    return Object.fromEntries(members)
  }

  const whole = value('', 0)
  if (next() !== undefined) fail(`unexpected \`${text[at]}\` after the end`)
  return { value: whole, places, spans, repeated, rounded }
}
