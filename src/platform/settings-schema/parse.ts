/** Reads a setting's schema: what the service checks, and what it shows. */
import { escapePointer } from '../../errors.js'
import {
  type Allowed,
  type Bounds,
  canonical,
  compilePattern,
  isObject,
  type LinearPattern,
  type Node,
  type TypeName,
  types,
} from './check.js'

/** A schema that the service can't use. The message says where. */
export class SchemaError extends Error {}

/** The skipped parts. */
export interface Notes {
  /** @param what kind of thing is skipped, shared by several places */
  skip(what: string, place: string): void
}

/** The JSON text of any schema: an object, or whether anything is allowed. */
type Json = Record<string, unknown>

const MAX_LEVELS = 32

/** Texts for people. They are shown without HTML. Placeholders for translations are left out. */
const texts = new Set([
  'title',
  'description',
  'markdownDescription',
  'deprecationMessage',
  'markdownDeprecationMessage',
  'patternErrorMessage',
  'errorMessage',
])
const listsOfTexts = new Set(['enumDescriptions', 'markdownEnumDescriptions', 'enumItemLabels'])
/** Keywords that are shown as they are. */
const plain = new Set([
  'type',
  'enum',
  'const',
  'default',
  'examples',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'format',
  'order',
  'scope',
  'editPresentation',
  'deprecated',
  'tags',
])
/** Rules that the service doesn't support, or that it would have to fetch. */
const unchecked = new Set(['$ref', 'not', 'if', 'then', 'else', 'contains', 'dependencies', 'propertyNames'])

export class Parser {
  /** @param texts the translations that replace `%key%` */
  constructor(
    private readonly notes: Notes,
    private readonly texts: ReadonlyMap<string, string>,
  ) {}

  /** @throws {SchemaError} */
  read(schema: unknown, place: string, level = 0): { node: Node; shown: unknown } {
    if (level > MAX_LEVELS) throw new SchemaError(`${place} is nested more than ${MAX_LEVELS} levels deep`)
    if (schema === true) return { node: {}, shown: true }
    if (schema === false) return { node: { never: true }, shown: false }
    if (!isObject(schema)) throw new SchemaError(`${place} must be an object`)
    const shown: Json = {}
    for (const [name, value] of Object.entries(schema))
      this.show(shown, name, value, `${place}/${escapePointer(name)}`)
    const of = new Keywords(schema, place)
    const node: Node = {
      types: of.types(),
      allowed: of.allowed(),
      number: of.numbers(),
      length: of.bounds('minLength', 'maxLength'),
      pattern: this.pattern(of, shown),
      array: this.array(of, shown, level),
      object: this.object(of, shown, level),
      all: this.list(of, 'allOf', shown, level),
      any: ['anyOf', 'oneOf'].flatMap((name) => {
        const choices = this.list(of, name, shown, level)
        return choices ? [choices] : []
      }),
    }
    return { node, shown }
  }

  private show(shown: Json, name: string, value: unknown, place: string) {
    if (unchecked.has(name)) this.notes.skip(`\`${name}\`, which isn’t checked`, place)
    else if (plain.has(name)) shown[name] = value
    else if (texts.has(name)) {
      const text = this.text(value, place)
      if (text !== undefined) shown[name] = text
    } else if (listsOfTexts.has(name) && Array.isArray(value)) {
      const list = value.map((item, index) => this.text(item, `${place}/${index}`) ?? '')
      if (list.some((item) => item !== '')) shown[name] = list
    }
  }

  /** A text for people, translated and cleaned. */
  text(value: unknown, place: string): string | undefined {
    if (typeof value !== 'string') return undefined
    if (!isPlaceholder(value)) return cleanText(value)
    const text = this.texts.get(value.trim().slice(1, -1))
    if (text !== undefined) return cleanText(text)
    this.notes.skip('texts to be translated (`%…%`)', place)
    return undefined
  }

  private pattern(of: Keywords, shown: Json): Node['pattern'] {
    const given = of.get('pattern', 'a text', (value) => typeof value === 'string')
    if (given === undefined) return undefined
    const pattern = this.compile(given, of.at('pattern'))
    if (!pattern) {
      this.notes.skip('a `pattern` that can’t be evaluated in linear time', of.at('pattern'))
      return undefined
    }
    shown.pattern = given
    const message = shown.patternErrorMessage ?? shown.errorMessage
    return { pattern, message: typeof message === 'string' ? message : undefined }
  }

  /** Undefined if the pattern can't be evaluated in linear time. @throws {SchemaError} if it isn't a pattern */
  private compile(source: string, place: string): LinearPattern | undefined {
    const pattern = compilePattern(source)
    if (!pattern && !isPattern(source)) throw new SchemaError(`${place} isn’t a regular expression`)
    return pattern
  }

  private array(of: Keywords, shown: Json, level: number): Node['array'] {
    const bounds = of.bounds('minItems', 'maxItems')
    const unique = of.get('uniqueItems', 'true or false', (value) => typeof value === 'boolean') ?? false
    const items = of.schema.items
    const tupleName = Array.isArray(items) ? 'items' : 'prefixItems'
    const restName = Array.isArray(items) ? 'additionalItems' : 'items'
    const tuple = this.list(of, tupleName, shown, level)
    const rest = this.one(of, restName, shown, level)
    if (!bounds && !unique && !tuple && !rest) return undefined
    return { ...bounds, unique, tuple: tuple ?? [], rest }
  }

  private object(of: Keywords, shown: Json, level: number): Node['object'] {
    const bounds = of.bounds('minProperties', 'maxProperties')
    // In an older draft, this is a boolean on the property itself, which doesn't affect this value.
    const required =
      typeof of.schema.required === 'boolean'
        ? undefined
        : of.get(
            'required',
            'a list of texts',
            (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
          )
    const properties = this.named(of, 'properties', shown, level)
    const byPattern = this.named(of, 'patternProperties', shown, level)
    const rest = this.one(of, 'additionalProperties', shown, level)
    if (!bounds && !required && !properties && !byPattern && !rest) return undefined
    let isComplete = true
    const patterns = [...(byPattern ?? [])].flatMap(([source, node]) => {
      const place = `${of.at('patternProperties')}/${escapePointer(source)}`
      const pattern = this.compile(source, place)
      if (pattern) return [{ pattern, node }]
      isComplete = false
      this.notes.skip('a `pattern` that can’t be evaluated in linear time', place)
      return []
    })
    return {
      ...bounds,
      required: required ?? [],
      properties: properties ?? new Map(),
      patterns,
      // The skipped pattern may allow the key.
      rest: isComplete ? rest : undefined,
    }
  }

  private one(of: Keywords, name: string, shown: Json, level: number): Node | undefined {
    if (of.schema[name] === undefined) return undefined
    const inner = this.read(of.schema[name], of.at(name), level + 1)
    shown[name] = inner.shown
    return inner.node
  }

  private list(of: Keywords, name: string, shown: Json, level: number): Node[] | undefined {
    const given = of.get(name, 'a list of schemas', (value) => Array.isArray(value) && value.length > 0)
    const read = given?.map((item: unknown, index: number) =>
      this.read(item, `${of.at(name)}/${index}`, level + 1),
    )
    if (read) shown[name] = read.map((inner: { shown: unknown }) => inner.shown)
    return read?.map(({ node }: { node: Node }) => node)
  }

  private named(of: Keywords, name: string, shown: Json, level: number): Map<string, Node> | undefined {
    const given = of.get(name, 'an object of schemas', isObject)
    if (!given) return undefined
    const read = Object.entries(given).map(
      ([key, inner]) => [key, this.read(inner, `${of.at(name)}/${escapePointer(key)}`, level + 1)] as const,
    )
    shown[name] = Object.fromEntries(read.map(([key, inner]) => [key, inner.shown]))
    return new Map(read.map(([key, { node }]) => [key, node]))
  }
}

const isPattern = (source: string): boolean => {
  try {
    new RegExp(source)
    return true
  } catch {
    return false
  }
}

const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isLength = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isType = (value: unknown): value is TypeName => types.includes(value as TypeName)

/** One schema's own rules, without those of schemas that it refers to. */
class Keywords {
  constructor(
    readonly schema: Json,
    private readonly place: string,
  ) {}

  at(name: string): string {
    return `${this.place}/${name}`
  }

  // biome-ignore lint/suspicious/noExplicitAny: `accepts` says what it is
  get(name: string, expected: string, accepts: (value: unknown) => boolean): any {
    const value = this.schema[name]
    if (value !== undefined && !accepts(value)) throw new SchemaError(`${this.at(name)} must be ${expected}`)
    return value
  }

  types(): Node['types'] {
    const given = this.get('type', `one of ${types.join(', ')}, or a list of these`, (value) =>
      Array.isArray(value) ? value.length > 0 && value.every(isType) : isType(value),
    )
    return given === undefined ? undefined : new Set([given].flat())
  }

  allowed(): Allowed | undefined {
    const list = this.get('enum', 'a list of values', (value) => Array.isArray(value) && value.length > 0)
    const given: unknown[] | undefined = Object.hasOwn(this.schema, 'const') ? [this.schema.const] : list
    return given && allowedOf(given)
  }

  numbers(): Node['number'] {
    const multipleOf = this.get(
      'multipleOf',
      'a number above 0',
      (value) => isNumber(value) && Number(value) > 0,
    )
    const [min, above] = this.limit('minimum', 'exclusiveMinimum')
    const [max, below] = this.limit('maximum', 'exclusiveMaximum')
    const isLimited = [min, max, above, below, multipleOf].some((value) => value !== undefined)
    return isLimited ? { min, max, above, below, multipleOf } : undefined
  }

  /** In an older draft, the exclusive bound is a boolean that qualifies the other bound. */
  private limit(name: string, exclusiveName: string): [number | undefined, number | undefined] {
    const bound = this.get(name, 'a number', isNumber)
    const exclusive = this.get(
      exclusiveName,
      'a number',
      (value) => isNumber(value) || typeof value === 'boolean',
    )
    if (typeof exclusive !== 'boolean') return [bound, exclusive]
    return exclusive ? [undefined, bound] : [bound, undefined]
  }

  bounds(minName: string, maxName: string): Bounds | undefined {
    const min = this.get(minName, 'a whole number from 0', isLength)
    const max = this.get(maxName, 'a whole number from 0', isLength)
    return min === undefined && max === undefined ? undefined : { min, max }
  }
}

const MAX_LIST_LENGTH = 400

const allowedOf = (values: unknown[]): Allowed => {
  const listed = values.map((value) => JSON.stringify(value)).join(', ')
  return {
    simple: new Set(values.filter((value) => typeof value !== 'object' || value === null)),
    texts: new Set(
      values.filter((value) => typeof value === 'object' && value !== null).map((value) => canonical(value)),
    ),
    message: listed.length > MAX_LIST_LENGTH ? 'isn’t one of the allowed values' : `must be one of ${listed}`,
  }
}

// A settings schema's texts for people, without anything that a page could run.

/** A placeholder that the editor replaces with a translation, from package.nls.json. */
export const isPlaceholder = (text: string): boolean => /^%[^%\s]+%$/.test(text.trim())

const TAG = /<[A-Za-z/!?][^<>]*>/g

/** Repeats until no tag is left: removing one can join the text around it into another. */
const withoutTags = (text: string): string => {
  let [before, after] = [text, text.replace(TAG, '')]
  while (after !== before) [before, after] = [after, after.replace(TAG, '')]
  return after
}

/**
 * Markdown or plain text without raw HTML, with links only to web pages and to other settings (`#key#`). A link to an
 * editor command becomes plain text. Code stays as it is.
 */
export const cleanText = (text: string): string => {
  const code: string[] = []
  const marked = markCode(text.replaceAll(MARK, ''), code)
  return cleanOutsideCode(marked).replace(MARKED, (_, index) => code[Number(index)] ?? '')
}

/** Stands for code while the text around it is cleaned. */
const MARK = '\uE000'
const MARKED = /\uE000(\d+)\uE000/g

const cleanOutsideCode = (text: string): string =>
  withoutTags(text.replace(/<(https?:\/\/[^\s<>]*)>/g, '$1'))
    // The rest of an unclosed tag.
    .replace(/<(?=[A-Za-z/!?])/g, '< ')
    .replace(/!?\[([^[\]]*)\]\(\s*(?!https?:\/\/|#)[^()]*(?:\([^()]*\)[^()]*)*\)/g, '$1')
    // The rest of a link in another notation.
    .replace(/\](?=\((?!https?:\/\/|#))/g, '] ')
    .replace(/^(\s*\[[^[\]]*\]):/gm, '$1 :')

/** Code between runs of equally many backticks. */
const SPAN = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/gs

/**
 * Puts a mark in place of code that every renderer recognizes, and adds the code to `code`: between backticks on one
 * line, and in fenced blocks at the start of a line. After a line with an unclosed backtick, nothing counts as code,
 * because the code may end on a later line.
 */
const markCode = (text: string, code: string[]): string => {
  const mark = (piece: string) => `${MARK}${code.push(piece) - 1}${MARK}`
  let fence: string | undefined
  let isClear = true
  const lines = text.split(/(?<=\n|\r(?!\n))/).map((line) => {
    if (fence !== undefined) {
      const [end = ''] = /^ {0,3}`{3,}(?=\s*$)/.exec(line) ?? []
      if (end.trim().length >= fence.length) fence = undefined
      return mark(line)
    }
    if (isClear) fence = /^`{3,}(?=[^`]*$)/.exec(line)?.[0]
    if (fence !== undefined) return mark(line)
    isClear &&= !/\\`|~~~/.test(line) && !line.replace(SPAN, '').includes('`')
    // In a table, a column ends within backticks as well.
    const mayBeTable = line.match(SPAN)?.some((span) => span.includes('|'))
    return isClear && !mayBeTable ? line.replace(SPAN, mark) : line
  })
  return lines.join('')
}
