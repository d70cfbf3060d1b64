/** The configuration of a workspace as a file, on the page. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../process.js'
import { countOf, startScene } from './page.js'

const scene = await startScene(t)

if (typeof scene === 'string') t.test('the page exports and applies a file', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const at = `/api/team/workspaces/${id}`
  await ada.put(`${at}/configuration`, { settings: { 'ext.old': 1, 'ext.theme': 'light' } })
  const folder = await temporaryFolder(t)
  const file = join(folder, 'team-settings.json')

  t.test('an admin downloads a file and applies it after reviewing its changes', async (t) => {
    const admin = await visit(ada)
    const { page } = admin
    await admin.open(`/w/${id}/settings`)
    await admin.sees('As a file')
    const download = page.waitForEvent('download')
    await admin.button('Download as file').click()
    const path = await (await download).path()
    const text = await readFile(path, 'utf8')
    t.same(JSON.parse(text).settings, { 'ext.old': 1, 'ext.theme': 'light' })
    t.ok(text.endsWith('\n'))

    const choose = async (content: string) => {
      await writeFile(file, content)
      await page.locator('input[type=file]').first().setInputFiles(file)
    }
    await choose('{ "settings": {\n  "ext.theme" "dark"\n} }')
    await admin.sees(
      'team-settings.json, line 2, column 15: `:` is missing after `ext.theme`. Nothing was changed.',
    )

    await choose('{ // comment\n "settings": { "ext.theme": "dark" }, "patterns": [] }')
    await admin.button('Show changes').click()
    await admin.sees('Only in the workspace, and kept: settings: ext.old, patterns: acme/*')
    t.equal(await countOf(page.locator('dialog tbody tr'), 1), 1)
    await page.getByLabel('Remove everything that isn’t in the file').check()
    await admin.button('Show changes').click()
    await admin.sees('The patterns change.')
    t.same(await page.locator('dialog tbody tr').allInnerTexts(), [
      'workspace\text.old\t1\tnone',
      'workspace\text.theme\t"light"\t"dark"',
      'workspace\tpatterns\t["acme/*"]\t[]',
    ])
    t.strictSame(await admin.violations(), [])
    await page.getByLabel('Reason, for the history (optional)').fill('By hand')
    await admin.button('Apply 3 changes').click()
    await admin.sees('3 changes applied')
    const { body } = await ada.get(`${at}/configuration`)
    t.same([body.settings, body.patterns], [{ 'ext.theme': 'dark' }, []])
    t.equal((await ada.get(`${at}/settings/versions`)).body.versions[0].reason, 'By hand')

    await choose('{ "settings": { "ext.theme": "light" } }')
    await admin.button('Show changes').click()
    await admin.button('Apply 1 change').waitFor()
    await ada.put(`${at}/configuration`, { idle_window_minutes: 9 })
    await admin.button('Apply 1 change').click()
    await admin.sees(/Another admin saved changes first/)
    await admin.button('Show changes').click()
    await admin.button('Apply 1 change').waitFor()
    t.same((await ada.get(`${at}/settings`)).body.settings, { 'ext.theme': 'dark' })
  })

  t.test('members can download the file and see which key manages the workspace', async (t) => {
    const member = await visit(bob)
    const open = async () => {
      await member.open(`/w/${id}/settings`)
      await member.sees('Download as file')
    }
    await open()
    t.equal(await countOf(member.page.locator('input[type=file]'), 0), 0)
    t.equal(await countOf(member.page.getByText('Managed by key'), 0), 0)
    const { body } = await ada.post(`${at}/keys`, { name: 'ci', scopes: ['settings:write'] })
    await service.request('PATCH', `${at}/settings`, {
      headers: { Authorization: `Bearer ${body.secret}` },
      body: { settings: { 'ext.theme': 'blue' } },
    })
    await open()
    await member.sees('Managed by key ci. Changes here are overwritten by the next run.')
  })
}
