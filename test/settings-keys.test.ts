/** Which keys of settings may be stored: several prefixes, and keys that are denied. */
import t from 'tap'
import { EDITOR_PREFIXES } from '../schemas/settings-keys.js'
import { readConfig } from '../src/config.js'
import { problemsOf } from './config-problems.js'
import { reuseService, startService } from './service.js'

const team = '/api/team/workspaces'
const DENIED = 'is denied on this server (`SETTINGS_DENIED`)'

t.test('keys start with one of the prefixes, and no one can store a denied key', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'ext,editor, files,python' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const allowed = {
    'ext.binPath': '/bin/true',
    'editor.tabSize': 2,
    'files.exclude': { dist: true },
    'python.pathological': 1,
  }
  const rejected: [key: string, message: string][] = [
    ['python.defaultInterpreterPath', DENIED],
    ['python.PATH', DENIED],
    ['files.command', DENIED],
    ['editor.run.executable', DENIED],
    ['Editor.tabSize', 'must start with `ext.` or `editor.` or `files.` or `python.`'],
    ['terminal.integrated.shell', 'must start with `ext.` or `editor.` or `files.` or `python.`'],
    ['constructor', 'must start with `ext.` or `editor.` or `files.` or `python.`'],
  ]
  const places: [string, string, (settings: object) => Promise<{ status: number; body: unknown }>][] = [
    ['a push', '/body/settings', (settings) => ada.push('acme/api', settings as Record<string, unknown>)],
    ['workspace settings', '/body/settings', (settings) => ada.patch(`${team}/${id}/settings`, { settings })],
    [
      'an override',
      '/body/settings',
      (settings) => ada.put(`${team}/${id}/project-settings/acme/api`, { settings }),
    ],
    [
      'the settings of a configuration',
      '/body/settings',
      (settings) => ada.put(`${team}/${id}/configuration`, { settings, patterns: ['acme/*'] }),
    ],
    [
      'an override of a configuration',
      '/body/projects/acme~1api/settings',
      (settings) =>
        ada.put(`${team}/${id}/configuration`, {
          patterns: ['acme/*'],
          projects: { 'acme/api': { settings } },
        }),
    ],
  ]
  for (const [what, at, store] of places) {
    t.equal((await store(allowed)).status, 200, what)
    for (const [key, message] of rejected) {
      const { status, body } = await store({ ...allowed, [key]: 'x' })
      t.hasStrict({ status, body }, { status: 400, body: { code: 'validation_failed' } }, `${key} in ${what}`)
      t.strictSame(
        (body as { errors: unknown }).errors,
        [{ path: `${at}/${key}`, message }],
        `${key} in ${what}`,
      )
    }
  }
})

t.test('a key stored before it was denied is kept, isn’t applied, and can be removed', async (t) => {
  const before = await startService(t, {
    env: { EXTENSION_PREFIX: 'ext,php', SETTINGS_DENIED: 'x.*' },
  })
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  const settings = { 'ext.theme': 'dark', 'php.binPath': '/tmp/evil' }
  await ada.patch(`${team}/${id}/settings`, { settings, locked: ['php.binPath'] })
  await ada.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'php.runCommand': 'evil' } })
  await ada.push('acme/api', settings)

  const after = await startService(t, { beside: before, env: { EXTENSION_PREFIX: 'ext,php' } })
  const later = await after.signIn('ada')
  const path = '/api/team/effective-config?repo=acme/api'
  const etag = (await ada.get(path)).headers.get('etag') ?? ''
  t.equal((await ada.get(path, { 'If-None-Match': etag })).status, 304)
  const { status, body: effective } = await later.get(path, { 'If-None-Match': etag })
  t.equal(status, 200, 'and an editor that has the key learns it')
  t.strictSame(
    [effective.settings, effective.sources, effective.locked],
    [{ 'ext.theme': 'dark' }, { 'ext.theme': 'workspace' }, []],
  )
  t.strictSame((await later.get('/api/settings/acme/api')).body.settings, settings)
  t.strictSame((await later.get(`${team}/${id}/settings`)).body.settings, settings)

  const patched = await later.patch(`${team}/${id}/settings`, { settings: { 'ext.theme': 'light' } })
  t.strictSame(patched.body.settings, { ...settings, 'ext.theme': 'light' }, 'other keys can be changed')
  const removed = await later.patch(`${team}/${id}/settings`, { settings: { 'php.binPath': null } })
  t.strictSame(removed.body.settings, { 'ext.theme': 'light' })
  t.hasStrict(await later.post(`${team}/${id}/settings/restore`, { version: 2 }), {
    status: 400,
    body: { code: 'validation_failed', errors: [{ path: '/settings/php.binPath', message: DENIED }] },
  })
  t.equal((await later.put(`${team}/${id}/project-settings/acme/api`, { settings: {} })).status, 200)
  t.hasStrict(await later.post(`${team}/${id}/project-settings/acme/api/restore`, { version: 1 }), {
    status: 400,
    body: { errors: [{ path: '/settings/php.runCommand', message: DENIED }] },
  })
  t.equal((await later.push('acme/api', { 'ext.theme': 'dark' })).status, 200)
  t.hasStrict(await later.post('/api/settings/acme/api/restore', { version: 1 }), {
    status: 400,
    body: { errors: [{ path: '/settings/php.binPath', message: DENIED }] },
  })
})

t.test('without EXTENSION_PREFIX, teams share the editor’s own settings', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const { settings_prefixes, extension_prefix } = (await ada.get('/api/limits')).body
  t.strictSame([extension_prefix, settings_prefixes], ['ext', ['ext', ...EDITOR_PREFIXES]])
  const settings = { 'editor.tabSize': 2, 'markdown.preview.breaks': true, git: { autofetch: true } }
  t.equal((await ada.patch(`${team}/${id}/settings`, { settings })).status, 200)
  const { status, body } = await ada.push('acme/api', { 'eslint.run': 'onSave', theme: 1 })
  t.equal(status, 400)
  const message = 'must start with one of this server’s prefixes (`ext.`, `editor.`, …)'
  t.strictSame(body.errors, [
    { path: '/body/settings/eslint.run', message },
    { path: '/body/settings/theme', message },
  ])
})

t.test('* allows every prefix, but keys without a dot only if they are listed', async (t) => {
  const listed = Array.from({ length: 197 }, (_, n) => `p${n}`)
  const prefixes = ['ext', 'ruby lsp', ...listed, '*']
  const service = await startService(t, { env: { EXTENSION_PREFIX: prefixes.join() } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  t.strictSame((await ada.get('/api/limits')).body.settings_prefixes, prefixes)
  const settings = { 'ruby lsp.x': 1, 'Ruby LSP.y': 2, p0: {}, 'any-thing/else.z': 3, '__proto__.a': 4 }
  t.equal((await ada.push('acme/api', settings)).status, 200)
  const { body } = await ada.push('acme/api', { '*': 1, ext: 1, '.x': 1, gopls: {}, 'terminal.x': 1 })
  const message = 'must start with a prefix and a dot'
  t.strictSame(body.errors, [
    ...['*', 'ext', '.x', 'gopls'].map((key) => ({ path: `/body/settings/${key}`, message })),
    { path: '/body/settings/terminal.x', message: DENIED },
  ])
})

t.test('startup fails with an invalid list of prefixes', (t) => {
  const list =
    'EXTENSION_PREFIX must be a comma-separated list of 1 to 200 different prefixes, each of 1 to 50 letters, digits, - or _, with / or a space between them, and without the dot'
  for (const wrong of [
    'a,,b',
    'a,',
    ',',
    'a,a',
    'a.b',
    'a,b.c',
    'a  b',
    '**',
    'a*',
    Array.from({ length: 201 }, (_, n) => `p${n}`).join(),
  ])
    t.strictSame(problemsOf({ EXTENSION_PREFIX: wrong }), [list], wrong)
  for (const wrong of ['*', '*,a', 'a,*,b', Array.from({ length: 200 }, () => '*').join()])
    t.ok(problemsOf({ EXTENSION_PREFIX: wrong }).length > 0, wrong)
  t.strictSame(problemsOf({ EXTENSION_PREFIX: 'a,*,b' }), [
    'EXTENSION_PREFIX must have * as its last prefix, after the one of your own extension',
  ])
  for (const own of ['terminal', 'Launch,ext', 'MCP'])
    t.strictSame(problemsOf({ EXTENSION_PREFIX: own }), [
      `EXTENSION_PREFIX must start with the prefix of your own extension: SETTINGS_DENIED denies all of ${own.split(',')[0]}.*`,
    ])
  t.strictSame(readConfig({ EXTENSION_PREFIX: 'ext,terminal,Ext' }).settingsKeys.prefixes, [
    'ext',
    'terminal',
    'Ext',
  ])
  t.strictSame(problemsOf({ SETTINGS_DENIED: 'a b' }), [
    'SETTINGS_DENIED must be a comma-separated list of patterns of keys, such as terminal.*',
  ])
  t.end()
})
