/** Finds heartbeats in JSON of any size, and reads only the few properties that matter. It bounds the depth. */
import type { Token } from 'stream-json/core/parser.js'
import { limits } from '../../../../schemas/limits.js'
import { own } from '../../../../schemas/own.js'
import { InvalidJsonError } from '../../../platform/http/json-tokens.js'
import type { SentHeartbeat } from '../project-names.js'

/** What's found in a text, in order. The whole text has depth 0. */
type Found =
  /** The whole text, or a value in the outermost array or object. */
  | { kind: 'begin'; type: ValueType; depth: number }
  /** The end of an object. Values of another type and texts that are too long are left out. */
  | {
      kind: 'end'
      heartbeat: SentHeartbeat
      depth: number
      /** Whether it's in a list of heartbeats: the outermost one, or one that is named like it. */
      isListed: boolean
    }

type ValueType = 'array' | 'object' | 'other'

interface Frame extends SentHeartbeat {
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

/** Finds heartbeats in the tokens of one text. */
export class HeartbeatFinder {
  private readonly frames: Frame[] = []
  /** The key, string or number being read. Undefined if it's too long. */
  private text: string | undefined

  /** @returns what the token completes, if it matters @throws {InvalidJsonError} for a text that is nested too deeply */
  take(token: Token): Found | undefined {
    switch (token.name) {
      case 'startObject':
        return this.open('object')
      case 'startArray':
        return this.open('array')
      case 'endObject':
        return this.close()
      case 'endArray':
        this.frames.pop()
        return undefined
      case 'startKey':
        this.text = ''
        return undefined
      case 'startString':
      case 'startNumber':
        this.text = ''
        return this.begin('other', this.frames.length)
      case 'stringChunk':
      case 'numberChunk':
        this.add(token.value)
        return undefined
      case 'endKey':
        ;(this.frames.at(-1) as Frame).name = this.text
        return undefined
      case 'endString':
        this.set(this.text)
        return undefined
      case 'endNumber':
        this.set(this.text === undefined ? undefined : Number(this.text))
        return undefined
      default:
        this.set(undefined)
        return this.begin('other', this.frames.length)
    }
  }

  /** Only the outermost values matter. */
  private begin(type: ValueType, depth: number): Found | undefined {
    return depth < 2 ? { kind: 'begin', type, depth } : undefined
  }

  private open(type: 'array' | 'object'): Found | undefined {
    const depth = this.frames.length
    const around = this.frames.at(-1)
    const isList = type === 'array' && (around === undefined || LISTS.has(around.name ?? ''))
    if (around && isList) around.hasList = true
    this.set(undefined)
    if (depth >= limits.json_depth) throw new InvalidJsonError()
    this.frames.push({
      name: undefined,
      isList,
      hasList: false,
      time: undefined,
      project: undefined,
      alternate: undefined,
      category: undefined,
    })
    return this.begin(type, depth)
  }

  private close(): Found {
    const { hasList, time, project, alternate, category } = this.frames.pop() as Frame
    const isListed = !hasList && this.frames.at(-1)?.isList === true
    const heartbeat = { time, project, alternate, category }
    return { kind: 'end', heartbeat, depth: this.frames.length, isListed }
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
