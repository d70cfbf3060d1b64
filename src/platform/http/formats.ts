import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { isOwner, isRepoPath } from '../../../schemas/owners.js'
import { isPattern } from '../../../schemas/repo-pattern.js'
import { type SettingsKeyRules, settingsKeys, startsOf } from '../../../schemas/settings-keys.js'
import { isDay } from '../time/days.js'

/** A string `format` in the schemas. */
export interface Format {
  accepts(text: string): boolean
  /** The message for a string that isn't accepted. */
  message: string
}

/** Every format that a request can violate, by its name in the schemas. */
export const formatsOf = (keys: SettingsKeyRules, kind: RepohostKind = 'github'): Record<string, Format> => ({
  // Stricter than the usual one, which also accepts `urn:uuid:…`. The database doesn't.
  uuid: {
    accepts: (text) => isUuid(text.toLowerCase()),
    message: 'must be a UUID, such as 0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e',
  },
  date: {
    accepts: isDay,
    message: 'must be a calendar day as YYYY-MM-DD, such as 2026-11-21',
  },
  printable: {
    accepts: (text) => /^[\x21-\x7e]*$/.test(text),
    message: 'must have only visible ASCII characters, and no spaces',
  },
  'repo-pattern': {
    accepts: (text) => isPattern(text, kind),
    message: `must be \`owner/*\`, \`owner/repo\`, or \`owner/\` and a repository name with \`*\` in it${kind === 'gitlab' ? '; `**` stands alone after the group' : ''}`,
  },
  owner: {
    accepts: (text) => isOwner(text, kind),
    message: `must have at most ${limits.owner_groups} groups`,
  },
  'repo-path': {
    accepts: (text) => isRepoPath(text, kind),
    message: `must be \`owner/repo\`, with an owner of at most ${limits.owner_path_length} characters`,
  },
  'settings-key': {
    accepts: settingsKeys(keys).canExist,
    message: `must start with ${startsOf(keys.prefixes)}`,
  },
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text is a UUID in lower case, as the service writes them. */
export const isUuid = (text: string): boolean => UUID.test(text)
