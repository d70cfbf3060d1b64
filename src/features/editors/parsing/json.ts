/**
 * Reads heartbeats from JSON of any size, a piece at a time, and only the few properties that matter. It checks the
 * structure and bounds the depth. Skipped parts take no memory.
 */
import { limits } from '../../../../schemas/limits.js'
import { own } from '../../../../schemas/own.js'
import type { SentHeartbeat } from '../project-names.js'

/** A text that isn't JSON, or is nested too deeply. */
export class NoJsonError extends Error {}

export type Kind = 'array' | 'object' | 'string' | 'other'

interface Reader {
  /** Receives the whole text, and the outermost array's or object's properties. */
  begins?(kind: Kind, depth: number): void
  /** Values of another type and texts that are too long are left out. The whole text has depth 0. */
  ends(heartbeat: SentHeartbeat, depth: number): void
}

interface Frame extends SentHeartbeat {
  isArray: boolean
  key: Key | undefined
}

type Key = keyof SentHeartbeat
const KEYS: Record<string, Key> = {
  time: 'time',
  project: 'project',
  alternate_project: 'alternate',
  category: 'category',
}

const codeOf = (character: string) => character.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const COMMA = codeOf(',')
const COLON = codeOf(':')
const OPEN_ARRAY = codeOf('[')
const CLOSE_ARRAY = codeOf(']')
const OPEN_OBJECT = codeOf('{')
const CLOSE_OBJECT = codeOf('}')
const LOWER_U = codeOf('u')

const flags = (characters: string): Uint8Array => {
  const table = new Uint8Array(256)
  for (const character of characters) table[codeOf(character)] = 1
  return table
}
const BLANK = flags(' \t\r\n')
const IN_NUMBER = flags('0123456789+-.eE')
const IN_WORD = flags('abcdefghijklmnopqrstuvwxyz')
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORDS = new Set(['true', 'false', 'null'])

/** Longer tokens aren't kept. No name, number or key that matters is longer, however it's escaped. */
const MAX_KEPT = 6 * 4 * limits.editor_project_length

type State = 'value' | 'first item' | 'first key' | 'key' | 'colon' | 'comma' | 'end'
type Token = 'string' | 'number' | 'word'

export class JsonReader {
  private readonly frames: Frame[] = []
  private state: State = 'value'
  private token: Token | undefined
  private readonly kept = Buffer.alloc(MAX_KEPT)
  private keptLength = 0
  private isEscaped = false

  constructor(private readonly reader: Reader) {}

  /** @throws {NoJsonError} */
  push(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.token === 'string') at = this.readString(bytes, at)
      else if (this.token !== undefined) at = this.readPlain(bytes, at)
      else {
        const byte = bytes[at++] as number
        if (BLANK[byte] === 0) at = this.take(byte, at)
      }
    }
  }

  /** @throws {NoJsonError} when the text hasn't ended */
  end(): void {
    if (this.token === 'number' || this.token === 'word') this.endPlain()
    if (this.state !== 'end' || this.token !== undefined) throw new NoJsonError()
  }

  /** Reads a value's start or separator. @returns where to continue */
  private take(byte: number, next: number): number {
    const { state } = this
    if (state === 'value' || state === 'first item') {
      if (byte === CLOSE_ARRAY && state === 'first item') this.close(true)
      else if (byte === OPEN_ARRAY) this.open(true)
      else if (byte === OPEN_OBJECT) this.open(false)
      else {
        this.begins(byte === QUOTE ? 'string' : 'other')
        return this.startToken(byte, next)
      }
    } else if (state === 'first key' || state === 'key') {
      if (byte === CLOSE_OBJECT && state === 'first key') this.close(false)
      else if (byte === QUOTE) return this.startToken(byte, next)
      else throw new NoJsonError()
    } else if (state === 'colon' && byte === COLON) this.state = 'value'
    else if (state === 'comma') this.separate(byte)
    else throw new NoJsonError()
    return next
  }

  private separate(byte: number): void {
    const { isArray } = this.frames.at(-1) as Frame
    if (byte === COMMA) this.state = isArray ? 'value' : 'key'
    else if (byte === CLOSE_ARRAY && isArray) this.close(true)
    else if (byte === CLOSE_OBJECT && !isArray) this.close(false)
    else throw new NoJsonError()
  }

  private begins(kind: Kind): void {
    if (this.frames.length < 2) this.reader.begins?.(kind, this.frames.length)
  }

  private open(isArray: boolean): void {
    this.begins(isArray ? 'array' : 'object')
    this.set(undefined)
    if (this.frames.length >= limits.json_depth) throw new NoJsonError()
    this.frames.push({
      isArray,
      key: undefined,
      time: undefined,
      project: undefined,
      alternate: undefined,
      category: undefined,
    })
    this.state = isArray ? 'first item' : 'first key'
  }

  private close(isArray: boolean): void {
    const { time, project, alternate, category } = this.frames.pop() as Frame
    this.state = this.frames.length === 0 ? 'end' : 'comma'
    if (!isArray) this.reader.ends({ time, project, alternate, category }, this.frames.length)
  }

  private startToken(byte: number, next: number): number {
    this.keptLength = 0
    this.isEscaped = false
    if (byte === QUOTE) {
      this.token = 'string'
      return next
    }
    if (IN_NUMBER[byte] === 0 && IN_WORD[byte] === 0) throw new NoJsonError()
    this.token = IN_WORD[byte] === 1 ? 'word' : 'number'
    return next - 1
  }

  private readString(bytes: Uint8Array, start: number): number {
    let at = start
    let escaped = this.isEscaped
    let byte = 0
    for (; at < bytes.length; at++) {
      byte = bytes[at] as number
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) break
    }
    this.isEscaped = escaped
    this.keep(bytes, start, at)
    if (at === bytes.length) return at
    this.token = undefined
    this.endString()
    return at + 1
  }

  private readPlain(bytes: Uint8Array, start: number): number {
    const table = this.token === 'number' ? IN_NUMBER : IN_WORD
    let at = start
    while (at < bytes.length && table[bytes[at] as number] === 1) at++
    this.keep(bytes, start, at)
    if (at < bytes.length) this.endPlain()
    return at
  }

  private keep(bytes: Uint8Array, start: number, end: number): void {
    const room = Math.min(end - start, MAX_KEPT - this.keptLength)
    if (room > 0) this.kept.set(bytes.subarray(start, start + room), this.keptLength)
    this.keptLength += end - start
  }

  /** The kept part of the token. Undefined if it was too long. */
  private text(): string | undefined {
    return this.keptLength > MAX_KEPT ? undefined : this.kept.toString('utf8', 0, this.keptLength)
  }

  private endString(): void {
    const frame = this.frames.at(-1)
    if (this.state === 'key' || this.state === 'first key') {
      this.state = 'colon'
      const key = unquoted(this.text())
      if (frame) frame.key = key === undefined ? undefined : own(KEYS, key)
      return
    }
    this.state = frame ? 'comma' : 'end'
    this.set(frame?.key === undefined ? undefined : unquoted(this.text()))
  }

  private endPlain(): void {
    const { token } = this
    this.token = undefined
    this.state = this.frames.length === 0 ? 'end' : 'comma'
    const text = this.text()
    if (text !== undefined && !(token === 'number' ? NUMBER.test(text) : WORDS.has(text)))
      throw new NoJsonError()
    this.set(token === 'number' && this.frames.at(-1)?.key === 'time' ? Number(text) : undefined)
  }

  /** The value of the property being read. If a key occurs twice, the later value wins. */
  private set(value: string | number | undefined): void {
    const frame = this.frames.at(-1)
    if (frame?.key === 'time') frame.time = value ?? null
    else if (frame?.key) frame[frame.key] = typeof value === 'string' ? value : undefined
    if (frame) frame.key = undefined
  }
}

const unquoted = (text: string | undefined): string | undefined => {
  if (text === undefined || !text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

const ESCAPES: Record<string, number> = { b: 8, f: 12, n: 10, r: 13, t: 9 }

/** The content of a JSON text that is a single string, a piece at a time. */
export class QuotedText {
  private state: 'before' | 'inside' | 'escape' | 'unit' | 'after' = 'before'
  /** The digits of a `\u` escape. */
  private digits = ''
  /** The first half of a surrogate pair. */
  private high = ''

  /** @throws {NoJsonError} */
  push(bytes: Uint8Array): Buffer {
    // A six-byte escape yields at most three bytes, and the second half of a pair four.
    const text = Buffer.allocUnsafe(bytes.length + 4)
    let length = 0
    for (const byte of bytes) {
      if (this.state === 'inside') {
        if (byte === BACKSLASH) this.state = 'escape'
        else if (byte === QUOTE) this.state = 'after'
        else text[length++] = byte
      } else if (this.state === 'escape') {
        this.state = byte === LOWER_U ? 'unit' : 'inside'
        this.digits = ''
        if (byte !== LOWER_U) text[length++] = own(ESCAPES, String.fromCharCode(byte)) ?? byte
      } else if (this.state === 'unit') {
        this.digits += String.fromCharCode(byte)
        if (this.digits.length === 4) length += text.write(this.endUnit(), length)
      } else if (this.state === 'before' && byte === QUOTE) this.state = 'inside'
      else if (BLANK[byte] === 0) throw new NoJsonError()
    }
    return text.subarray(0, length)
  }

  /** @throws {NoJsonError} when the text hasn't ended */
  end(): void {
    if (this.state !== 'after') throw new NoJsonError()
  }

  private endUnit(): string {
    if (!/^[0-9a-fA-F]{4}$/.test(this.digits)) throw new NoJsonError()
    this.state = 'inside'
    const text = this.high + String.fromCharCode(Number.parseInt(this.digits, 16))
    const isHalf = /^[\ud800-\udbff]$/.test(text)
    this.high = isHalf ? text : ''
    return isHalf ? '' : text
  }
}
