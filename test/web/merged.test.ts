/** Lists and objects that overrides add to, on the page. */
import t from 'tap'
import { startScene } from './page.js'

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'cSpell,editor' } })

if (typeof scene === 'string')
  t.test('an admin merges a list with overrides, and locks it again', { skip: scene }, async () => {})
else
  t.test('an admin merges a list with overrides, and locks it again', async (t) => {
    const { service, visit } = scene
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada)
    const settings = `/api/team/workspaces/${id}/settings`
    await ada.patch(settings, { settings: { 'cSpell.words': ['fastify'], 'editor.tabSize': 2 } })
    await ada.put(`/api/team/workspaces/${id}/project-settings/acme/web`, {
      settings: { 'cSpell.words': ['typebox'] },
    })
    const admin = await visit(ada)
    const { page } = admin
    await admin.open(`/w/${id}/settings`)
    await page.getByText('Merged keys (0 of 1 lists and objects)').click()
    await page.getByRole('checkbox', { name: 'Merge cSpell.words', exact: true }).check()
    await page.getByText('Merge cSpell.words. Overrides add to it.').waitFor()
    await admin.button('Save settings').click()
    await admin.sees('Settings saved')
    t.same((await ada.get(settings)).body.merged, ['cSpell.words'])

    await admin.button('JSON').click()
    await admin
      .field('Editor settings (JSON)')
      .fill(JSON.stringify({ 'cSpell.words': ['pino'], 'editor.tabSize': '2' }))
    await page.getByText('1 override adds to it: acme/web').waitFor()
    await admin.sees('Applies to you in 1 repository; 1 override adds to a changed key.')
    await admin.sees('“editor.tabSize” doesn’t fit. Expected: Number, at least 1.')
    await admin.button('Discard changes').click()

    await admin.open(`/w/${id}/repos/acme/web/settings`)
    await admin.sees('["fastify","typebox"]')
    await admin.sees('Workspace and override')

    await admin.open(`/w/${id}/settings`)
    await admin.button('JSON').click()
    await page.getByText(/^Locked keys/).click()
    await page.getByRole('checkbox', { name: 'Lock cSpell.words', exact: true }).check()
    await page.getByText('Stop merging cSpell.words. It is locked.').waitFor()
    await admin.button('Save settings').click()
    await admin.sees('Settings saved')
    const { body } = await ada.get(settings)
    t.same([body.locked, body.merged], [['cSpell.words'], []])
    t.strictSame(await admin.violations(), [])
  })
