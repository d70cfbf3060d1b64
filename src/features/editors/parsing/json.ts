/** Reads heartbeats from JSON of any size, and only the few properties that matter. It bounds the depth. */
import type { Token } from 'stream-json/core/parser.js'
import { limits } from '../../../../schemas/limits.js'
import { own } from '../../../../schemas/own.js'
import { JsonTokens, NoJsonError } from '../../../platform/http/json-tokens.js'
import type { SentHeartbeat } from '../project-names.js'

export type Kind = 'array' | 'object' | 'other'

interface Reader {
  /** Receives the whole text, and the outermost array's or object's properties. */
  begins?(kind: Kind, depth: number): void
  /**
   * Values of another type and texts that are too long are left out. The whole text has depth 0.
   * @param isListed whether it's in a list of heartbeats: the outermost one, or one that is named like it
   */
  ends(heartbeat: SentHeartbeat, depth: number, isListed: boolean): void
}

interface Frame extends SentHeartbeat {
  isArray: boolean
  /** The name of the property being read. */
  name: string | undefined
  /** Of an array: whether heartbeats are listed in it. */
  isList: boolean
  /** Of an object: whether it has such a list. */
  hasList: boolean
}

type Key = keyof SentHeartbeat
const KEYS: Record<string, Key> = {
  time: 'time',
  project: 'project',
  alternate_project: 'alternate',
  category: 'category',
}
/** The lists of heartbeats in exports. */
const LISTS: ReadonlySet<string> = new Set(['heartbeats', 'data'])

/** No name, number or key that matters is longer. */
const MAX_TEXT = 4 * limits.editor_project_length

export class JsonReader {
  private readonly tokens = new JsonTokens()
  private readonly frames: Frame[] = []
  /** The key, string or number being read. Undefined if it's too long. */
  private text: string | undefined

  constructor(private readonly reader: Reader) {}

  /** @throws {NoJsonError} */
  push(bytes: Uint8Array): void {
    for (const token of this.tokens.read(bytes)) this.take(token)
  }

  /** @throws {NoJsonError} */
  pushText(text: string): void {
    for (const token of this.tokens.readText(text)) this.take(token)
  }

  /** @throws {NoJsonError} when the text hasn't ended */
  end(): void {
    for (const token of this.tokens.end()) this.take(token)
  }

  private take(token: Token): void {
    switch (token.name) {
      case 'startObject':
        this.open('object')
        break
      case 'startArray':
        this.open('array')
        break
      case 'endObject':
      case 'endArray':
        this.close()
        break
      case 'startKey':
        this.text = ''
        break
      case 'startString':
      case 'startNumber':
        this.begins('other')
        this.text = ''
        break
      case 'stringChunk':
      case 'numberChunk':
        this.add(token.value)
        break
      case 'endKey':
        ;(this.frames.at(-1) as Frame).name = this.text
        break
      case 'endString':
        this.set(this.text)
        break
      case 'endNumber':
        this.set(this.text === undefined ? undefined : Number(this.text))
        break
      default:
        this.begins('other')
        this.set(undefined)
    }
  }

  private begins(kind: Kind): void {
    if (this.frames.length < 2) this.reader.begins?.(kind, this.frames.length)
  }

  private open(kind: 'array' | 'object'): void {
    this.begins(kind)
    const around = this.frames.at(-1)
    const isArray = kind === 'array'
    const isList = isArray && (around === undefined || LISTS.has(around.name ?? ''))
    if (around && isList) around.hasList = true
    this.set(undefined)
    if (this.frames.length >= limits.json_depth) throw new NoJsonError()
    this.frames.push({
      isArray,
      name: undefined,
      isList,
      hasList: false,
      time: undefined,
      project: undefined,
      alternate: undefined,
      category: undefined,
    })
  }

  private close(): void {
    const { isArray, hasList, time, project, alternate, category } = this.frames.pop() as Frame
    if (isArray) return
    const isListed = !hasList && this.frames.at(-1)?.isList === true
    this.reader.ends({ time, project, alternate, category }, this.frames.length, isListed)
  }

  private add(chunk: string): void {
    if (this.text === undefined) return
    this.text = this.text.length + chunk.length > MAX_TEXT ? undefined : this.text + chunk
  }

  /** The value of the property being read. If a key occurs twice, the later value wins. */
  private set(value: string | number | undefined): void {
    const frame = this.frames.at(-1)
    if (frame?.name === undefined) return
    const key = own(KEYS, frame.name)
    if (key === 'time') frame.time = value ?? null
    else if (key) frame[key] = typeof value === 'string' ? value : undefined
    frame.name = undefined
  }
}
