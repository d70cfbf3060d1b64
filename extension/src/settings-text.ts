/**
 * The text of a `settings.json`. Changes put text in and take it out again, and leave everything around it as it is. This file
 * doesn't depend on the editor.
 */
import { createScanner, type Node, type ParseError, parse, parseTree } from 'jsonc-parser'
import { pathOf, settingsIn } from './plan.js'

export interface Change {
  key: string
  /** Undefined removes the setting. */
  value: unknown
  /** How the person wrote this value. */
  text?: string | undefined
}

const OPTIONS = { allowTrailingComma: true, allowEmptyContent: true }

/** @throws if the text isn't a settings file, perhaps because someone is about to change it */
export const readText = (text: string): Map<string, unknown> => {
  const errors: ParseError[] = []
  const value = parse(text, errors, OPTIONS) ?? {}
  if (errors.length > 0 || typeof value !== 'object' || Array.isArray(value))
    throw new Error('it has a syntax error')
  return settingsIn(value)
}

/** An editor reads the last of several members with the same name. */
const memberOf = (object: Node | undefined, name: string): Node | undefined =>
  object?.children?.findLast(({ children }) => children?.[0]?.value === name)
const valueIn = (member: Node | undefined): Node | undefined => member?.children?.[1]
const endOf = ({ offset, length }: Node) => offset + length

/** The text of a setting's value, as the person wrote it. */
export const textOf = (text: string, key: string): string | undefined => {
  const [block, inner] = pathOf(key)
  const value = valueIn(memberOf(parseTree(text, [], OPTIONS), block))
  const found = inner === undefined ? value : valueIn(memberOf(value, inner))
  return found && text.slice(found.offset, endOf(found))
}

/** What follows a member: a comma, and the end of the comments on its last line. */
const scanFrom = (text: string, start: number) => {
  const scanner = createScanner(text, false)
  scanner.setPosition(start)
  let comma: number | undefined
  let end = start
  let isSameLine = true
  for (;;) {
    const token = scanner.scan()
    const at = scanner.getTokenOffset()
    // `LineBreakTrivia`, `Trivia`, `LineCommentTrivia` and `BlockCommentTrivia` of a const enum.
    if (token === 14) isSameLine = false
    else if (token === 12 || token === 13) {
      const isOneLine = !scanner.getTokenValue().includes('\n')
      if (isSameLine && isOneLine) end = at + scanner.getTokenLength()
      else isSameLine = false
    } else if (token === 5 && comma === undefined) {
      comma = at
      if (isSameLine) end = at + 1
    } else if (token !== 15) return { comma, end: Math.max(end, (comma ?? -1) + 1), next: at }
  }
}

interface Format {
  eol: string
  unit: string
}
const formatOf = (text: string): Format => {
  const [, unit = '    '] = /^([ \t]+)"/m.exec(text) ?? []
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit }
}
/** The indentation of the line that has this position. */
const indentAt = (text: string, at: number) => {
  const start = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? ''
}
const write = (value: unknown, { eol, unit }: Format, indent: string | undefined) => {
  if (indent === undefined) return JSON.stringify(value)
  return JSON.stringify(value, undefined, unit).replaceAll('\n', eol + indent)
}
const replace = (text: string, start: number, end: number, by: string) =>
  text.slice(0, start) + by + text.slice(end)

/** Adds a member at the end of an object. */
const insert = (text: string, object: Node, name: string, { value, text: own }: Change): string => {
  const format = formatOf(text)
  const { eol, unit } = format
  const close = endOf(object) - 1
  const last = object.children?.at(-1)
  const [first] = object.children ?? []
  if (first !== undefined && last !== undefined) {
    const { comma, end } = scanFrom(text, endOf(last))
    const isOneLine = !text.slice(object.offset, first.offset).includes('\n')
    const indent = isOneLine ? undefined : indentAt(text, first.offset)
    const start = isOneLine ? ' ' : eol + indent
    const added = `${start}${JSON.stringify(name)}: ${own ?? write(value, format, indent)}${comma === undefined ? '' : ','}`
    const at = isOneLine ? (comma === undefined ? endOf(last) : comma + 1) : end
    const longer = replace(text, at, at, added)
    return comma === undefined ? replace(longer, endOf(last), endOf(last), ',') : longer
  }
  // Comments in an empty object stay above.
  const content = text.slice(object.offset + 1, close)
  // A value of the person that was taken out of an object on one line.
  if (own !== undefined && /^[ \t]*$/.test(content))
    return replace(text, object.offset + 1, object.offset + 1, `${content}${JSON.stringify(name)}: ${own}`)
  const at = object.offset + 1 + content.trimEnd().length
  const outer = indentAt(text, object.offset)
  const indent = outer + unit
  const rest = text.slice(at, close).includes('\n') ? '' : eol + outer
  return replace(
    text,
    at,
    at,
    `${eol}${indent}${JSON.stringify(name)}: ${own ?? write(value, format, indent)}${rest}`,
  )
}

/** Takes a member out, with its comma, or the one before it if it's the last. */
const remove = (text: string, object: Node, member: Node): string => {
  const { comma, end } = scanFrom(text, endOf(member))
  const members = object.children ?? []
  const before = members[members.indexOf(member) - 1]
  const stop = comma === undefined ? endOf(member) : comma + 1
  const space = /[ \t]*$/.exec(text.slice(0, member.offset))?.[0].length ?? 0
  const lineStart = member.offset - space
  const [newline = ''] = /\r?\n$/.exec(text.slice(0, lineStart)) ?? []
  // A comment behind it stays on its line.
  const hasComment = end > stop
  const start = hasComment ? member.offset : lineStart - newline.length
  const middle = comma === undefined || endOf(member) === comma ? '' : text.slice(endOf(member), comma)
  const shorter = replace(text, start, stop, middle.trim())
  if (comma !== undefined || before === undefined) return shorter
  const separator = scanFrom(text, endOf(before)).comma
  return separator === undefined ? shorter : replace(shorter, separator, separator + 1, '')
}

/**
 * Changes settings, and nothing else.
 * @param added blocks that were added earlier, and objects that were `{}`. They go, or are that again, with their last setting,
 * and new ones join them
 */
export const editText = (text: string, changes: readonly Change[], added = new Set<string>()): string => {
  let result = text
  const treeOf = () => {
    const tree = parseTree(result, [], OPTIONS)
    if (tree?.type === 'object') return tree
    // There may be comments.
    const { eol } = formatOf(result)
    result = result.trim() === '' ? `{}${eol}` : `${result.trimEnd()}${eol}{}${eol}`
    return parseTree(result) as Node
  }
  const set = (object: Node, name: string, change: Change, container: string) => {
    const { value, text: own } = change
    const member = memberOf(object, name)
    const current = valueIn(member)
    if (value === undefined) {
      if (member) result = remove(result, object, member)
    } else if (current) {
      const isOneLine = !result.slice(object.offset, object.children?.[0]?.offset).includes('\n')
      const indent = isOneLine ? undefined : indentAt(result, member?.offset ?? 0)
      const by = own ?? write(value, formatOf(result), indent)
      result = replace(result, current.offset, endOf(current), by)
    } else {
      if (result.slice(object.offset, endOf(object)) === '{}') added.add(`{}${container}`)
      result = insert(result, object, name, change)
    }
  }
  /** An object that was empty on one line is that again. */
  const close = (object: Node | undefined, container: string) => {
    if (object === undefined || object.children?.length !== 0 || !added.delete(`{}${container}`)) return
    const [start, end] = [object.offset + 1, endOf(object) - 1]
    if (result.slice(start, end).trim() === '') result = replace(result, start, end, '')
  }
  for (const change of changes) {
    const [key, inner] = pathOf(change.key)
    const tree = treeOf()
    if (inner === undefined) {
      set(tree, key, change, '')
      close(treeOf(), '')
      continue
    }
    const block = valueIn(memberOf(tree, key))
    if (block?.type === 'object') {
      set(block, inner, change, key)
      const left = valueIn(memberOf(treeOf(), key))
      close(left, key)
      if (left?.children?.length !== 0 || !added.delete(key)) continue
      set(treeOf(), key, { key, value: undefined }, '')
      close(treeOf(), '')
    } else if (change.value !== undefined) {
      set(tree, key, { key, value: { [inner]: change.value } }, '')
      added.add(key)
    }
  }
  return result
}
