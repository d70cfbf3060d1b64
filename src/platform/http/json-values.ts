/** Reads large JSON bodies in pieces, as strictly as `parseStrictJson`. Other requests run between the pieces. */
import { isUtf8 } from 'node:buffer'
import type { Token } from 'stream-json/core/parser.js'
import { yieldIfDue } from '../process/yield-if-due.js'
import { InvalidJsonError, JsonTokens } from './json-tokens.js'
import {
  type Bounds,
  containsNul,
  forbiddenKey,
  halfSurrogate,
  malformed,
  notUtf8,
  requireExact,
  tooDeep,
  tooWide,
} from './strict-json.js'

const PIECE_BYTES = 16_384
/** A string of escapes has a chunk for each character. This many are joined at a time. */
const MAX_CHUNKS = 1_024
/** Every number this short is exact, unless it has an exponent. */
const SAFE_LENGTH = 15

export interface ValueBounds extends Bounds {
  /** For bodies of which only some properties are read, and checked there. All others may hold anything that is JSON. */
  lenient?: true
}

/** The array or object being read. */
interface Frame {
  into: unknown[] | Record<string, unknown>
  /** How many items or properties it has so far. */
  size: number
  /** Of an object: the name of the property being read. */
  name: string
  /** The name of the property that holds it. */
  heldBy: string | undefined
}

/** @throws {StrictJsonError} */
export const readJson = async (bytes: Buffer, bounds: ValueBounds): Promise<unknown> => {
  if (!isUtf8(bytes)) throw notUtf8()
  const tokens = new JsonTokens()
  const builder = new ValueBuilder(bounds)
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      for (const token of tokens.read(bytes.subarray(at, at + PIECE_BYTES))) builder.take(token)
      await yieldIfDue()
    }
    for (const token of tokens.end()) builder.take(token)
  } catch (error) {
    throw error instanceof InvalidJsonError ? malformed() : error
  }
  return builder.whole
}

/** Makes a value of tokens. */
class ValueBuilder {
  whole: unknown
  private readonly frames: Frame[] = []
  private values = 0
  private properties = 0
  /** The key, string or number being read. */
  private text = ''
  private chunks: string[] = []

  constructor(private readonly bounds: ValueBounds) {}

  /** @throws {StrictJsonError} */
  take(token: Token): void {
    switch (token.name) {
      case 'startObject':
        this.open({})
        break
      case 'startArray':
        this.open([])
        break
      case 'endObject':
      case 'endArray':
        this.frames.pop()
        break
      case 'stringChunk':
      case 'numberChunk':
        this.add(token.value)
        break
      case 'endKey':
        this.begin(this.endText())
        break
      case 'endString':
        this.put(this.endText())
        break
      case 'endNumber':
        this.put(this.endNumber())
        break
      case 'trueValue':
      case 'falseValue':
      case 'nullValue':
        this.put(token.value)
    }
  }

  private open(into: Frame['into']): void {
    const around = this.frames.at(-1)
    this.put(into)
    if (this.frames.length >= this.bounds.depth) throw tooDeep(this.bounds.depth)
    // Even an empty one counts.
    this.count()
    const heldBy = around && !Array.isArray(around.into) ? around.name : undefined
    this.frames.push({ into, size: 0, name: '', heldBy })
  }

  /** Begins a property. */
  private begin(name: string): void {
    const { lenient, properties = this.bounds.values } = this.bounds
    const frame = this.frames.at(-1) as Frame
    if (++this.properties > properties) throw tooWide(properties, 'properties')
    if (!lenient && name === '__proto__') throw forbiddenKey(name)
    if (!lenient && name === 'prototype' && frame.heldBy === 'constructor') throw forbiddenKey('constructor')
    frame.name = name
  }

  private put(value: unknown): void {
    const frame = this.frames.at(-1)
    if (!frame) {
      this.whole = value
      return
    }
    if (frame.size++ > 0) this.count()
    const { into, name } = frame
    if (Array.isArray(into)) into.push(value)
    // No one reads it from a lenient one.
    else if (name !== '__proto__') into[name] = value
  }

  private count(): void {
    if (++this.values > this.bounds.values) throw tooWide(this.bounds.values, 'values')
  }

  private add(chunk: string): void {
    if (this.chunks.push(chunk) < MAX_CHUNKS) return
    this.text += this.chunks.join('')
    this.chunks = []
  }

  private takeText(): string {
    const { text, chunks } = this
    this.text = ''
    if (chunks.length === 0) return text
    const last = chunks.length === 1 ? (chunks[0] as string) : chunks.join('')
    chunks.length = 0
    return text + last
  }

  private endText(): string {
    const text = this.takeText()
    if (this.bounds.lenient) return text
    if (text.includes('\0')) throw containsNul()
    if (!text.isWellFormed()) throw halfSurrogate()
    return text
  }

  private endNumber(): number {
    const literal = this.takeText()
    if (!this.bounds.lenient && (literal.length > SAFE_LENGTH || /e/i.test(literal))) requireExact(literal)
    return Number(literal)
  }
}
