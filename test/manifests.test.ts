/** Manifests of extensions as they're published: several, translated, and with properties that can't be used. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

type Files = Record<string, unknown>

/** Writes files, and names those that aren't `package.nls.json`. */
const write = async (test: Parameters<typeof temporaryFolder>[0], files: Files) => {
  const folder = await temporaryFolder(test)
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return Object.keys(files)
    .filter((name) => !name.endsWith('package.nls.json'))
    .map((name) => join(folder, name))
    .join(',')
}
const manifest = (properties: unknown, more: object = {}) => ({
  contributes: { configuration: { properties, ...more } },
})
const at = '/contributes/configuration/properties/ext.bad'
const types = 'must be one of null, boolean, integer, number, string, array, object, or a list of these'

/** One peculiarity each: the property `ext.bad`, and why it's left out. */
const unusable: [what: string, schema: unknown, why: string][] = [
  ['an unknown type', { type: 'enum' }, `${at}/type ${types}`],
  ['a type in capitals', { type: 'String' }, `${at}/type ${types}`],
  ['a list of no types', { type: [] }, `${at}/type ${types}`],
  ['a text where a schema stands', 'string', `${at} must be an object`],
  ['a number where a schema stands', 1, `${at} must be an object`],
  ['null where a schema stands', null, `${at} must be an object`],
  ['a list where a schema stands', [{}], `${at} must be an object`],
  ['a text as the items', { type: 'array', items: 'string' }, `${at}/items must be an object`],
  ['an unknown type in the items', { items: { type: 'path' } }, `${at}/items/type ${types}`],
  ['a text as a member', { properties: { a: 'string' } }, `${at}/properties/a must be an object`],
  ['members as a list', { properties: [] }, `${at}/properties must be an object of schemas`],
  [
    'a text as other members',
    { additionalProperties: 'any' },
    `${at}/additionalProperties must be an object`,
  ],
  ['a broken pattern', { pattern: '(' }, `${at}/pattern isn’t a regular expression`],
  ['a pattern that is a number', { pattern: 7 }, `${at}/pattern must be a text`],
  [
    'a broken pattern of names',
    { patternProperties: { '*': {} } },
    `${at}/patternProperties/* isn’t a regular expression`,
  ],
  ['a text as a limit', { minimum: '1' }, `${at}/minimum must be a number`],
  ['a length below zero', { maxLength: -1 }, `${at}/maxLength must be a whole number from 0`],
  ['a text as the allowed values', { enum: 'a,b' }, `${at}/enum must be a list of values`],
  ['no allowed values', { enum: [] }, `${at}/enum must be a list of values`],
  ['no alternatives', { anyOf: [] }, `${at}/anyOf must be a list of schemas`],
  ['a text as an alternative', { oneOf: ['string'] }, `${at}/oneOf/0 must be an object`],
  ['a text as the required members', { required: 'a' }, `${at}/required must be a list of texts`],
]

t.test('an unusable property is skipped with one warning', async (t) => {
  for (const [what, schema, why] of unusable) {
    const good = { type: 'string', enum: ['a'] }
    const SETTINGS_SCHEMA = await write(t, {
      'package.json': manifest({ 'ext.bad': schema, 'ext.good': good }),
    })
    const { settingsRules, warnings } = readConfig({ SETTINGS_SCHEMA })
    t.same(settingsRules?.schema.document.properties, { 'ext.good': good }, what)
    t.same(
      warnings.map(({ message }) => message),
      [`SETTINGS_SCHEMA: the service leaves out \`ext.bad\`: ${why}.`],
      what,
    )
    t.same(
      settingsRules?.schema.check({ 'ext.bad': 1, 'ext.good': 'b', 'ext.other': 1 }),
      [
        { path: '/ext.good', code: 'invalid', message: 'must be one of "a"' },
        { path: '/ext.other', code: 'unknown', message: 'isn’t one of the extension’s settings' },
      ],
      'and its key is not unknown',
    )
  }
})

t.test('a manifest may have errors elsewhere', async (t) => {
  const properties = { 'ext.a': { description: 'A' } }
  const sloppy: [what: string, content: unknown, warnings: number][] = [
    ['a type that is not an object', manifest(properties, { type: 'Object' }), 0],
    ['a title that is a number', manifest(properties, { title: 7 }), 0],
    ['an order that is a text', manifest(properties, { order: '1' }), 0],
    ['a group that is null', { contributes: { configuration: [null, { properties }] } }, 1],
    ['a group without properties', { contributes: { configuration: [{ title: 'x' }, { properties }] } }, 0],
    ['properties as a list', { contributes: { configuration: [{ properties: [] }, { properties }] } }, 1],
    ['a byte order mark', `\uFEFF${JSON.stringify(manifest(properties))}`, 0],
    ['a description that is a list', manifest({ ...properties, 'ext.b': { description: ['x'] } }), 0],
    ['a default of another type', manifest({ ...properties, 'ext.b': { type: 'string', default: 1 } }), 0],
    ['a JSON Schema of a list', { type: 'array', properties }, 0],
    [
      'a name of the language itself',
      `{"properties": {"ext.a": {}, "__proto__": {}, "ext.__proto__": {}}}`,
      1,
    ],
  ]
  for (const [what, content, expected] of sloppy) {
    const { settingsRules, warnings } = readConfig({ SETTINGS_SCHEMA: await write(t, { 'a.json': content }) })
    t.ok(Object.hasOwn(settingsRules?.schema.document.properties ?? {}, 'ext.a'), what)
    t.equal(warnings.length, expected, what)
  }
})

t.test('descriptions come from the package.nls.json next to each of several files', async (t) => {
  const described = (key: string) => ({
    [key]: { type: 'string', enum: ['x'], markdownDescription: '%about%', enumDescriptions: ['%x%'] },
  })
  const files = {
    'one/package.json': manifest(described('one.a'), { title: '%title%' }),
    'one/package.nls.json': {
      title: 'One',
      about: 'Takes `Map<K, V>`<br>',
      x: { message: 'The X', comment: ['a letter'] },
    },
    'two/package.json': manifest(described('two.a'), { title: '%title%' }),
    'two/package.nls.json': '\uFEFF{"about": "Two <script>", "x": 7, "constructor": 1}',
    'three/package.json': manifest(
      { 'two.b': { description: '%constructor%' }, 'three.bad': 1 },
      { title: 'Three' },
    ),
    'three/package.nls.json': '{"broken": ',
  }
  const SETTINGS_SCHEMA = await write(t, files)
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'one,two,three,four', SETTINGS_SCHEMA } })
  const { body } = await service.request('GET', '/api/settings-schema')
  t.same(body.properties, {
    'one.a': {
      type: 'string',
      enum: ['x'],
      markdownDescription: 'Takes `Map<K, V>`',
      enumDescriptions: ['The X'],
    },
    'two.a': { type: 'string', enum: ['x'], markdownDescription: 'Two ' },
    'two.b': {},
  })
  t.same(body['x-groups'], [
    { title: 'One', properties: ['one.a'] },
    { title: null, properties: ['two.a'] },
    { title: 'Three', properties: ['two.b'] },
  ])
  const [one = '', two = '', three = ''] = SETTINGS_SCHEMA.split(',')
  const messages = service.config.warnings.map((warning) => warning.message)
  t.match(messages[0], /leaves out the package\.nls\.json beside .*three.package\.json: it isn’t JSON: /)
  t.same(messages.slice(1), [
    `SETTINGS_SCHEMA: the service leaves out \`three.bad\`: ${three}#${at.replace('ext.', 'three.')} must be an object.`,
    `SETTINGS_SCHEMA: the service skips texts to be translated (\`%…%\`): ${two}#/contributes/configuration/title and 2 more.`,
  ])
  t.ok(one.endsWith('package.json'))
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const settings = { 'one.z': 1, 'two.z': 1, 'three.bad': 1, 'three.z': 1, 'four.z': 1 }
  t.same((await ada.push('acme/api', settings)).body.warnings, [
    ...['one.z', 'two.z', 'three.z'].map((key) => ({
      path: `/body/settings/${key}`,
      code: 'unknown',
      message: 'isn’t one of the extension’s settings',
    })),
  ])
})

t.test('the service starts with all published manifests here, and shows all of their settings', async (t) => {
  const folder = join(projectRoot, 'test/extensions')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const files = names.map((name) => join(folder, name))
  const contents = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, 'utf8'))))
  const keys = contents.flatMap(({ contributes: { configuration } }) =>
    [configuration].flat().flatMap(({ properties }) => Object.keys(properties)),
  )
  const prefixes = [...new Set(keys.map((key: string) => key.split('.')[0]))]
  // The first is another extension's, so that all of these can be denied.
  const service = await startService(t, {
    env: {
      EXTENSION_PREFIX: `own,${prefixes.join()}`,
      SETTINGS_SCHEMA: files.join(),
      SETTINGS_DENIED: 'none.*',
    },
  })
  const { body } = await service.request('GET', '/api/settings-schema')
  t.same(Object.keys(body.properties).sort(), [...new Set(keys)].sort())
})
