/**
 * Decides which settings a team may set, based on what installed extensions declare. This file doesn't depend on
 * the editor.
 */
import type { Limits } from '../../client/src/index.js'
import { DENIED_KEYS } from '../../schemas/denied-patterns.js'
import { isKeptByEditor, isKeptScope, settingMatcherOf } from '../../schemas/kept-settings.js'
import { prefixMatcher, settingsKeys } from '../../schemas/settings-keys.js'
import { EDITOR_NAMESPACES } from './editor-settings.js'

/** An installed extension. Its manifest is whatever its author wrote. */
export interface Installed {
  id: string
  packageJSON: unknown
}

type Values = Record<string, unknown>
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objectIn = (value: unknown, name: string): Values => {
  const inner = isObject(value) ? value[name] : undefined
  return isObject(inner) ? inner : {}
}

/** Declarations in the installed extensions' manifests. */
export interface Manifests {
  registered: Set<string>
  /** The extension that registers a setting. */
  owners: Map<string, string>
  /** Settings that extensions restrict in folders that aren't trusted. */
  restricted: Set<string>
  /** Settings of the application or the machine. */
  kept: Set<string>
  /** Settings that the person is asked about. */
  asked: Set<string>
}

/** @param own this extension, whose settings need no question */
export const readManifests = (installed: readonly Installed[], own: string): Manifests => {
  const found: Manifests = {
    registered: new Set(),
    owners: new Map(),
    restricted: new Set(),
    kept: new Set(),
    asked: new Set(),
  }
  for (const { id, packageJSON } of installed) {
    const trust = objectIn(objectIn(packageJSON, 'capabilities'), 'untrustedWorkspaces')
    const isSafe = id === own || trust.supported === true || trust.supported === 'limited'
    for (const key of [trust.restrictedConfigurations].flat())
      if (typeof key === 'string') found.restricted.add(key)
    for (const part of [objectIn(packageJSON, 'contributes').configuration].flat())
      for (const [key, property] of Object.entries(objectIn(part, 'properties'))) {
        const scope = isObject(property) ? property.scope : undefined
        found.registered.add(key)
        found.owners.set(key, id)
        if (isKeptScope(scope)) found.kept.add(key)
        // Folder settings may set machine-specific values, but ask before a team does.
        if (!isSafe || scope === 'machine-overridable') found.asked.add(key)
      }
  }
  return found
}

export interface Rules {
  limits: Pick<Limits, 'settings_prefixes' | 'settings_denied'> &
    Partial<Pick<Limits, 'settings_allowed' | 'settings_restricted'>>
  manifests: Manifests
  /** Settings that this extension declares itself, which no pattern denies. */
  declared: readonly string[]
  /** Whether the editor has a default for a setting. */
  isKnown(key: string): boolean
}

export interface Judge {
  /** Why a setting is never written, whatever the service says, or undefined. */
  refusal(key: string, value?: unknown): string | undefined
  /** Why a setting has no effect here, or undefined. */
  unknown(key: string, value?: unknown): string | undefined
  /** Whether the person is asked first. */
  asks(key: string, value?: unknown): boolean
  /** The extension that a setting belongs to, or else the first part of its name. */
  ownerOf(key: string): string
}

export const judgeOf = ({ limits, manifests, declared, isKnown }: Rules): Judge => {
  const { registered } = manifests
  const { deniedParts } = settingsKeys({
    // The service's own extension is only another one here, except for what it declares.
    prefixes: ['', ...limits.settings_prefixes],
    denied: [...DENIED_KEYS, ...limits.settings_denied],
    allowed: limits.settings_allowed ?? [],
    restricted: limits.settings_restricted ?? [],
    described: [...registered],
  })
  const hasPrefix = prefixMatcher(limits.settings_prefixes)
  const isRestricted = settingMatcherOf(manifests.restricted)
  const isKept = settingMatcherOf(manifests.kept)
  const isAsked = settingMatcherOf(manifests.asked)
  const isOfRegistered = settingMatcherOf(registered)
  const isRegistered = (key: string, value: unknown): boolean =>
    registered.has(key) ||
    isKnown(key) ||
    (isObject(value) &&
      Object.keys(value).length > 0 &&
      Object.entries(value).every(([name, inner]) => isRegistered(`${key}.${name}`, inner)))
  return {
    refusal(key, value) {
      if (!hasPrefix(key)) return 'It has none of your team’s prefixes.'
      if (isRestricted(key, value)) return 'Its extension restricts it, because it could run a program.'
      if (isKept(key, value)) return 'It belongs to the application or the machine, not to a folder.'
      if (isKeptByEditor(key, value)) return 'The editor restricts it, or keeps it for the machine.'
      return !declared.includes(key) && deniedParts(key, value).length > 0
        ? 'It could run a program or redirect traffic.'
        : undefined
    },
    unknown: (key, value) => (isRegistered(key, value) ? undefined : 'No installed extension registers it.'),
    asks(key, value) {
      if (isAsked(key, value)) return true
      // An unregistered setting may belong to an extension that runs elsewhere, so that its manifest can't be read
      // here.
      return !isOfRegistered(key, value) && !EDITOR_NAMESPACES.includes(key.split('.')[0] ?? '')
    },
    ownerOf(key) {
      const inner = () => [...manifests.owners].find(([name]) => name.startsWith(`${key}.`))?.[1]
      return manifests.owners.get(key) ?? inner() ?? key.split('.')[0] ?? key
    },
  }
}
