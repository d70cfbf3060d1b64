/** Puts settings into the text of a configuration file, and leaves everything else in it as it is. */
import { isBlock, isObject } from '../../schemas/settings-keys.js'
import { parseJson, pointerOf } from './jsonc.js'

type Values = Record<string, unknown>

interface Edit {
  start: number
  end: number
  text: string
}

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g

/**
 * @param text a file that `readConfiguration` accepts
 * @param path the names of the objects around the settings. Those that the file lacks are added
 */
export const putSettings = (text: string, path: string[], settings: Values): string => {
  const { value, spans } = parseJson(text)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const [, unit = '  '] = /^([ \t]+)"/m.exec(text) ?? []
  const edits: Edit[] = []

  const write = (content: unknown, level: number) =>
    JSON.stringify(content, undefined, unit).replaceAll('\n', eol + unit.repeat(level))

  const append = (pointer: string, current: Values, members: [string, unknown][], level: number) => {
    const [start, end] = spans.get(pointer) ?? [0, 0]
    const ends = Object.keys(current).map((name) => spans.get(pointer + pointerOf(name))?.[1] ?? 0)
    const isEmpty = ends.length === 0
    const lastEnd = ends.reduce((last, one) => Math.max(last, one), start + 1)
    const rest = text.slice(lastEnd, end - 1)
    const needsComma = !isEmpty && !rest.replace(COMMENT, '').includes(',')
    const at = lastEnd + rest.trimEnd().length
    const lines = members.map(
      ([name, content]) =>
        `${eol}${unit.repeat(level + 1)}${JSON.stringify(name)}: ${write(content, level + 1)}`,
    )
    const close = text.slice(at, end - 1).includes('\n') ? '' : eol + unit.repeat(level)
    if (needsComma) edits.push({ start: lastEnd, end: lastEnd, text: ',' })
    edits.push({ start: at, end: at, text: `${lines.join(',')}${close}` })
  }
  const put = (pointer: string, current: Values, wanted: Values, level: number) => {
    const added: [string, unknown][] = []
    for (const [name, content] of Object.entries(wanted)) {
      const inner = pointer + pointerOf(name)
      const old = Object.hasOwn(current, name) ? current[name] : undefined
      const isContainer = level < path.length || (level === path.length && isBlock(name))
      if (old === undefined) added.push([name, content])
      else if (isContainer && isObject(old) && isObject(content)) put(inner, old, content, level + 1)
      else if (JSON.stringify(old) !== JSON.stringify(content)) {
        const [start, end] = spans.get(inner) ?? [0, 0]
        edits.push({ start, end, text: write(content, level + 1) })
      }
    }
    if (added.length > 0) append(pointer, current, added, level)
  }

  const wanted = path.reduceRight<Values>((inner, name) => Object.fromEntries([[name, inner]]), settings)
  put('', isObject(value) ? value : {}, wanted, 0)
  return applyEdits(text, edits)
}

/** Edits at the same position keep their order. */
const applyEdits = (text: string, edits: Edit[]): string => {
  const ordered = edits.map((edit, index) => ({ ...edit, index }))
  ordered.sort((one, other) => one.start - other.start || one.end - other.end || one.index - other.index)
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of ordered) {
    result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}
