/**
 * Settings that the extension never writes to a folder, because the editor restricts them, or keeps them for the application or the
 * machine. The service warns about them (`not_applied`).
 */
import { ALLOWED_KEYS } from './denied-patterns.js'
import { textMatcherOf } from './denied-settings.js'
import { limits } from './limits.js'
import { isObject } from './settings-keys.js'

/**
 * Settings that the editor restricts in folders that aren't trusted, or keeps for the application or the machine, as of VS
 * Code 1.90 to 1.139. If that applies to most of a namespace, the list has the whole namespace.
 */
const EDITOR_KEPT = [
  ...['agents', 'chat', 'extensions', 'http', 'keyboard', 'launch', 'mcp', 'network', 'remote', 'security'],
  ...[
    'sessions',
    'settingsSync',
    'task',
    'tasks',
    'telemetry',
    'terminal',
    'update',
    'accessibility.dimUnfocused',
  ],
  ...['application', 'editor.renderControlCharacters', 'editor.unicodeHighlight', 'files.dialog.defaultPath'],
  ...['files.hotExit', 'git.defaultCloneDirectory', 'git.path', 'typescript.npm'],
  ...[
    ...['clickThroughInactive', 'confirmBeforeClose', 'controlsStyle', 'customMenuBarAltFocus'],
    ...[
      'customTitleBarVisibility',
      'dialogStyle',
      'doubleClickIconToClose',
      'enableMenuBarMnemonics',
      'menuStyle',
    ],
    ...['forceCustomMenuStyle', 'menuBarVisibility', 'nativeFullScreen', 'nativeTabs', 'newWindowDimensions'],
    ...[
      'newWindowProfile',
      'openFilesInNewWindow',
      'openFoldersInNewWindow',
      'openWithoutArgumentsInNewWindow',
    ],
    ...['restoreFullscreen', 'restoreWindows', 'systemColorTheme', 'titleBarStyle'],
  ].map((name) => `window.${name}`),
  ...[
    'enableExperiments',
    'externalBrowser',
    'settings.applyToAllProfiles',
    'trustedDomains',
    'welcomePage',
  ].map((name) => `workbench.${name}`),
]

/** The scopes of a manifest whose settings the editor doesn't read from a folder. Manifests can have anything there. */
export const isKeptScope = (scope: unknown): boolean =>
  scope === 'application' || scope === 'machine' || scope === 'application-machine'

/** A setting, or a part of its value, which editors read as a setting: `"eslint": {"nodePath": …}` is `eslint.nodePath`. */
export type SettingMatcher = (key: string, value?: unknown) => boolean

/** Matches settings with these names, the settings in them (`a.b.c` is a part of `a.b`), and objects with one of these in them. */
export const settingMatcherOf = (names: Iterable<string>): SettingMatcher => {
  // Longer names can't be stored, and a manifest can have any name.
  const all = new Set([...names].filter((name) => name.length <= limits.settings_key_length))
  /** Everything that contains one of the names, so that other values aren't read. */
  const outer = new Set<string>()
  let longest = 0
  for (const name of all) {
    longest = Math.max(longest, name.length)
    for (const end of dotsIn(name, name.length)) outer.add(name.slice(0, end))
  }
  const isNamed = (key: string) => {
    for (const end of dotsIn(key, longest)) if (all.has(key.slice(0, end))) return true
    return all.has(key)
  }
  const fits: SettingMatcher = (key, value) =>
    isNamed(key) ||
    (outer.has(key) &&
      isObject(value) &&
      Object.entries(value).some(([name, inner]) => fits(`${key}.${name}`, inner)))
  return fits
}

/** Where the dots of a name are, up to a place: what's before each of them contains the name. */
function* dotsIn(name: string, last: number): Generator<number> {
  for (let at = name.indexOf('.'); at >= 0 && at <= last; at = name.indexOf('.', at + 1)) yield at
}

const isAllowed = textMatcherOf(ALLOWED_KEYS)
const isInList = settingMatcherOf(EDITOR_KEPT)

/** Whether the editor keeps one of its own settings, aside from those that every service allows by default. */
export const isKeptByEditor: SettingMatcher = (key, value) =>
  !isAllowed(key.toLowerCase()) && isInList(key, value)
