/** Settings as editors have them: language blocks, keys without a dot, prefixes with a slash, and how keys are spelled. */
import t from 'tap'
import { startService } from './service.js'

const team = '/api/team/workspaces'
const PREFIXES = 'ext,editor,files,js/ts,gopls'

t.test('language blocks, whole keys and prefixes with a slash are stored everywhere', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: PREFIXES } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const settings = {
    'js/ts.preferences.quoteStyle': 'single',
    gopls: { gofumpt: true },
    '[typescript]': { 'editor.tabSize': 2, 'js/ts.format.semicolons': 'remove' },
    '[javascript][typescript]': { 'editor.formatOnSave': true, gopls: {} },
    '[jsonc]': {},
  }
  t.equal((await ada.push('acme/api', settings)).status, 200)
  t.same((await ada.get('/api/settings/acme/api')).body.settings, settings)
  const patched = await ada.patch(`${team}/${id}/settings`, { settings, locked: ['[typescript]', 'gopls'] })
  t.same(
    [patched.status, patched.body.settings, patched.body.locked],
    [200, settings, ['[typescript]', 'gopls']],
  )
  const override = { '[javascript][typescript]': { 'editor.formatOnSave': null }, '[jsonc]': null }
  const put = await ada.put(`${team}/${id}/project-settings/acme/api`, { settings: override })
  t.same([put.status, put.body.settings], [200, override])
  const { body: configuration } = await ada.get(`${team}/${id}/configuration`)
  t.same(configuration.settings, settings)
  t.same(configuration.projects, { 'acme/api': { settings: override } })
  const applied = await ada.put(`${team}/${id}/configuration`, configuration)
  t.same([applied.status, applied.body.changes], [200, []])
})

t.test('all faults come at once, in order, with their places', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: PREFIXES } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const starts = 'must start with `ext.` or `editor.` or `files.` or `js/ts.` or `gopls.`'
  const long = `ext.${'x'.repeat(197)}`
  const settings = {
    wrong: 1,
    'editor.tabSize': 2,
    'ext.<img>': 1,
    'js/ts.nodePath': '/bin/true',
    '[typescript]': { tabSize: 2, 'editor.tabSize': 2, '[jsonc]': {}, 'js/ts.tsserver.nodePath': 'x' },
    '[javascript': {},
    '[go][go]': {},
    '[ go]': {},
    '[json]': 1,
    [long]: 1,
    ext: 1,
  }
  const expected = [
    ['/wrong', starts],
    ['/ext.<img>', 'must not contain any of `( ) < > [ ]` or a backtick'],
    ['/js~1ts.nodePath', 'is denied on this server (`SETTINGS_DENIED`)'],
    ['/[typescript]/tabSize', starts],
    ['/[typescript]/[jsonc]', 'must not be in another language block'],
    ['/[typescript]/js~1ts.tsserver.nodePath', 'is denied on this server (`SETTINGS_DENIED`)'],
    ['/[javascript', 'must name languages, such as `[typescript]`'],
    ['/[go][go]', 'must name each language once'],
    ['/[ go]', 'must not contain white space except single spaces inside'],
    ['/[json]', 'must be an object of settings'],
    [`/${long}`, 'must NOT have more than 200 characters'],
    ['/ext', starts],
  ]
  const at = (place: string) => expected.map(([path, message]) => ({ path: place + path, message }))
  const answers = [
    await ada.push('acme/api', settings),
    await ada.patch(`${team}/${id}/settings`, { settings }),
    await ada.put(`${team}/${id}/project-settings/acme/api`, { settings }),
    await ada.put(`${team}/${id}/configuration`, { settings }),
  ]
  for (const { status, body } of answers) t.same([status, body.errors], [400, at('/body/settings')])
  const inProject = await ada.put(`${team}/${id}/configuration`, { projects: { 'acme/api': { settings } } })
  t.same(inProject.body.errors, at('/body/projects/acme~1api/settings'))
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`k${n}`, 1]))
  const { errors } = (await ada.push('acme/api', many)).body
  t.same([errors.length, errors[99].path], [100, '/body/settings/k99'])
})
