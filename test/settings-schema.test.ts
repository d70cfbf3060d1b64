import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'
import { readSettingsSchema } from '../src/platform/settings-schema/read.js'
import { problemsOf } from './config-problems.js'
import { hasProperties } from './has-properties.js'
import { temporaryFolder } from './process.js'
import { reuseService, startService } from './service.js'

const team = '/api/team/workspaces'
const ext = settingsKeys({ prefixes: ['ext'], ...NO_RULES })

const read = (content: unknown) =>
  readSettingsSchema([{ name: 'schema.json', text: JSON.stringify(content), texts: undefined }], ext)

/** A file with this content, for `SETTINGS_SCHEMA`. */
const fileWith = async (test: Parameters<typeof temporaryFolder>[0], content: unknown): Promise<string> => {
  const file = join(await temporaryFolder(test), 'schema.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const extension = (properties: object) => ({
  contributes: { configuration: { title: 'Example', properties } },
})

const properties = {
  'ext.theme': { type: 'string', enum: ['dark', 'light'] },
  'ext.fontSize': { type: 'number', minimum: 6, maximum: 40 },
  'ext.rulers': { type: 'array', items: { type: 'integer' }, maxItems: 3 },
  'ext.font': {
    type: ['string', 'null'],
    maxLength: 10,
    pattern: '^[a-z ]+$',
    patternErrorMessage: 'is no font',
  },
  'ext.lint': {
    type: 'object',
    properties: { strict: { type: 'boolean' } },
    additionalProperties: false,
  },
}

const bad = {
  'ext.theme': 'blue',
  'ext.fontSize': 5,
  'ext.rulers': [80, 'x', 1, 2],
  'ext.font': 'COMIC SANS MS',
  'ext.lint': { strict: 1, extra: true },
  'ext.other': 1,
}
const faults = [
  { path: '/ext.theme', message: 'must be one of "dark", "light"' },
  { path: '/ext.fontSize', message: 'must be at least 6' },
  { path: '/ext.rulers', message: 'must have at most 3 items' },
  { path: '/ext.rulers/1', message: 'must be a whole number' },
  { path: '/ext.font', message: 'must have at most 10 characters' },
  { path: '/ext.font', message: 'is no font' },
  { path: '/ext.lint/strict', message: 'must be true or false' },
  { path: '/ext.lint/extra', message: 'isn’t known' },
  { path: '/ext.other', message: 'isn’t one of the extension’s settings' },
]
const good = {
  'ext.theme': 'dark',
  'ext.fontSize': 6.5,
  'ext.rulers': [80],
  'ext.font': null,
  'ext.lint': {},
  'ext.other': null,
}
const at = (prefix: string) =>
  faults.map(({ path, message }) => ({
    path: prefix + path,
    code: path === '/ext.other' ? 'unknown' : 'invalid',
    message,
  }))

t.test('without a schema, any value is accepted and no schema is served', async (t) => {
  const service = await reuseService(t)
  t.hasStrict(await service.request('GET', '/api/settings-schema'), {
    status: 404,
    body: { code: 'schema_not_configured' },
  })
})

t.test('in warn mode, settings are stored and the response lists the mismatches', async (t) => {
  const SETTINGS_SCHEMA = await fileWith(t, extension(properties))
  const service = await startService(t, { env: { SETTINGS_SCHEMA } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const override = `${team}/${id}/project-settings/acme/api`

  const pushed = await ada.push('acme/api', bad)
  t.equal(pushed.status, 200)
  t.same(pushed.body.warnings, at('/body/settings'))
  t.same((await ada.get('/api/settings/acme/api')).body.settings, bad)
  const patched = await ada.patch(`${team}/${id}/settings`, { settings: bad })
  t.same(patched.body.warnings, at('/body/settings'))
  t.same((await ada.get(`${team}/${id}/settings`)).body.warnings, at('/settings'))
  const set = await ada.put(override, { settings: bad })
  t.same(set.body.warnings, at('/body/settings'))

  t.notOk('warnings' in (await ada.push('acme/api', good)).body)
  t.notOk('warnings' in (await ada.put(override, { settings: good })).body)
  const fixed = await ada.patch(`${team}/${id}/settings`, { settings: good })
  t.notOk('warnings' in fixed.body, 'a patch is judged by the keys that it sends')

  t.same((await ada.post('/api/settings/acme/api/restore', { version: 1 })).body.warnings, at('/settings'))
  t.same((await ada.post(`${override}/restore`, { version: 1 })).body.warnings, at('/settings'))
  t.same((await ada.post(`${team}/${id}/settings/restore`, { version: 2 })).body.warnings, at('/settings'))
})

t.test('in enforce mode, mismatches are rejected before the host is asked', async (t) => {
  const SETTINGS_SCHEMA = await fileWith(t, { type: 'object', properties })
  const before = await reuseService(t)
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  const override = `${team}/${id}/project-settings/acme/api`
  // From the time before there was a schema.
  await ada.push('acme/api', bad)
  await ada.push('acme/api', good)
  await ada.patch(`${team}/${id}/settings`, { settings: bad })
  await ada.put(override, { settings: bad })
  await ada.put(override, { settings: good })

  const service = await startService(t, {
    beside: before,
    env: { SETTINGS_SCHEMA, SETTINGS_VALIDATION: 'enforce' },
  })
  const eve = await service.signIn('ada')
  const rejected = (prefix: string) => ({
    status: 400,
    body: { code: 'validation_failed', errors: at(prefix).map(({ path, message }) => ({ path, message })) },
  })
  const asked = service.repohost.requests.length
  hasProperties(t, await eve.push('acme/api', bad), rejected('/body/settings'))
  t.equal(service.repohost.requests.length, asked)
  hasProperties(t, await eve.patch(`${team}/${id}/settings`, { settings: bad }), rejected('/body/settings'))
  hasProperties(t, await eve.put(override, { settings: bad }), rejected('/body/settings'))
  hasProperties(t, await eve.post('/api/settings/acme/api/restore', { version: 1 }), rejected('/settings'))
  hasProperties(t, await eve.post(`${override}/restore`, { version: 1 }), rejected('/settings'))

  const one = await eve.patch(`${team}/${id}/settings`, { settings: { 'ext.theme': 'light' } })
  t.equal(one.status, 200, 'keys that a patch leaves alone do not count')
  t.equal((await eve.patch(`${team}/${id}/settings`, { settings: good })).status, 200)
  hasProperties(t, await eve.post(`${team}/${id}/settings/restore`, { version: 2 }), rejected('/settings'))
  t.equal((await eve.push('acme/api', good)).status, 200)
  t.equal((await eve.put(override, { settings: good })).status, 200)
})

t.test('in enforce mode, wrong keys and values are returned together, in order', async (t) => {
  const SETTINGS_SCHEMA = await fileWith(t, { type: 'object', properties })
  const env = { EXTENSION_PREFIX: 'ext,lint', SETTINGS_SCHEMA, SETTINGS_VALIDATION: 'enforce' }
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const markup = 'must not contain any of `( ) < > [ ]` or a backtick'
  const spelled = { 'lint.<b>': 1, 'ext.theme': 'blue', '[go]': { 'lint.a`b': 1, 'ext.fontSize': 5 } }
  const faultsOfSpelled = [
    { path: '/body/settings/lint.<b>', message: markup },
    { path: '/body/settings/ext.theme', message: 'must be one of "dark", "light"' },
    { path: '/body/settings/[go]/lint.a`b', message: markup },
    { path: '/body/settings/[go]/ext.fontSize', message: 'must be at least 6' },
  ]
  const starts = 'must start with `ext.` or `lint.`'
  const errors = [...faultsOfSpelled, { path: '/body/settings/other', message: starts }]
  const places = [
    (settings: object) => ada.push('acme/api', settings),
    (settings: object) => ada.patch(`${team}/${id}/settings`, { settings }),
    (settings: object) => ada.put(`${team}/${id}/project-settings/acme/api`, { settings }),
  ]
  for (const store of places) {
    t.same((await store(spelled)).body.errors, faultsOfSpelled)
    t.same((await store({ ...spelled, other: 1 })).body.errors, errors)
  }
  const configure = async (body: object) => (await ada.put(`${team}/${id}/configuration`, body)).body.errors
  const inProject = (faults: typeof errors) =>
    faults.map(({ path, ...rest }) => ({
      path: path.replace('/body/', '/body/projects/acme~1api/'),
      ...rest,
    }))
  const large = { 'lint.large': 'x'.repeat(200_000) }
  for (const [settings, faults] of [
    [spelled, faultsOfSpelled],
    [{ ...spelled, other: 1 }, errors],
    [{ ...spelled, other: 1, ...large }, errors],
  ] as const) {
    t.same(await configure({ settings }), faults)
    t.same(
      await configure({ projects: { 'acme/web': { settings: {} }, 'acme/api': { settings } } }),
      inProject(faults),
    )
  }
  const removed = await ada.patch(`${team}/${id}/settings`, {
    settings: { 'lint.<b>': null, 'ext.theme': 'blue' },
  })
  t.same(removed.body.errors, [faultsOfSpelled[1]], 'what a patch removes may have any name')
})

t.test('anyone can read the schema, which has an ETag', async (t) => {
  const file = {
    contributes: {
      configuration: [
        { title: 'Second', order: 2, properties: { 'ext.b': { type: 'string', default: 'x', order: 1 } } },
        {
          title: '%title%',
          order: 1,
          properties: {
            'ext.a': {
              type: 'string',
              enum: ['p', 'q'],
              enumDescriptions: ['%p%', 'The <b>q</b>'],
              markdownDescription:
                'See `#ext.b#`, [the page](https://example.com/x), [Run](command:ext.run) <img src=x onerror=alert(1)>.',
              $ref: 'vscode://schemas/settings',
              unknownKeyword: 1,
            },
            'other.key': { type: 'string' },
          },
        },
        { title: 'Empty', properties: {} },
      ],
    },
  }
  const SETTINGS_SCHEMA = await fileWith(t, file)
  const service = await startService(t, { env: { SETTINGS_SCHEMA, SETTINGS_VALIDATION: 'enforce' } })
  const read = await service.request('GET', '/api/settings-schema')
  t.equal(read.status, 200)
  t.same(read.body, {
    type: 'object',
    properties: {
      'ext.b': { type: 'string', default: 'x', order: 1 },
      'ext.a': {
        type: 'string',
        enum: ['p', 'q'],
        enumDescriptions: ['', 'The q'],
        markdownDescription: 'See `#ext.b#`, [the page](https://example.com/x), Run .',
      },
    },
    additionalProperties: false,
    'x-groups': [
      { title: null, properties: ['ext.a'] },
      { title: 'Second', properties: ['ext.b'] },
    ],
    'x-validation': 'enforce',
  })
  const etag = read.headers.get('etag') ?? ''
  const again = await service.request('GET', '/api/settings-schema', { headers: { 'If-None-Match': etag } })
  t.equal(again.status, 304)
  t.same(
    service.config.warnings.map(({ message }) => message),
    [
      'SETTINGS_SCHEMA: the service skips texts to be translated (`%…%`): /contributes/configuration/1/title and 1 more.',
      'SETTINGS_SCHEMA: the service skips `$ref`, which isn’t checked: /contributes/configuration/1/properties/ext.a/$ref.',
      'SETTINGS_SCHEMA: the service skips keys that don’t start with one of this server’s prefixes (`ext.`, `editor.`, …): /contributes/configuration/1/properties/other.key.',
    ],
  )
})

t.test('startup fails with a reason if the schema file has no usable setting', async (t) => {
  const place = '/contributes/configuration/properties/ext.a'
  const none =
    'has no usable setting that starts with one of this server’s prefixes (`ext.`, `editor.`, …) (EXTENSION_PREFIX)'
  const cases: [unknown, string][] = [
    [
      extension({ 'ext.a': 'string' }),
      `${none}: the service leaves out \`ext.a\`: ${place} must be an object`,
    ],
    [extension({ 'other.a': {} }), none],
    [{ contributes: {} }, '/contributes/configuration must be an object or a list of objects'],
    [
      { contributes: { configuration: [1] } },
      `${none}: the service leaves out /contributes/configuration/0: it must be an object`,
    ],
    [{}, '/properties must be an object of schemas, or contributes.configuration of an extension'],
    [[], 'must contain a JSON object'],
  ]
  for (const [content, message] of cases) {
    const file = await fileWith(t, content)
    t.same(problemsOf({ SETTINGS_SCHEMA: file }), [`SETTINGS_SCHEMA: ${file} ${message}`], message)
  }
  const usable = await fileWith(t, extension(properties))
  const broken = await fileWith(t, '{"a": ')
  t.throws(() => readConfig({ SETTINGS_SCHEMA: `${usable}, ${broken}` }), /schema\.json isn’t JSON: /)
  const large = await fileWith(t, ' '.repeat(4 * 2 ** 20 + 1))
  t.throws(() => readConfig({ SETTINGS_SCHEMA: large }), /is larger than 4194304 bytes/)
  t.same(problemsOf({ SETTINGS_SCHEMA: `${usable},${broken}.none`, PORT: 'x' }), [
    'PORT must be a whole number from 1 to 65535',
    `SETTINGS_SCHEMA: ${broken}.none can’t be read (ENOENT)`,
  ])
  t.same(problemsOf({ SETTINGS_VALIDATION: 'enforce' }), [
    'SETTINGS_VALIDATION=enforce must be set together with SETTINGS_SCHEMA: it has no effect on its own',
  ])
})

t.test('published extensions are read unchanged', async (t) => {
  const published = (file: string, prefix: string) => {
    const SETTINGS_SCHEMA = join(projectRoot, file)
    const { settingsRules, warnings } = readConfig({ SETTINGS_SCHEMA, EXTENSION_PREFIX: prefix })
    if (!settingsRules) throw new Error('There is a schema')
    const { schema } = settingsRules
    return {
      keys: Object.keys(schema.document.properties).length,
      skips: warnings.map(({ message }) =>
        message.replace(/^SETTINGS_SCHEMA: the service skips (.*?): .*$/, '$1'),
      ),
      check: schema.check,
    }
  }
  const pyright = published('test/extensions/vscode-pyright.json', 'python')
  t.hasStrict(pyright, { keys: 15, skips: ['keys that don’t start with `python.`'] })
  t.same(
    pyright.check({
      'python.analysis.typeCheckingMode': 'strict',
      'python.analysis.diagnosticSeverityOverrides': { reportMissingImports: 'warning' },
      'python.analysis.diagnosticMode': 'everything',
      'python.analysis.extraPaths': ['src', 1],
      'python.analysis.unheardOf': true,
    }),
    [
      {
        path: '/python.analysis.diagnosticMode',
        code: 'invalid',
        message: 'must be one of "openFilesOnly", "workspace"',
      },
      { path: '/python.analysis.extraPaths/1', code: 'invalid', message: 'must be a text' },
      {
        path: '/python.analysis.unheardOf',
        code: 'unknown',
        message: 'isn’t one of the extension’s settings',
      },
    ],
  )
  const mocha = published('demo/extension/vscode-mocha-test-adapter.json', 'mochaExplorer')
  t.hasStrict(mocha, { keys: 34, skips: [] })
  t.same(
    mocha.check({
      'mochaExplorer.files': ['test/**/*.js', 'spec'],
      'mochaExplorer.ignore': 'x',
      'mochaExplorer.env': { A: 'b', C: null, D: 1 },
      'mochaExplorer.timeout': '2s',
    }),
    [
      { path: '/mochaExplorer.env/D', code: 'invalid', message: 'must be a text or null' },
      { path: '/mochaExplorer.timeout', code: 'invalid', message: 'must be a number' },
    ],
  )
  const icons = published('test/extensions/material-icon-theme.json', 'material-icon-theme')
  t.hasStrict(icons, { keys: 17, skips: ['texts to be translated (`%…%`)'] })
  t.same(
    icons.check({
      'material-icon-theme.opacity': 2,
      'material-icon-theme.folders.color': '#90a4ae',
      'material-icon-theme.activeIconPack': 'vue',
    }),
    [{ path: '/material-icon-theme.opacity', code: 'invalid', message: 'must be at most 1' }],
  )
})

t.test('every keyword means the same as in JSON Schema', async (t) => {
  const faultsOf = (schema: object, value: unknown) =>
    read({ properties: { 'ext.a': schema } })
      .schema.check({ 'ext.a': value })
      .map(({ path, message }) => `${path.slice('/ext.a'.length)} ${message}`)
  const rows: [object, unknown, string[]][] = [
    [{ type: 'number' }, 1, []],
    [{ type: 'integer' }, 1.5, [' must be a whole number']],
    [{ type: 'integer' }, 1e300, []],
    [{ type: ['array', 'boolean'] }, {}, [' must be a list or true or false']],
    [{ const: { a: 1, b: [2] } }, { b: [2], a: 1 }, []],
    [{ enum: [[1], null] }, [2], [' must be one of [1], null']],
    [{ exclusiveMinimum: 1 }, 1, [' must be more than 1']],
    [{ minimum: 1, exclusiveMinimum: true }, 1, [' must be more than 1']],
    [{ maximum: 1, exclusiveMaximum: false }, 1, []],
    [{ exclusiveMaximum: 1 }, 1, [' must be less than 1']],
    [{ multipleOf: 0.1 }, 0.3, []],
    [{ multipleOf: 2 }, 3, [' must be a multiple of 2']],
    [{ maxLength: 2 }, '😀😀', []],
    [{ minLength: 3 }, '😀😀', [' must have at least 3 characters']],
    [{ pattern: 'b+' }, 'abc', []],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [' must not contain the same item twice'],
    ],
    [
      { items: [{ type: 'string' }], additionalItems: { type: 'null' } },
      [1, 1],
      ['/0 must be a text', '/1 must be null'],
    ],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], ['/1 isn’t allowed here']],
    [{ required: ['a'], minProperties: 2 }, {}, [' must have at least 2 members', '/a is required']],
    [{ required: true }, {}, []],
    [
      { patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
      { x1: '', y: 1 },
      ['/x1 must be a number', '/y isn’t known'],
    ],
    [
      { properties: { a: true }, additionalProperties: { type: 'null' } },
      { a: 1, 'b/~': 1 },
      ['/b~1~0 must be null'],
    ],
    [{ allOf: [{ type: 'string' }, { maxLength: 1 }] }, 'ab', [' must have at most 1 characters']],
    [
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      ['a', 1],
      ['/1 must be a text'],
    ],
    [
      {
        oneOf: [
          { type: 'string', maxLength: 1 },
          { type: 'string', minLength: 3 },
        ],
      },
      'ab',
      [' matches none of the allowed forms'],
    ],
    [{ type: 'object' }, JSON.parse('{"toString": 1}'), []],
    [{ properties: {}, additionalProperties: false }, { toString: 1 }, ['/toString isn’t known']],
  ]
  for (const [schema, value, expected] of rows)
    t.same(faultsOf(schema, value), expected, JSON.stringify(schema))
})

t.test('schema texts contain no HTML and no command links', async (t) => {
  const shown = (description: string) => {
    const { document } = read({ properties: { 'ext.a': { description } } }).schema
    return (document.properties['ext.a'] as { description: string }).description
  }
  const rows = [
    ['a < b and c > d', 'a < b and c > d'],
    ['<<b>script>alert(1)<</b>/script>', 'alert(1)'],
    ['<script', '< script'],
    ['<https://example.com/a>', 'https://example.com/a'],
    ['[a](command:x?%5B%22(1)%22%5D "title")', 'a'],
    ['[a](<command:x>)', 'a'],
    ['[a](JavaScript:alert(1))', 'a'],
    ['![a](data:image/svg+xml;x)', 'a'],
    ['[a](&#99;ommand:x)', 'a'],
    ['[a]: command:x', '[a] : command:x'],
    ['[a](https://example.com) [b](#ext.b)', '[a](https://example.com) [b](#ext.b)'],
    ['`Array<string>` or <b>`<T>`</b>', '`Array<string>` or `<T>`'],
    ['``a`<b>`` <b>', '``a`<b>`` '],
    ['See\n```json\n<a>\n```\n<b>', 'See\n```json\n<a>\n```\n'],
    ['[`a`](command:x)', '`a`'],
    ['[`a`]: command:x', '[`a`] : command:x'],
    // Markdown readers find other code in these.
    ['\\`<img>`', '\\``'],
    ['`a\n\n`<img>`', '`a\n\n``'],
    ['`a\r\r`<img>`', '`a\r\r``'],
    ['`x\n\n` `<img>`', '`x\n\n` ``'],
    ['a | b\n-|-\n`x | <img>`', 'a | b\n-|-\n`x | `'],
    ['~~~\n```\n~~~\n<img>\n```', '~~~\n```\n~~~\n\n```'],
    ['- a\n\n  ```\n<img>\n```', '- a\n\n  ```\n\n```'],
  ]
  for (const [given = '', expected = ''] of rows) t.equal(shown(given), expected, given)
  const hostile = [
    '<',
    '[',
    '](',
    '<a ',
    '![',
    '[a](',
    '<!--',
    '((',
    '`',
    '`` ` ',
    '` `\n',
    '```\n',
    '\uE0000\uE000',
  ].map((part) => part.repeat(20_000))
  for (const text of hostile) t.type(shown(text), 'string')
})

t.test('hostile schemas and values take little time', async (t) => {
  const pattern = { type: 'string', pattern: '^(a+)+$' }
  const { schema, warnings } = read({
    properties: {
      'ext.slow': pattern,
      'ext.ahead': { type: 'string', pattern: '^(?=a)a', patternProperties: { '(a)\\1': false } },
      'ext.states': { type: 'string', pattern: '(a|b)*a(a|b){30}$' },
      'ext.any': {
        type: 'array',
        items: { anyOf: [...Array(50).fill({ type: 'object', required: ['a'] }), true] },
      },
      'ext.unique': { type: 'array', uniqueItems: true },
      'ext.names': {
        type: 'array',
        items: { anyOf: [{ required: Array.from({ length: 5_000 }, (_, n) => `name-${n}`) }, true] },
      },
      'ext.keys': { type: 'object', patternProperties: { '^(x+)+$': {} }, additionalProperties: false },
    },
  })
  t.same(warnings, [
    'SETTINGS_SCHEMA: the service skips a `pattern` that can’t be evaluated in linear time: /properties/ext.ahead/pattern and 1 more.',
  ])
  t.notOk('pattern' in (schema.document.properties['ext.ahead'] as object))
  const messages = (settings: Record<string, unknown>) => schema.check(settings).map(({ message }) => message)
  t.same(messages({ 'ext.slow': `${'a'.repeat(1_000)}!` }), ['doesn’t have the required format'])
  t.same(messages({ 'ext.ahead': 'b' }), [], 'a pattern that was skipped rejects nothing')
  const tooLarge = ['is too large to be checked']
  t.same(messages({ 'ext.states': 'ab'.repeat(130_000) }), tooLarge)
  t.same(messages({ 'ext.any': Array(80_000).fill({}) }), tooLarge)
  t.same(messages({ 'ext.names': Array(80_000).fill({}) }), tooLarge)
  t.same(messages({ 'ext.unique': Array.from({ length: 120_000 }, (_, index) => [index]) }), tooLarge)
  t.equal(
    messages({ 'ext.keys': Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, 1])) })
      .length,
    100,
  )
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`ext.${n}`, 1]))
  t.equal(messages(unknown).length, 100)
  const long = { 'ext.keys': { ['y'.repeat(200_000)]: 1, z: 1 } }
  t.equal(messages(long).length, 1, 'the paths of faults are bounded as well')
})
