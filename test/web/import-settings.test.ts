/** A new team's first settings: offered, or imported from an editor's `settings.json`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../process.js'
import { startScene } from './page.js'

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'ext,editor,eslint' } })

if (typeof scene === 'string') t.test('settings are imported on the page', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')

  t.test('without a schema, the page offers commonly shared settings and lists the prefixes', async (t) => {
    const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
    const admin = await visit(ada)
    const { page } = admin
    await admin.open(`/w/${id}/settings`)
    await admin.sees(
      'Keys start with one of this server’s prefixes, ext, editor, eslint, and a dot. To share others, ask the person who runs this server to add their prefix to EXTENSION_PREFIX.',
    )
    await page.getByRole('heading', { name: 'Settings that most teams share' }).waitFor()
    t.same((await page.locator('.setting label strong').allInnerTexts()).slice(-2), [
      'eslint.run',
      'eslint.validate',
    ])
    await page.getByLabel('editor.tabSize', { exact: true }).fill('2')
    await page.getByLabel('editor.formatOnSave', { exact: true }).selectOption('true')
    t.strictSame(await admin.violations(), [])
    await admin.button('Save settings').click()
    await admin.sees('Settings saved')
    const { body } = await ada.get(`/api/team/workspaces/${id}/settings`)
    t.same(body.settings, { 'editor.tabSize': 2, 'editor.formatOnSave': true })
  })

  t.test('an imported file becomes pending changes, and the rest is listed', async (t) => {
    const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
    const at = `/api/team/workspaces/${id}/settings`
    await ada.patch(at, {
      settings: { 'editor.tabSize': 4, '[json]': { 'editor.tabSize': 4, 'editor.wordWrap': 'on' } },
    })
    const admin = await visit(ada)
    const { page } = admin
    await admin.open(`/w/${id}/settings`)
    await admin.button('Import settings.json…').click()
    const file = join(await temporaryFolder(t), 'settings.json')
    const choose = async (content: string | Uint8Array) => {
      await writeFile(file, content)
      await page.locator('dialog input[type=file]').setInputFiles(file)
    }
    await choose('{\n  "editor.tabSize" 2\n}')
    await admin.sees(
      'settings.json, line 2, column 20: `:` is missing after `editor.tabSize`. Nothing was changed.',
    )
    const text = `{
  // Two
  "editor.tabSize": 2,
  "go.lintTool": "x",
  "[json]": { "editor.tabSize": 2, "eslint.runtime": "node", },
}`
    await choose(Buffer.from(`\ufeff${text}`, 'utf16le'))
    await admin.sees('2 settings left out of settings.json')
    t.same(await page.locator('dialog .diff > div').allInnerTexts(), [
      '- editor.tabSize: 4\n+ editor.tabSize: 2',
      '- [json]: {"editor.tabSize":4,"editor.wordWrap":"on"}\n+ [json]: {"editor.tabSize":2,"editor.wordWrap":"on"}',
    ])
    const reasons = [
      'go.lintTool isn’t shared on this server',
      '[json] eslint.runtime is denied on this server (`SETTINGS_DENIED`)',
    ]
    t.same(await page.locator('dialog li').allInnerTexts(), reasons)
    t.strictSame(await admin.violations(), [])
    await page.getByLabel('Text of settings.json').fill('["a"]')
    await admin.sees(
      'settings.json, line 1, column 1: the file must be an object of settings. Nothing was changed.',
    )
    await page.getByLabel('Text of settings.json').fill('{ "name": "web", "dependencies": {} }')
    await admin.sees(
      'settings.json isn’t a settings file: no name in it has a dot or is a language block. Nothing was changed.',
    )
    await page
      .getByLabel('Text of settings.json')
      .fill('{ "customizations": { "vscode": { "settings": { "editor.tabSize": 7 } } } }')
    t.same(await page.locator('dialog .diff > div').allInnerTexts(), [
      '- editor.tabSize: 4\n+ editor.tabSize: 7',
    ])
    await page.getByLabel('Text of settings.json').fill(text)
    await admin.sees('2 settings left out of settings.json')
    await admin.button('Add to pending changes').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    const pending = page.getByRole('region', { name: 'Pending changes' })
    t.same(await pending.locator('li').allInnerTexts(), reasons)
    t.equal((await ada.get(at)).body.settings['editor.tabSize'], 4, 'nothing is saved yet')
    await admin.button('Save settings').click()
    await admin.sees('Settings saved')
    t.same((await ada.get(at)).body.settings, {
      'editor.tabSize': 2,
      '[json]': { 'editor.tabSize': 2, 'editor.wordWrap': 'on' },
    })
    t.equal(await pending.locator('li').count(), 0)
  })

  t.test('a repository’s page says that pushed settings are only a copy', async () => {
    const { id } = await service.workspace(ada, { patterns: ['ada/*'] })
    await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'editor.tabSize': 4 } })
    await ada.push('ada/api', { 'ext.a': 1, 'editor.tabSize': 2 })
    const admin = await visit(ada)
    await admin.open(`/w/${id}/repos/ada/api/settings`)
    await admin.sees('A saved copy. It doesn’t change what the team’s editors use.')
  })
}
