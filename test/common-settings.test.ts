/** The settings that the page offers a new team. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { DENIED_KEYS } from '../schemas/denied-patterns.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { projectRoot } from '../src/platform/process/root.js'
import { bundle, load } from './bundle.js'

interface CommonSetting {
  key: string
  from: string
  default?: unknown
  [name: string]: unknown
}

const PREFIXES = ['ext', 'editor', 'files', 'search', 'workbench', 'eslint', 'prettier']
const { commonSettings, commonSchema } = await load(t, await bundle('web/common-settings.ts'))
const rows = (await readFile(join(projectRoot, 'test/editor-settings.csv'), 'utf8')).trim().split('\n')

t.test('every common setting comes from a published extension, and any team can store it', (t) => {
  const keys = settingsKeys({ prefixes: PREFIXES, ...NO_RULES, denied: DENIED_KEYS })
  for (const { key, from, ...property } of commonSettings as CommonSetting[]) {
    t.ok(rows.includes(`allowed,${key},${from},`), `${key} is in the list with ${from}`)
    const value = property.default ?? (property.type === 'object' ? { x: true } : ['x'])
    t.same(keys.faultsIn({ [key]: value }, 'override'), [], key)
    const { description, enumDescriptions, ...schema } = property
    t.type(description, 'string')
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema)
    if ('default' in property) t.ok(validate(property.default), `${key} can have its default`)
    if (enumDescriptions) t.equal((enumDescriptions as string[]).length, (property.enum as string[]).length)
  }
  t.end()
})

t.test('a server offers the common settings that it can store', (t) => {
  const { hasPrefix } = settingsKeys({ prefixes: ['ext', 'eslint'], ...NO_RULES })
  const { properties, 'x-groups': groups } = commonSchema(hasPrefix)
  t.same(Object.keys(properties), ['eslint.run', 'eslint.validate'])
  t.same(groups, [{ title: 'Settings that most teams share', properties: ['eslint.run', 'eslint.validate'] }])
  t.same(properties['eslint.run'], {
    type: 'string',
    enum: ['onSave', 'onType'],
    default: 'onType',
    description: 'When ESLint checks a file.',
  })
  t.equal(commonSchema(settingsKeys({ prefixes: ['ext', 'go'], ...NO_RULES }).hasPrefix), undefined)
  t.end()
})
