/** Reads the body with the whole configuration: what its schema can't check. */
import { ConfigurationBody } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { settingsKeys } from '../../../schemas/settings-keys.js'
import type { Config } from '../../config.js'
import { ApiError, escapePointer } from '../../errors.js'
import { InvalidBody } from '../../platform/http/json-body.js'
import type { LargeJsonKind } from '../../platform/http/large-json.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'
import { listSettingsFaults, valuesToCheck } from './policies/settings-rules.js'

export const configurationBody = {
  schema: ConfigurationBody,
  longest: 'projects',
  maxBytes: limits.configuration_body_bytes,
  maxValues: limits.configuration_json_values,
} as const satisfies LargeJsonKind<typeof ConfigurationBody>

/** JSON pointer in a request. */
export const placeOfOverride = (name: string): string => `/body/projects/${escapePointer(name)}/settings`

type Rules = Pick<Config, 'repohost' | 'settingsKeys' | 'settingsRules'>

/** @throws {InvalidBody} for the name of a repository @throws {ApiError} `validation_failed` for the first settings with faulty keys */
export const requireValidConfiguration = async (
  { settings = {}, projects = {} }: ConfigurationBody,
  { repohost, settingsKeys: keys, settingsRules: rules }: Rules,
): Promise<void> => {
  const names = new Set<string>()
  for (const name of Object.keys(projects)) {
    if (!isRepoPath(name, repohost.kind)) throw invalidName(name, 'must be `owner/repo`')
    if (names.has(name.toLowerCase())) throw invalidName(name, 'must not appear twice (ignoring case)')
    names.add(name.toLowerCase())
  }
  const { faultsIn } = settingsKeys(keys)
  const check = (content: typeof settings, kind: 'workspace' | 'override', at: string) => {
    const faults = faultsIn(content, kind)
    if (faults.length === 0) return
    const errors = listSettingsFaults(rules, { at, settings: valuesToCheck(kind, content), faults })
    throw new ApiError('validation_failed', { errors })
  }
  check(settings, 'workspace', '/body/settings')
  for (const [name, override] of Object.entries(projects)) {
    check(override.settings, 'override', placeOfOverride(name))
    await yieldIfDue()
  }
}

const invalidName = (propertyName: string, message: string) =>
  new InvalidBody([{ keyword: 'name', instancePath: '/projects', propertyName, message, params: {} }])
