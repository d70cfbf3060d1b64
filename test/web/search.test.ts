/** The search finds every action by the words that people use, and shows the keys that do the same. */
import t from 'tap'
import { startScene } from './page.js'

const scene = await startScene(t)

if (typeof scene === 'string') t.test('the search finds every action', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { name: 'Acme' })

  t.test('the search finds every action and shows its shortcut', async (t) => {
    const visitor = await visit(ada)
    const { page } = visitor
    await visitor.open(`/w/${id}`)
    await page.keyboard.press('Control+K')
    const field = page.getByRole('combobox')
    await page.getByRole('option').first().waitFor()
    const firstAction = async (words: string) => {
      await field.fill(words)
      const option = page
        .getByRole('option')
        .filter({ hasText: 'Action' })
        .or(page.getByRole('option').filter({ hasText: 'Range' }))
      return option.first().innerText()
    }
    const said: [words: string, title: string][] = [
      ['csv', 'Download CSV'],
      ['restore', 'Restore earlier settings'],
      ['pause', 'Pause or resume recording'],
      ['invite', 'Invite people'],
      ['leave', 'Leave workspace'],
      ['webhook', 'Set up webhook'],
      ['export', 'Export my data'],
      ['rename', 'Rename workspace'],
      ['sign out', 'Sign out'],
      ['time zone', 'Change time zone'],
      ['delete', 'Delete workspace'],
      ['patterns', 'Add repositories'],
      ['who viewed me', 'Who viewed me'],
      ['import settings', 'Import settings.json…'],
      ['revoke', 'Revoke an invite'],
    ]
    for (const [words, title] of said) t.match(await firstAction(words), new RegExp(`^${title}\\n`), words)
    t.match(await firstAction('this week'), /^Show this week\nW\n/)
    t.match(await firstAction('keyboard'), /^Show keyboard shortcuts\n\?\n/)
    t.strictSame(await visitor.violations('dialog[open]'), [])
    await field.fill('restore')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/w/${id}/settings#versions`)
    await visitor.heading('Versions').waitFor()
    t.strictSame(visitor.complaints, [])
  })

  t.test('the account’s pages keep the workspace', async (t) => {
    const visitor = await visit(ada)
    await visitor.open(`/w/${id}/people`)
    for (const path of ['/account', '/account/privacy', '/account/editors']) {
      await visitor.go(path)
      await visitor.button('Workspace: Acme').waitFor()
      t.equal(await visitor.link('Profile').getAttribute('href'), '/account')
    }
    await visitor.open('/account')
    await visitor.page.keyboard.press('Control+K')
    await visitor.page.getByRole('combobox', { name: 'Search or run a command' }).fill('invite')
    await visitor.page.getByRole('option').filter({ hasText: 'Invite people' }).first().click()
    await visitor.page.getByRole('dialog', { name: 'New invite' }).waitFor()
  })
}
