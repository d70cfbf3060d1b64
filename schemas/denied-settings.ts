/**
 * Settings that no one may store for others, except under the first prefix: `SETTINGS_DENIED` and `SETTINGS_ALLOWED`. The service,
 * the command, the page and the extension use this file. The default patterns are in `denied-patterns.ts`.
 */

export const DENIED_MESSAGE = 'is denied on this server (`SETTINGS_DENIED`)'

/** The names that lead from a setting to a part of its value: keys of objects, indexes of arrays. */
export type InnerPath = readonly (string | number)[]

/** How many parts of one value are listed at most. */
const MAX_PARTS = 100

/** Patterns, as the environment and `GET /api/limits` have them. */
export interface DeniedRules {
  denied: readonly string[]
  /** Patterns of settings that no pattern of `denied` denies. */
  allowed: readonly string[]
  /** Keys that manifests restrict to trusted folders, which `allowed` doesn't lift. */
  restricted: readonly string[]
}

/** How names in the value of a key count. */
export interface InnerNames {
  /** The key is a whole prefix (`gopls`), so that the names in it continue a setting. */
  isPrefix: boolean
  /** The key is one of the editor's own, whose objects have no settings in them. */
  isEditors: boolean
  /** Whether a manifest describes a key. */
  describes: (key: string) => boolean
}

export interface DeniedMatcher {
  /** Whether a setting is denied. Its inner names don't count here. @param key in lower case */
  denies(key: string, value: unknown): boolean
  /** The same, but only by the names of programs and places. */
  namesProgram(key: string, value: unknown): boolean
}

/** Names for one system (`….linux`, `…Windows`) count like the name without it. */
const SYSTEM = /(?:\.(?:linux|osx|mac|darwin|windows|win32)|windows|win)$/

export const deniedMatcherOf = ({ denied, allowed, restricted }: DeniedRules): DeniedMatcher => {
  const matchesProgram = textMatcherOf(denied.filter((pattern) => !pattern.startsWith('!')))
  const matchesAny = textMatcherOf(
    denied.flatMap((pattern) => (pattern.startsWith('!') ? pattern.slice(1) : [])),
  )
  const matchesAllowed = textMatcherOf(allowed)
  const restrictedKeys = new Set(restricted.map((key) => key.toLowerCase()))
  const isAllowed = (key: string, name: string) => matchesAllowed(key) || matchesAllowed(name)
  const namesProgram = (key: string, value: unknown) => {
    const name = key.replace(SYSTEM, '')
    return matchesProgram(name) && hasText(value) && !isAllowed(key, name)
  }
  return {
    namesProgram,
    denies: (key, value) =>
      restrictedKeys.has(key) ||
      namesProgram(key, value) ||
      (matchesAny(key) && !isAllowed(key, key.replace(SYSTEM, ''))),
  }
}

/** Whether a value can name a program: a text, or an object or list with a text in it. Undefined stands for any value. */
const hasText = (value: unknown): boolean => {
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') return true
    if (isContainer(next)) for (const inner of Object.values(next)) left.push(inner)
  }
  return value === undefined
}

/**
 * The parts of a setting that are denied, in order: the empty path if all of it is. Editors read `"gopls": {"env": …}` as
 * `gopls.env`. In other values, a name counts if a manifest describes it as a setting, or if no manifest describes the key and the
 * name is one of a program, also within arrays. Takes linear time, however deep the value is.
 */
export const deniedPartsOf = (
  matcher: DeniedMatcher,
  key: string,
  value: unknown,
  { isPrefix, isEditors, describes }: InnerNames,
): InnerPath[] => {
  const text = key.toLowerCase()
  if (matcher.denies(text, value)) return [[]]
  if (!isContainer(value) || (isEditors && !isPrefix)) return []
  const kindOf = (name: string, otherwise: NameKind) => (describes(name) ? 'none' : otherwise)
  const denies = ({ parent, text: name, value: inner }: Part) =>
    parent?.namesInside === 'settings' || describes(name)
      ? matcher.denies(name.toLowerCase(), inner)
      : parent?.namesInside === 'programs' && matcher.namesProgram(name.toLowerCase(), inner)
  const found: InnerPath[] = []
  const namesInside = isPrefix ? 'settings' : kindOf(key, 'programs')
  const left: Part[] = [{ parent: undefined, name: '', text: key, value, namesInside }]
  for (let part = left.pop(); part && found.length < MAX_PARTS; part = left.pop()) {
    if (part.parent && part.isNamed && denies(part)) found.push(pathOf(part))
    else if (isContainer(part.value))
      for (const inner of partsOf(part, part.value).reverse())
        left.push(inner.isNamed ? { ...inner, namesInside: kindOf(inner.text, part.namesInside) } : inner)
  }
  return found
}

/** What the names in a value can be: settings, only names of programs, or none of these. */
type NameKind = 'settings' | 'programs' | 'none'

interface Part {
  parent: Part | undefined
  name: string | number
  /** Whether the name could continue a setting's name. An index, a glob, an address or a file's name can't. */
  isNamed?: boolean
  /** The names, joined with dots. */
  text: string
  value: unknown
  namesInside: NameKind
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

const partsOf = (parent: Part, value: object): Part[] => {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, name) =>
      isContainer(item)
        ? [{ parent, name, text: parent.text, value: item, namesInside: parent.namesInside }]
        : [],
    )
  return Object.entries(value).map(([name, inner]) => ({
    parent,
    name,
    isNamed: !/^\.|[*/]/.test(name),
    text: joinPath(parent.text, name),
    value: inner,
    namesInside: parent.namesInside,
  }))
}

const MAX_TEXT_LENGTH = 400

/** Leaves out the middle of a long text, so that a value's depth doesn't multiply the work. */
const joinPath = (text: string, name: string): string => {
  const whole = `${text}.${name}`
  if (whole.length <= MAX_TEXT_LENGTH) return whole
  return `${whole.slice(0, MAX_TEXT_LENGTH / 2)}…${whole.slice(-MAX_TEXT_LENGTH / 2)}`
}

const pathOf = (part: Part): InnerPath => {
  const path: (string | number)[] = []
  for (let at: Part | undefined = part; at?.parent; at = at.parent) path.push(at.name)
  return path.reverse()
}

/** Whether a text in lower case matches one of these patterns. Most patterns start or end with `*`, so few are tried on a text. */
export const textMatcherOf = (denied: readonly string[]): ((lowerCase: string) => boolean) => {
  const byStart = new Map<string, Pattern[]>()
  const byEnd = new Map<string, Pattern[]>()
  const rest: Pattern[] = []
  for (const pattern of denied.map(parse)) {
    const [start, end] = [pattern.first.at(0), (pattern.last ?? pattern.first).at(-1)]
    if (start !== undefined) addTo(byStart, start, pattern)
    else if (end !== undefined) addTo(byEnd, end, pattern)
    else rest.push(pattern)
  }
  return (text) => {
    const fits = (pattern: Pattern) => matches(pattern, text)
    return (
      (byStart.get(text.at(0) ?? '')?.some(fits) ||
        byEnd.get(text.at(-1) ?? '')?.some(fits) ||
        rest.some(fits)) ??
      false
    )
  }
}

const addTo = (lists: Map<string, Pattern[]>, key: string, pattern: Pattern) => {
  const list = lists.get(key)
  if (list) list.push(pattern)
  else lists.set(key, [pattern])
}

/** The parts of a pattern between its stars. */
interface Pattern {
  first: string
  middle: readonly string[]
  /** Undefined: the pattern has no star. */
  last: string | undefined
}

const parse = (pattern: string): Pattern => {
  const [first = '', ...middle] = pattern.toLowerCase().split('*')
  return { first, last: middle.pop(), middle }
}

/** Whether all keys of a prefix are denied, as `!terminal.*` does. */
export const isDeniedWhole = (denied: readonly string[], prefix: string): boolean =>
  denied.some(
    (pattern) =>
      pattern.startsWith('!') &&
      pattern.endsWith('*') &&
      matches(parse(pattern.slice(1)), `${prefix.toLowerCase()}.`),
  )

/** Takes linear time: each part between two stars is searched for once. */
const matches = ({ first, middle, last }: Pattern, text: string): boolean => {
  if (last === undefined) return text === first
  if (!text.endsWith(last) || !text.startsWith(first)) return false
  let from = first.length
  for (const part of middle) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - last.length >= from
}
