import type { ConfigurationBody } from '../../../../schemas/configuration.js'
import { limits } from '../../../../schemas/limits.js'
import { DENIED_MESSAGE, settingsKeys } from '../../../../schemas/settings-keys.js'
import { isRepoPath } from '../../../../schemas/subgroups.js'
import type { Config } from '../../../config.js'
import { invalid } from '../../../errors.js'
import { formatsOf } from '../../../platform/http/formats.js'
import { takeTurns } from '../configuration-changes.js'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keys between two looks at the clock. */
const KEYS = 500

/** Names of keys and repositories can be as long as the body. */
const NAME_SHOWN = 300

const pointer = (name: string) =>
  (name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN)}…` : name)
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')

/**
 * What the schema of the body says about overrides and values. A validator would check all of them in one go, so that other
 * requests wait for a large body. @throws {ApiError} `validation_failed`
 */
export const requireConfiguration = async (
  { settingsKeys: keys, repohost }: Pick<Config, 'settingsKeys' | 'repohost'>,
  { settings = {}, projects = {} }: ConfigurationBody,
): Promise<void> => {
  const turn = takeTurns()
  const names = new Set<string>()
  const format = formatsOf(keys)['settings-key']
  const { isDenied } = settingsKeys(keys)
  for (const key of Object.keys(settings))
    if (settings[key] === null)
      throw invalid(`/body/settings/${pointer(key)}`, 'must not be null: leave the key out')
  for (const name of Object.keys(projects)) {
    const at = `/body/projects/${pointer(name)}`
    if (!isRepoPath(name, repohost.kind)) throw invalid(at, 'must be `owner/repo`')
    if (names.has(name.toLowerCase())) throw invalid(at, 'must not appear twice (ignoring case)')
    names.add(name.toLowerCase())
    const project: unknown = projects[name]
    if (!isObject(project)) throw invalid(at, 'must be object')
    for (const member of Object.keys(project))
      if (member !== 'settings') throw invalid(`${at}/${pointer(member)}`, 'is not known')
    if (!('settings' in project)) throw invalid(`${at}/settings`, 'is required')
    if (!isObject(project.settings)) throw invalid(`${at}/settings`, 'must be object')
    for (const [index, key] of Object.keys(project.settings).entries()) {
      const fail = (message: string) => invalid(`${at}/settings/${pointer(key)}`, message)
      if (format && !format.accepts(key)) throw fail(format.message)
      if (isDenied(key)) throw fail(DENIED_MESSAGE)
      if (key.length > limits.settings_key_length)
        throw fail(`must NOT have more than ${limits.settings_key_length} characters`)
      if (index % KEYS === 0) await turn()
    }
  }
}
