/** The text of a `settings.json`, with its comments. This file doesn't depend on the editor. */
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser'
import { pathOf, settingsIn } from './plan.js'

/** @throws if the text isn't a settings file, perhaps because someone is about to change it */
export const readText = (text: string): Map<string, unknown> => {
  const errors: ParseError[] = []
  const value = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true }) ?? {}
  if (errors.length > 0 || typeof value !== 'object' || Array.isArray(value))
    throw new Error('it has a syntax error')
  return settingsIn(value)
}

const formatOf = (text: string) => {
  const [, indent = '    '] = /^([ \t]+)"/m.exec(text) ?? []
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

/** Changes settings, and nothing else. Undefined removes a setting, and its block once that is empty. */
export const editText = (text: string, changes: readonly { key: string; value: unknown }[]): string => {
  const formattingOptions = formatOf(text)
  const set = (before: string, path: string[], value: unknown) =>
    applyEdits(before, modify(before, path, value, { formattingOptions }))
  let result = text.trim() === '' ? '{}\n' : text
  for (const { key, value } of changes) {
    const path = pathOf(key)
    if (value === undefined && !readText(result).has(key)) continue
    result = set(result, path, value)
    const [block, inner] = path
    const isEmpty = inner !== undefined && ![...readText(result).keys()].some((id) => pathOf(id)[0] === block)
    if (value === undefined && isEmpty) result = set(result, [block], undefined)
  }
  return result
}
