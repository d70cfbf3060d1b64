/** A workspace's configuration as a file: its content, and how it differs from the service. */
import { isBlock, isObject, lockedKeysIn, locksOf } from '../../schemas/settings-keys.js'
import type { Configuration, ConfigurationBody, ConfigurationResult } from './api.js'
import { decode, JsonError, type Place, parseJson, pointerOf } from './jsonc.js'

type Values = Record<string, unknown>
type Sections = Omit<ConfigurationBody, 'reason'>

export interface ConfigurationFile {
  sections: Sections
  /** The place of a property of the request, if the file has it. */
  placeOf(pointer: string): Place | undefined
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string')

/** Each section's check. */
const kinds = new Map<string, [is: (value: unknown) => boolean, what: string]>([
  ['settings', [isObject, 'an object']],
  ['locked', [isTexts, 'a list of keys']],
  ['merged', [isTexts, 'a list of keys']],
  ['idle_window_minutes', [Number.isInteger, 'a whole number']],
  ['patterns', [isTexts, 'a list of patterns']],
  ['projects', [isObject, 'an object']],
])

/** @throws {JsonError} */
export const readConfiguration = (bytes: Uint8Array): ConfigurationFile => {
  const { value, places } = parseJson(decode(bytes))
  const placeOf = (pointer: string) => places.get(pointer)
  const fail = (message: string, ...names: string[]): never => {
    throw new JsonError(message, placeOf(pointerOf(...names)) ?? '1:1')
  }
  if (!isObject(value)) return fail('the file must be an object')
  const { $schema: _, ...sections } = value
  for (const [name, content] of Object.entries(sections)) {
    if (name === 'activity_privacy')
      fail('the privacy level isn’t part of the file: change it on the page', name)
    const [is, what] = kinds.get(name) ?? fail(`\`${name}\` isn’t a section`, name)
    if (!is(content)) fail(`\`${name}\` must be ${what}`, name)
  }
  const known = new Set<string>()
  for (const [repo, project] of Object.entries((sections.projects ?? {}) as Values)) {
    if (known.has(repo.toLowerCase())) fail(`\`${repo}\` appears twice`, 'projects', repo)
    known.add(repo.toLowerCase())
    if (!isObject(project) || !isObject(project.settings))
      fail(`\`${repo}\` must be an object with \`settings\``, 'projects', repo)
    const other = Object.keys(project as Values).find((name) => name !== 'settings')
    if (other !== undefined) fail(`\`${repo}\` can only have \`settings\``, 'projects', repo, other)
  }
  return { sections: sections as Sections, placeOf }
}

/** Keys that the service has and the file doesn't, as `settings: ext.theme`. */
type Extra = { section: string; name: string }

/** The request for a file. Keys that only the service has are kept, unless `prune` is set. */
export const requestOf = (
  file: Sections,
  server: Configuration,
  prune: boolean,
): { body: Sections; extras: Extra[] } => {
  const extras: Extra[] = []
  const merge = (section: string, wanted: Values, stored: Values): Values => {
    const missing = Object.keys(stored).filter((name) => !Object.hasOwn(wanted, name))
    extras.push(...missing.map((name) => ({ section, name })))
    return prune ? wanted : { ...Object.fromEntries(missing.map((name) => [name, stored[name]])), ...wanted }
  }
  const join = (section: string, wanted: string[], stored: string[]): string[] => {
    const missing = stored.filter((name) => !wanted.includes(name))
    extras.push(...missing.map((name) => ({ section, name })))
    return prune ? wanted : [...wanted, ...missing]
  }
  const { settings, locked, merged, patterns, projects } = file
  const body = { ...file }
  if (settings) body.settings = merge('settings', settings, server.settings)
  // The file can move a key from one list to the other, and no key is in both.
  const without = (keys: string[], others: string[] = []) => keys.filter((key) => !others.includes(key))
  if (locked) body.locked = join('locked', locked, without(server.locked, merged))
  // Earlier services have no merged keys.
  if (merged) body.merged = join('merged', merged, without(server.merged ?? [], locked))
  if (patterns) body.patterns = join('patterns', patterns, server.patterns)
  if (projects) {
    const stored = new Map(Object.entries(server.projects).map(([repo, one]) => [repo.toLowerCase(), one]))
    const kept = Object.entries(projects).map(([repo, project]) => {
      const known = stored.get(repo.toLowerCase())?.settings ?? {}
      return [repo, { settings: merge(repo, project.settings, known) }] as const
    })
    const named = new Set(Object.keys(projects).map((repo) => repo.toLowerCase()))
    const missing = Object.entries(server.projects).filter(([repo]) => !named.has(repo.toLowerCase()))
    extras.push(...missing.map(([name]) => ({ section: 'projects', name })))
    body.projects = Object.fromEntries([...kept, ...(prune ? [] : missing)])
  }
  return { body, extras: prune ? [] : extras }
}

const sorted = (values: Values, written = (_name: string, value: unknown) => value): Values =>
  Object.fromEntries(
    Object.keys(values)
      .sort()
      .map((name) => [name, written(name, values[name])]),
  )

/** Sorts keys, also in language blocks, but no names inside values, because their order counts. */
const sortedSettings = (settings: Values): Values =>
  sorted(settings, (key, value) => (isBlock(key) && isObject(value) ? sorted(value) : value))

/** Always the same text for the same configuration. */
export const textOf = (configuration: Configuration): string => {
  const settings = sortedSettings(configuration.settings)
  const projects = sorted(configuration.projects, (_, project) => ({
    settings: sortedSettings((project as Configuration['projects'][string]).settings),
  }))
  return `${JSON.stringify(sorted({ ...configuration, settings, projects }), undefined, 2)}\n`
}

export interface Difference extends ConfigurationResult {
  extras: Extra[]
  /** Overrides that are kept but no longer have an effect, because their key is now locked. */
  silenced: { repo: string; key: string }[]
}

/** The differences that the response reports, plus those that only show when the file and the service are compared. */
export const differenceOf = (
  result: ConfigurationResult,
  { body, extras }: ReturnType<typeof requestOf>,
  server: Configuration,
): Difference => {
  const locks = locksOf((body.locked ?? server.locked).filter((key) => !server.locked.includes(key)))
  const silenced = Object.entries(body.projects ?? server.projects).flatMap(([repo, { settings }]) =>
    lockedKeysIn(locks, settings).map((key) => ({ repo, key })),
  )
  return { ...result, extras, silenced }
}

const sides = ({ before, after, hides }: ConfigurationResult['changes'][number]) => {
  const show = (value: unknown, side: 'before' | 'after') =>
    value === null && hides !== side ? undefined : JSON.stringify(value)
  return { before: show(before, 'before'), after: show(after, 'after') }
}

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
const affects = ({ affected: { repositories, people } }: Difference) =>
  `${count(repositories, 'repository', 'repositories')} and ${count(people, 'person', 'people')}`
const EXTRAS = 'Only on the server (`--prune` removes it)'
const SILENCED = 'Overrides that lose their effect, because their key is locked'

export const toJson = ({ extras, silenced, ...result }: Difference): string =>
  JSON.stringify({ ...result, only_on_server: extras, silenced_overrides: silenced }, undefined, 2)

export const toText = (difference: Difference, colored: boolean): string => {
  const { changes, warnings, extras, silenced } = difference
  const paint = (text: string, code: number) => (colored ? `\u001b[${code}m${text}\u001b[0m` : text)
  const lines = changes.flatMap((change) => {
    const { before, after } = sides(change)
    return [
      `${change.scope}: ${change.key}`,
      ...(before === undefined ? [] : [paint(`  - ${before}`, 31)]),
      ...(after === undefined ? [] : [paint(`  + ${after}`, 32)]),
    ]
  })
  if (changes.length > 0) lines.push(`This affects ${affects(difference)}.`)
  else lines.push('Nothing to change.')
  for (const { path, message } of warnings) lines.push(`Warning: ${path.slice('/body/'.length)} ${message}`)
  if (silenced.length > 0) lines.push(`${SILENCED}:`)
  for (const { repo, key } of silenced) lines.push(`  ${repo}: ${key}`)
  if (extras.length > 0) lines.push(`${EXTRAS}:`)
  for (const { section, name } of extras) lines.push(`  ${section}: ${name}`)
  return lines.join('\n')
}

/** Code for a table cell. The fence is longer than any run of backticks inside, so nothing inside can end the code. */
const code = (text: string | undefined) => {
  if (text === undefined) return ''
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  const space = longest > 0 ? ' ' : ''
  return `${fence}${space}${text.replaceAll('|', '\\|').replaceAll(/[\r\n]/g, ' ')}${space}${fence}`
}

export const toMarkdown = (difference: Difference): string => {
  const { changes, warnings, extras, silenced } = difference
  if (changes.length === 0 && extras.length === 0) return 'The team settings stay as they are.'
  const rows = changes.map((change) => {
    const { before, after } = sides(change)
    return `| ${code(change.scope)} | ${code(change.key)} | ${code(before)} | ${code(after)} |`
  })
  return [
    ...(rows.length > 0
      ? [
          `**Team settings:** ${count(rows.length, 'change', 'changes')} for ${affects(difference)}.`,
          '',
          '| where | key | before | after |',
          '|---|---|---|---|',
          ...rows,
        ]
      : ['**Team settings:** no changes.']),
    ...warnings.map(({ path, message }) => `\n⚠️ ${code(path.slice('/body/'.length))} ${code(message)}`),
    ...(silenced.length > 0 ? ['', `${SILENCED}:`, ''] : []),
    ...silenced.map(({ repo, key }) => `- ${code(`${repo}: ${key}`)}`),
    ...(extras.length > 0 ? ['', `${EXTRAS}:`, ''] : []),
    ...extras.map(({ section, name }) => `- ${code(`${section}: ${name}`)}`),
  ].join('\n')
}
