/** Team settings with a schema: the form, locks, the JSON editor, histories, and the page of a repository. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../process.js'
import { countOf, startScene } from './page.js'

const COUNT = 200
/** Groups of more settings than are shown at once. */
const properties = (group: number) =>
  Object.fromEntries(
    Array.from({ length: COUNT / 40 }, (_, index) => [
      `ext.area${group}.made${index}`,
      { type: 'boolean', default: false, description: `Made-up setting ${index} of area ${group}.` },
    ]),
  )
const appearance = {
  'ext.theme': {
    type: 'string',
    default: 'light',
    enum: ['light', 'dark'],
    description: 'The color theme.',
  },
  'ext.fontSize': { type: 'number', default: 14, minimum: 6, maximum: 40, description: 'Pixels.' },
  'ext.tabSize': { type: 'integer', minimum: 1, maximum: 8, markdownDescription: 'See `#ext.theme#`.' },
}
const file = join(await temporaryFolder(t), 'schema.json')
await writeFile(
  file,
  JSON.stringify({
    contributes: {
      configuration: [
        { title: 'Appearance', properties: appearance },
        ...Array.from({ length: 40 }, (_, group) => ({
          title: `Area ${group}`,
          properties: properties(group),
        })),
      ],
    },
  }),
)
const scene = await startScene(t, { env: { SETTINGS_SCHEMA: file, EXTENSION_PREFIX: 'ext' } })

if (typeof scene === 'string')
  t.test('settings and locks change on the page', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const settings = `/api/team/workspaces/${id}/settings`
  const override = `/api/team/workspaces/${id}/project-settings/acme/web`
  await ada.patch(settings, { settings: { 'ext.theme': 'light' } })
  await ada.put(override, { settings: { 'ext.tabSize': 8 } })
  await ada.push('acme/web', { 'ext.theme': 'dark' })
  const admin = await visit(ada)
  const { page } = admin
  const editor = admin.field('Editor settings (JSON)')
  const save = (visitor = admin) => visitor.button('Save settings').click()

  t.test('the form can be searched, and saves values and locks after showing whom they affect', async (t) => {
    await admin.open(`/w/${id}/settings`)
    await admin.sees('1 of 203 settings')
    await admin.field('Filter').selectOption('All settings')
    await admin.sees('203 of 203 settings')
    t.equal(await countOf(page.locator('.setting'), 20), 20, 'only the first are rendered')
    await admin.button('Show more (20 of 203)').click()
    t.equal(await countOf(page.locator('.setting'), 60), 60)
    await admin.field('Search settings').fill('tabsize')
    await admin.sees('1 of 203 settings')
    await admin.sees('Integer, 1 to 8.')
    const lock = page.getByRole('checkbox', { name: 'Lock ext.tabSize', exact: true })
    t.equal(await lock.isDisabled(), true, 'a key without a value cannot be locked')
    await page.getByRole('textbox', { name: 'ext.tabSize', exact: true }).fill('2')
    await admin.sees('+ ext.tabSize: 2')
    await admin.sees('Applies to 2 people in 1 repository; 1 override replaces a changed key.')
    await page.getByText('1 override replaces it: acme/web').click()
    await page.getByRole('listitem').filter({ hasText: 'acme/web: 8' }).waitFor()
    await lock.check()
    await admin.sees('acme/web’s override of it will stop applying.')
    await save()
    await admin.sees('Settings saved')
    const { body } = await ada.get(settings)
    t.same(body.settings, { 'ext.theme': 'light', 'ext.tabSize': 2 })
    t.same(body.locked, ['ext.tabSize'])
    t.strictSame(await admin.violations(), [])
  })

  t.test('a value that doesn’t match is saved with a warning that names it', async (t) => {
    await admin.open(`/w/${id}/settings`)
    await admin.field('Filter').selectOption('All settings')
    const size = page.getByRole('textbox', { name: 'ext.fontSize', exact: true })
    await size.fill('4x')
    await admin.sees('Not a valid value. Enter a number.')
    t.ok(await admin.button('Save settings').isDisabled())
    await size.fill('4')
    await save()
    await page.getByRole('alert').getByText('ext.fontSize must be at least 6').waitFor()
    t.strictSame(await admin.violations('[role=alert]'), [])
    await admin.open(`/w/${id}/settings`)
    await admin.sees('This value must be at least 6.')
    t.equal(await size.getAttribute('aria-invalid'), 'true', 'its row says so until the value changes')
    await size.fill('7')
    t.equal(await size.getAttribute('aria-invalid'), 'false')
    await admin.button('Discard changes').click()
  })

  t.test('a value that looks like a secret is saved only after a question', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Initech', patterns: ['initech/*'] })
    const settings = `/api/team/workspaces/${id}/settings`
    const override = `/api/team/workspaces/${id}/project-settings/initech/web`
    await ada.patch(settings, { settings: { 'ext.password': 'old' } })
    await ada.put(override, { settings: { 'ext.theme': 'dark' } })
    const visitor = await visit(ada)
    const { page } = visitor
    const dialog = page.getByRole('dialog', { name: 'Save what looks like a password?', exact: true })
    const fill = async (label: string, values: object) => {
      await visitor.button('JSON').click()
      await page.locator('.cm-editor').waitFor()
      await visitor.field(`${label} (JSON)`).fill(JSON.stringify(values))
    }
    const values = { 'ext.password': 'old', 'ext.theme': 'dark', '[go]': { 'ext.apiToken': 'x' } }
    await visitor.open(`/w/${id}/settings`)
    await fill('Editor settings', values)
    await save(visitor)
    await dialog.getByText('Everyone in the workspace can read these settings', { exact: false }).waitFor()
    t.strictSame(await dialog.getByRole('listitem').allTextContents(), ['[go] ext.apiToken'])
    t.strictSame(await visitor.violations('dialog'), [])
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    t.same((await ada.get(settings)).body.settings, { 'ext.password': 'old' })
    await save(visitor)
    await dialog.getByRole('button', { name: 'Save anyway', exact: true }).click()
    await visitor.sees('Settings saved')
    await page.getByRole('alert').getByText('[go]/ext.apiToken looks like a password').waitFor()
    t.same((await ada.get(settings)).body.settings, values)

    await visitor.open(`/w/${id}/repos/initech/web/settings`)
    await visitor.button('Edit override').click()
    await fill('Override', { 'ext.theme': 'dark', 'ext.password': 'new' })
    await visitor.button('Save override').click()
    await dialog.getByRole('button', { name: 'Save anyway', exact: true }).click()
    await visitor.sees('Override saved')
    await page.getByRole('alert').getByText('ext.password looks like a password').waitFor()
    t.same((await ada.get(override)).body.settings, { 'ext.theme': 'dark', 'ext.password': 'new' })
    await page.close()
  })

  t.test('unsaved changes are kept unless the person discards them', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Globex', patterns: ['globex/*'] })
    const settings = `/api/team/workspaces/${id}/settings`
    const override = `/api/team/workspaces/${id}/project-settings/globex/web`
    await ada.patch(settings, { settings: { 'ext.theme': 'light' } })
    await ada.put(override, { settings: { 'ext.tabSize': 8 } })
    const visitor = await visit(ada)
    const { page } = visitor
    const question = visitor.heading('Leave without saving?')
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?', exact: true })
    const json = (label: string) => visitor.field(`${label} (JSON)`)
    const places = [
      {
        name: 'form',
        path: `/w/${id}/settings`,
        edit: () => page.getByRole('combobox', { name: 'ext.theme', exact: true }).selectOption('dark'),
        kept: '+ ext.theme: "dark"',
      },
      {
        name: 'a value of the form that is invalid',
        path: `/w/${id}/settings`,
        edit: async () => {
          await visitor.field('Filter').selectOption('All settings')
          await page.getByRole('textbox', { name: 'ext.fontSize', exact: true }).fill('4x')
        },
        kept: 'Not a valid value. Enter a number.',
      },
      {
        name: 'JSON',
        path: `/w/${id}/settings`,
        edit: async () => {
          await visitor.button('JSON').click()
          await page.locator('.cm-editor').waitFor()
          await json('Editor settings').fill('{ "ext.theme": "dark", "ext.tabSize": 2 }')
        },
        kept: '+ ext.theme: "dark"',
      },
      {
        name: 'incomplete JSON',
        path: `/w/${id}/settings`,
        edit: async () => {
          await visitor.button('JSON').click()
          await page.locator('.cm-editor').waitFor()
          await json('Editor settings').fill('{ "ext.theme": ')
        },
        kept: /^Invalid JSON: /,
      },
      {
        name: 'form of an override',
        path: `/w/${id}/repos/globex/web/settings`,
        edit: async () => {
          await visitor.button('Edit override').click()
          await page.getByRole('combobox', { name: 'ext.theme', exact: true }).selectOption('dark')
        },
        kept: '+ ext.theme: "dark"',
      },
      {
        name: 'JSON of an override',
        path: `/w/${id}/repos/globex/web/settings`,
        edit: async () => {
          await visitor.button('Edit override').click()
          await visitor.button('JSON').click()
          await page.locator('.cm-editor').waitFor()
          await json('Override').fill('{ "ext.theme": "dark" }')
        },
        kept: '+ ext.theme: "dark"',
      },
    ]
    const ways: Record<string, () => Promise<unknown>> = {
      'a tab': () => visitor.link('My activity').click(),
      'the back button': () =>
        page.locator('html').evaluate(({ ownerDocument }) => ownerDocument.defaultView.history.back()),
      'the search by keyboard': async () => {
        await page.keyboard.press('Control+k')
        await page.locator('[role=combobox]:focus').waitFor()
        await page.keyboard.type('audit')
        // It's in the list from the beginning, so only its selection shows that the word has arrived.
        await page.getByRole('option', { name: /^Audit/, selected: true }).waitFor()
        await page.keyboard.press('Enter')
      },
      'the search by mouse': async () => {
        await visitor.button('Search').click()
        await page.getByRole('option', { name: 'Audit Page', exact: true }).click()
      },
    }
    await visitor.open(`/w/${id}/people`)
    for (const [index, { name, path, edit, kept }] of places.entries()) {
      // There is a screen to go back to.
      await visitor.go(path)
      await edit()
      await visitor.sees(kept)
      // All editors ask alike, so one of them is left in every way.
      for (const [way, leaveEditor] of Object.entries(ways).slice(0, index === 0 ? undefined : 1)) {
        await leaveEditor()
        await question.waitFor()
        await page.keyboard.press('Escape')
        await visitor.closed()
        t.equal(new URL(page.url()).pathname, path, `${name}, by ${way}`)
        await visitor.sees(kept)
      }
      const [asked] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
      t.equal(asked.type(), 'beforeunload', `${name}, by closing the browser tab`)
      await asked.dismiss()
      await visitor.sees(kept)
      await visitor.link('People').click()
      await dialog.getByRole('button', { name: 'Discard changes', exact: true }).click()
      await visitor.heading('Globex people').waitFor()
    }
    t.equal((await ada.get(settings)).body.settings['ext.theme'], 'light')
    t.same((await ada.get(override)).body.settings, { 'ext.tabSize': 8 })
    t.strictSame(visitor.complaints, [])
    await ada.delete(`/api/team/workspaces/${id}`)
  })

  t.test('the JSON editor marks errors, completes keys, and can’t violate a policy', async (t) => {
    await admin.open(`/w/${id}/settings`)
    await admin.button('JSON').click()
    // The plain field is there until the editor has loaded.
    await page.locator('.cm-editor').waitFor()
    await editor.fill('{ "ext.a": 1, "ext.a": 12345678901234567890, "other": 2 }')
    await admin.sees('“ext.a” appears twice. Remove one.')
    const marks = page.locator('.cm-lintRange-error')
    await countOf(marks, 3)
    t.same(await marks.allInnerTexts(), ['"ext.a"', '12345678901234567890', '"other"'])
    t.ok(await admin.button('Save settings').isDisabled())
    t.strictSame(await admin.violations(), [])
    // The browser would give the new text the look of what it replaces, in an inline style.
    await editor.fill('{ "ext.a": 1, "ext.a": 2, "other": 2 }')
    // Not by fill(), whose selection the editor may not have noticed yet.
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText('{}')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.type('"ext.fo')
    await page.getByRole('option', { name: '"ext.fontSize"', exact: true }).waitFor()
    // The editor ignores Enter just after a list appears, because the person may have meant a new line.
    await page.waitForTimeout(200)
    await page.keyboard.press('Enter')
    await admin.sees('+ ext.fontSize: 14')
    t.equal(await editor.innerText(), '{"ext.fontSize": 14}')
    await page.keyboard.press('Tab')
    t.not(await page.locator(':focus').getAttribute('class'), 'code', 'Tab leaves the editor')
    t.strictSame(admin.complaints, [])
  })

  t.test('a bad change can be rolled back from the history in three clicks', async (t) => {
    await ada.patch(settings, { settings: { 'ext.theme': null }, locked: [] })
    const { version } = (await ada.get(settings)).body
    await admin.open(`/w/${id}/people`)
    await admin.link('Settings').click()
    const row = page.getByRole('row', { name: `ext.theme "light" not set`, exact: true })
    await row.waitFor()
    await admin.button(`Restore version ${version - 1}`).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('row', { name: 'ext.theme not set "light"', exact: true }).waitFor()
    t.strictSame(await admin.violations('dialog[open]'), [])
    await dialog.getByRole('textbox', { name: 'Reason (optional)', exact: true }).fill('Too dark outside')
    await dialog.getByRole('button', { name: `Restore version ${version - 1}`, exact: true }).click()
    await admin.sees(`Version ${version - 1} restored`)
    const { body } = await ada.get(settings)
    t.same(body.settings, { 'ext.theme': 'light', 'ext.tabSize': 2, 'ext.fontSize': 4 })
    t.same(body.locked, ['ext.tabSize'])
    await admin.sees('Too dark outside')
    t.equal((await ada.get(`${settings}/versions`)).body.versions[0].reason, 'Too dark outside')
    await page.getByRole('radio', { name: 'From version 1', exact: true }).check()
    await admin.heading(`Changes from version 1 to ${version + 1}`).waitFor()
    t.match(page.url(), /older=1/, 'the comparison has an address')
  })

  t.test('language blocks can be edited and saved, and every error is marked', async (t) => {
    await admin.open(`/w/${id}/settings`)
    await admin.button('JSON').click()
    await page.locator('.cm-editor').waitFor()
    const { body } = await ada.get(settings)
    await editor.fill('{ "wrong": 1, "[go]": { "tabSize": 2, "ext.tabSize": null }, "[go": {} }')
    const marks = page.locator('.cm-lintRange-error')
    await countOf(marks, 4)
    t.same(await marks.allInnerTexts(), ['"wrong"', '"tabSize"', '"ext.tabSize"', '"[go"'])
    await admin.sees('“tabSize” must start with “ext.”.')
    await admin.sees('“[go” must name languages, such as “[typescript]”.')
    await editor.fill(JSON.stringify({ ...body.settings, '[go]': { 'ext.tabSize': 9 } }))
    await admin.sees('+ [go]: {"ext.tabSize":9}')
    await save()
    await admin.sees('[go]/ext.tabSize must be at most 8')
    t.same((await ada.get(settings)).body.settings['[go]'], { 'ext.tabSize': 9 })
    await admin.open(`/w/${id}/settings`)
    await admin.sees('ext.tabSize must be at most 8.')
    t.strictSame(admin.complaints, [])
    await ada.patch(settings, { settings: { '[go]': null } })
  })

  t.test('a repository’s page shows where values come from and which have no effect', async (t) => {
    await admin.open(`/w/${id}/repos/acme/web/settings`)
    await page
      .getByRole('row', { name: 'ext.tabSize 2 Workspace, locked Override: 8', exact: true })
      .waitFor()
    await admin.sees(/^1 key has no effect, because the workspace locked it: /)
    await admin.sees(/^Version 1 by ada, /)
    await admin.button('Edit override').click()
    await admin.sees(
      '“ext.tabSize” is locked. Remove it from the override, or unlock it in the workspace settings.',
    )
    await admin.button('Remove ext.tabSize').click()
    await admin.field('Filter').selectOption('All settings')
    await page.getByRole('combobox', { name: 'ext.theme', exact: true }).selectOption('dark')
    await admin.sees('Overrides the workspace’s value: "light"')
    await admin.sees('Affects 1 repository and 2 people.')
    await admin.button('Save override').click()
    await page
      .getByRole('row', { name: 'ext.theme "dark" Override Workspace: "light"', exact: true })
      .waitFor()
    t.same((await ada.get(override)).body.settings, { 'ext.theme': 'dark' })
    await admin.button('Restore version 1').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Restore version 1', exact: true }).click()
    await dialog.getByText('The workspace has locked some of these keys.', { exact: true }).waitFor()
    await admin.button('Cancel').click()
    // A control that is half below the header has a small target.
    await page.evaluate('scrollTo(0, 0)')
    t.strictSame(await admin.violations(), [])
  })

  t.test('members see settings, locks and histories, but can’t change them', async (t) => {
    const member = await visit(bob)
    await member.open(`/w/${id}/settings`)
    await member.page.getByRole('row', { name: 'ext.tabSize 2 Locked', exact: true }).waitFor()
    await member.heading('Versions').waitFor()
    t.equal(await countOf(member.page.getByRole('button', { name: /^Restore/ }), 0), 0)
    await member.open(`/w/${id}/repos/acme/web`)
    await member.heading('Override versions').waitFor()
    t.equal(await countOf(member.page.getByRole('button', { name: /override$|^Restore/ }), 0), 0)
    t.strictSame(member.complaints, [])
  })

  t.test('workspace settings and overrides fit a phone in dark mode and work by keyboard', async (t) => {
    const phone = await visit(ada)
    await phone.page.setViewportSize({ width: 390, height: 844 })
    await phone.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await phone.open(`/w/${id}/settings`)
    t.equal(await phone.width(), 390)
    const theme = phone.page.getByRole('combobox', { name: 'ext.theme', exact: true })
    await theme.focus()
    await phone.page.keyboard.press('d')
    await phone.page.keyboard.press('Tab')
    await phone.page.keyboard.press('Space')
    t.equal(await phone.page.getByRole('checkbox', { name: 'Lock ext.theme', exact: true }).isChecked(), true)
    const save = await phone.button('Save settings').boundingBox()
    t.ok(
      save && save.y > 700 && save.y + save.height <= 844,
      'saving is in sight, wherever the change was made',
    )
    t.strictSame(await phone.violations(), [])
    await phone.button('Save settings').press('Enter')
    await phone.sees('Settings saved')
    t.same((await ada.get(settings)).body.locked, ['ext.tabSize', 'ext.theme'])
    await phone.button('JSON').press('Enter')
    await phone.page.locator('.cm-editor').waitFor()
    t.equal(await phone.width(), 390)
    t.strictSame(await phone.violations(), [])
    await phone.go(`/w/${id}/repos/acme/web/settings`)
    await phone.button('Edit override').press('Enter')
    await phone.field('Search settings').waitFor()
    t.equal(await phone.width(), 390)
    t.strictSame(await phone.violations('main'), [])
    t.strictSame(phone.complaints, [])
  })
}
