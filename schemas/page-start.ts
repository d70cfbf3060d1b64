import type { RepohostKind } from './common.js'
import type { SettingsKeyRules } from './settings-keys.js'

/** A person with a "Sign in as" button on the dashboard. Only the demo has such people. */
export interface OfferedPerson {
  login: string
  /** Why a visitor would sign in as this person. */
  about: string
  repohost_token: string
}

/** The data that the dashboard's page has before its first call. */
export interface PageStart {
  signed_in: boolean
  /** Whether the repository host's OAuth app is configured. */
  oauth: boolean
  /** `dormant`: a provider is configured, but everyone has Pro. */
  billing: 'off' | 'dormant' | 'on'
  repohost_kind: RepohostKind
  /** The repository host's display name, such as GitHub. */
  repohost_name: string
  /** Where people create a token for the host. */
  repohost_token_url: string
  settings_keys: SettingsKeyRules
  /** The minimum number of people behind a number that's shown (`ACTIVITY_MIN_GROUP`). */
  activity_min_group: number
  /** Where people install the extension. Null if the operator hasn't said so. */
  extension_url: string | null
  /** Whether `GET /api/settings-schema` has a schema. */
  settings_schema: boolean
  people: OfferedPerson[]
}
