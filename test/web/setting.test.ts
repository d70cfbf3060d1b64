/** A setting's page, which every key leads to, and undoing what was just saved. */
import t from 'tap'
import { until } from '../until.js'
import { startScene } from './page.js'

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'ext,editor,window' } })

if (typeof scene === 'string')
  t.test('every key leads to its setting’s page', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const settings = `/api/team/workspaces/${id}/settings`
  const overrideOf = (repo: string) => `/api/team/workspaces/${id}/project-settings/acme/${repo}`
  const pageOf = (key: string) => `/w/${id}/settings/${encodeURIComponent(key)}`
  await ada.patch(settings, {
    settings: {
      'editor.tabSize': 5112,
      'ext.with/slash': true,
      '[python]': { 'editor.tabSize': 4 },
      'window.titleBarStyle': 'custom',
      'ext.words': ['fastify'],
    },
  })
  await ada.patch(settings, { settings: { 'editor.tabSize': 5113 }, reason: 'One more' })
  await ada.put(overrideOf('web'), { settings: { 'editor.tabSize': 8 } })
  await ada.put(overrideOf('docs'), { settings: { 'editor.tabSize': null } })
  await ada.put(overrideOf('py'), { settings: { '[go]': { 'editor.tabSize': 3 }, 'ext.words': ['typebox'] } })
  const admin = await visit(ada)
  const { page } = admin
  const row = (name: string | RegExp) => page.getByRole('row', { name, exact: true })

  t.test('a setting’s page says its value, where it applies, and its history', async (t) => {
    await admin.open(pageOf('editor.tabSize'))
    await admin.heading('editor.tabSize').waitFor()
    await admin.sees(/^Set by ada, .*: One more$/)
    await admin.sees('An override replaces it in its repository.')
    await admin.sees('Number, at least 1. Default: 4')
    await admin.sees('Applies in 1 of 3 repositories, not in acme/docs and acme/web.')
    await row('acme/docs doesn’t apply here').waitFor()
    await row('acme/web 8').waitFor()
    await row('acme/py [go] 3').waitFor()
    await admin.sees('Reaches ada and bob. View people')
    await page.getByRole('rowheader', { name: '5112 to 5113', exact: true }).waitFor()
    await page.getByRole('rowheader', { name: 'not set to 5112', exact: true }).waitFor()
    t.strictSame(await admin.violations(), [])
    for (const [key, text] of [
      ['ext.with/slash', 'true'],
      ['[python]', '{\n  "editor.tabSize": 4\n}'],
      ['ext.nothing', 'Not set'],
    ] as const) {
      await admin.open(pageOf(key))
      await admin.heading(key).waitFor()
      t.equal(await page.locator('pre.diff').innerText(), text)
      t.strictSame(await admin.violations(), [])
    }
    await admin.open(pageOf('window.titleBarStyle'))
    await page.getByRole('listitem').filter({ hasText: 'isn’t applied: the editor restricts it' }).waitFor()
    await ada.patch(settings, { locked: ['editor.tabSize'], merged: ['ext.words'] })
    await admin.open(pageOf('ext.words'))
    await admin.sees('Merged: an override adds to it.')
    await admin.sees('Applies in 3 of 3 repositories.')
    await admin.open(pageOf('editor.tabSize'))
    await admin.sees('Locked: no repository can override it.')
    await admin.sees('Applies in 3 of 3 repositories.')
    await ada.patch(settings, { locked: [], merged: [] })
    t.strictSame(admin.complaints, [])
  })

  t.test('a key in settings, audit, history, search and a repository leads to its page', async (t) => {
    const follows = async (from: string, click: () => Promise<unknown>, key = 'editor.tabSize') => {
      await click()
      await page.waitForURL(`**${pageOf(key)}`, { timeout: 20_000 })
      await admin.heading(key).waitFor()
      t.pass(from)
    }
    const key = page.getByRole('link', { name: 'editor.tabSize', exact: true }).first()
    for (const path of [`/w/${id}/settings`, `/w/${id}/settings/audit`, `/w/${id}/repos/acme/web/settings`]) {
      await admin.open(path)
      await follows(path, () => key.click())
    }
    await admin.open(`/w/${id}/settings`)
    await follows('a comparison', () =>
      page.getByRole('region', { name: 'Differences' }).getByRole('link', { name: 'editor.tabSize' }).click(),
    )
    await admin.open(`/w/${id}/people`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('slash')
    await page.getByRole('option', { name: /^ext\.with\/slash/, selected: true }).waitFor()
    await follows('the search', () => page.keyboard.press('Enter'), 'ext.with/slash')
    await admin.link('Edit').click()
    await page.getByLabel('ext.with/slash', { exact: true }).waitFor()
    const member = await visit(bob)
    await member.open(`/w/${id}/settings`)
    await member.link('ext.with/slash').click()
    await member.heading('ext.with/slash').waitFor()
    t.equal(await member.button(/^(Undo|Restore)/).count(), 0)
    t.strictSame(member.complaints, [])
  })

  t.test('the audit trail shows values, and one setting or repository', async (t) => {
    await admin.open(`${pageOf('ext.words')}`)
    await admin.link('View in audit').click()
    await admin.field('Setting').waitFor()
    t.equal(await admin.field('Setting').inputValue(), 'ext.words')
    const entries = page.locator('table.entries > tbody > tr')
    await until(async () => (await entries.count()) === 4, 'a change, an override, a merge and its end')
    await admin.button('Clear filters').click()
    await admin.field('Repository').fill('acme/WEB')
    await admin.field('Repository').press('Enter')
    await until(async () => (await entries.count()) === 1, 'one override')
    await admin.open(`/w/${id}/settings/audit?key=editor.tabSize&action=workspace_settings.changed`)
    await page.getByText('Values', { exact: true }).nth(2).click()
    await row('editor.tabSize 5112 5113').waitFor()
    t.strictSame(await admin.violations(), [])
  })

  t.test('a saved setting, its undo on its page, and a restored version can be undone', async (t) => {
    const value = async () => (await ada.get(settings)).body.settings['editor.tabSize']
    for (const size of [5112, 5113]) await ada.patch(settings, { settings: { 'editor.tabSize': size } })
    await admin.open(pageOf('editor.tabSize'))
    await admin.button('Undo to 5112').click()
    await admin.sees('Settings saved')
    t.equal(await value(), 5112)
    await page.getByRole('rowheader', { name: '5113 to 5112', exact: true }).first().waitFor()
    await page.locator('.toast').getByRole('button', { name: 'Undo', exact: true }).click()
    await until(async () => (await value()) === 5113, 'it is as before')
    await page.locator('pre.diff').getByText('5113').waitFor()

    await admin.open(`/w/${id}/settings`)
    await admin.field('editor.tabSize').fill('2')
    await page.getByRole('checkbox', { name: 'Lock editor.tabSize', exact: true }).check()
    await admin.button('Save settings').click()
    await admin.button('Undo').click()
    await until(async () => (await value()) === 5113, 'the value is back')
    t.same((await ada.get(settings)).body.locked, [])
    await until(
      async () => (await admin.field('editor.tabSize').inputValue()) === '5113',
      'the form shows it',
    )

    const restore = `Restore version ${(await ada.get(settings)).body.version - 1}`
    await admin.button(restore).click()
    await page.getByRole('dialog').getByRole('button', { name: restore, exact: true }).click()
    await admin.closed()
    t.equal(await value(), 2)
    await admin.button('Undo').click()
    await until(async () => (await value()) === 5113, 'the version before is back')
    t.strictSame(admin.complaints, [])
  })

  t.test('an undo after someone else’s change says so and overwrites nothing', async (t) => {
    const visitor = await visit(ada)
    await visitor.open(`/w/${id}/settings`)
    await visitor.field('editor.tabSize').fill('2')
    await visitor.button('Save settings').click()
    await visitor.sees('Settings saved')
    await ada.patch(settings, { settings: { 'ext.theirs': 1 } })
    await visitor.button('Undo').click()
    await visitor.sees(/^This was changed in the meantime\./)
    const { body } = await ada.get(settings)
    t.same([body.settings['editor.tabSize'], body.settings['ext.theirs']], [2, 1])
    await visitor.link('ext.theirs').first().waitFor()

    await visitor.open(`/w/${id}/repos/acme/web/settings`)
    await visitor.button('Edit override').click()
    await visitor.field('editor.tabSize').fill('7')
    await visitor.button('Save override').click()
    await visitor.sees('Override saved')
    await ada.put(overrideOf('web'), { settings: { 'editor.tabSize': 6 } })
    await visitor.button('Undo').click()
    await visitor.sees(/^This was changed in the meantime\./)
    t.same((await ada.get(overrideOf('web'))).body.settings, { 'editor.tabSize': 6 })
  })

  t.test('an override, a role and a revoked invite can be undone', async (t) => {
    const visitor = await visit(ada)
    const override = async (repo: string) => (await ada.get(overrideOf(repo))).body.settings
    await visitor.open(`/w/${id}/repos/acme/web/settings`)
    await visitor.button('Edit override').click()
    await visitor.field('editor.tabSize').fill('7')
    await visitor.button('Save override').click()
    await visitor.button('Undo').click()
    await until(async () => (await override('web'))['editor.tabSize'] === 6, 'the override is as before')
    await visitor.open(`/w/${id}/repos/acme/fresh/settings`)
    await visitor.button('Create override').click()
    await visitor.field('Filter').selectOption('All settings')
    await visitor.field('editor.tabSize').fill('7')
    await visitor.button('Save override').click()
    await visitor.button('Undo').click()
    await until(async () => (await ada.get(overrideOf('fresh'))).status === 404, 'there’s no override again')

    const roleOf = async () =>
      (await ada.get(`/api/team/workspaces/${id}/members`)).body.members.find(
        ({ login }: { login: string }) => login === 'bob',
      ).role
    await visitor.open(`/w/${id}/people`)
    const promote = async () => {
      await visitor.field('Role of bob').selectOption('admin')
      await visitor.button('Make admin').click()
      await visitor.sees('bob is now an admin')
    }
    await promote()
    await visitor.button('Undo').click()
    await until(async () => (await roleOf()) === 'member', 'the role is as before')
    await visitor.page.locator('.toast').waitFor({ state: 'detached' })
    await promote()
    await ada.patch(`/api/team/workspaces/${id}/members`, { login: 'bob', role: 'member' })
    await visitor.button('Undo').click()
    await visitor.sees(/^This was changed in the meantime\./)
    await visitor.button('Dismiss').click()

    const invites = async () => (await ada.get(`/api/team/workspaces/${id}/invites`)).body.invites
    for (const invite of await invites()) await ada.delete(`/api/team/workspaces/${id}/invites/${invite.id}`)
    const invite = { role: 'admin', max_uses: 5, expires_in_hours: 48 }
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, invite)).body
    await visitor.open(`/w/${id}/people`)
    await visitor.button(`Actions for ${code}`).click()
    await visitor.button('Revoke invite').click()
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Revoke invite' }).click()
    await visitor.button('Undo').click()
    await visitor.sees('A new invite has the same role, expiry and uses. Share its new link')
    const [again, ...others] = await invites()
    t.strictSame(others, [])
    t.strictSame([again.role, again.max_uses], ['admin', 5])
    t.not(again.code, code)
    t.strictSame(
      visitor.complaints.filter((text) => !/404|412/.test(text)),
      [],
    )
  })

  t.test('a setting’s page fits 320 pixels in light and dark', async (t) => {
    const phone = await visit(ada)
    for (const [width, colorScheme] of [
      [320, 'light'],
      [320, 'dark'],
      [1280, 'light'],
      [1280, 'dark'],
    ] as const) {
      await phone.page.setViewportSize({ width, height: 900 })
      await phone.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await phone.open(pageOf('editor.tabSize'))
      t.equal(await phone.width(), width)
      t.strictSame(await phone.violations(), [])
      const { PICTURES } = process.env
      if (PICTURES)
        await phone.page.screenshot({
          path: `${PICTURES}/setting-${width}-${colorScheme}.png`,
          fullPage: true,
        })
    }
    t.strictSame(phone.complaints, [])
  })
}
