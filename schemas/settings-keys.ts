/** Which keys of settings may be stored: `EXTENSION_PREFIX` and `SETTINGS_DENIED`. */

/** Keys whose values make an editor run a program, or send its traffic elsewhere. `*` stands for any text. */
export const DENIED_KEYS = [
  ...[
    'terminal.*',
    'http.*',
    'remote.*',
    'security.*',
    'settingsSync.*',
    'extensions.*',
    'update.*',
    'task.*',
  ],
  ...[
    'launch',
    'launch.*',
    'chat.*',
    'mcp.*',
    '*path',
    '*.executable',
    '*command',
    '*commands',
    '*commandline',
  ],
  ...['*args', '*argv', '*arguments', '*env', '*envvars', '*.shell', '*.runtime', '*.proxy', '*.tsdk'],
]

export const DENIED_MESSAGE = 'is denied on this server (`SETTINGS_DENIED`)'

/** Plain data that can be passed to a worker. */
export interface SettingsKeyRules {
  /** The first is the team's own extension, whose keys are never denied. */
  prefixes: string[]
  /** Patterns. Case doesn't matter. */
  denied: string[]
}

export interface SettingsKeys extends SettingsKeyRules {
  hasPrefix(key: string): boolean
  isDenied(key: string): boolean
}

export const settingsKeys = ({ prefixes, denied }: SettingsKeyRules): SettingsKeys => {
  const starts = prefixes.map((prefix) => `${prefix}.`)
  const [own = ''] = starts
  const matchesDenied = matcherOf(denied)
  return {
    prefixes,
    denied,
    hasPrefix: (key) => starts.some((start) => key.startsWith(start)),
    isDenied: (key) => !key.startsWith(own) && matchesDenied(key),
  }
}

/** Whether a key matches one of these patterns, in any namespace. */
export const matcherOf = (denied: readonly string[]): ((key: string) => boolean) => {
  const patterns = denied.map((pattern) => pattern.toLowerCase().split('*'))
  return (key) => {
    const text = key.toLowerCase()
    return patterns.some((parts) => matches(parts, text))
  }
}

/** Whether all keys of a prefix are denied, as `terminal.*` does. */
export const isDeniedWhole = (denied: readonly string[], prefix: string): boolean =>
  denied.some(
    (pattern) =>
      pattern.endsWith('*') && matches(pattern.toLowerCase().split('*'), `${prefix.toLowerCase()}.`),
  )

/** Takes linear time: each part between two stars is searched for once. */
const matches = ([first = '', ...rest]: string[], text: string): boolean => {
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}
