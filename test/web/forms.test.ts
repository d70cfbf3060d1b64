/** Forms explain wrong input: in their own words, at the field, with a proposal where there is one. */
import t from 'tap'
import { startScene, type Visitor } from './page.js'

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'ext' } })

if (typeof scene === 'string') t.test('forms explain errors and save input', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { name: 'Acme' })

  /** Words of the API that no person should read. */
  const RAW = /\/body|`|\d must |must be |must match|POST |GET |undefined|\bnull\b/
  const said = (visitor: Visitor) => visitor.page.getByRole('alert').allInnerTexts()

  type Wrong = [path: string, what: string, enter: (visitor: Visitor) => Promise<unknown>, text: RegExp]
  const wrong: Wrong[] = [
    [
      `/w/${id}/settings/general`,
      'an owner as a pattern',
      async ({ field, button }) => {
        await field('Patterns, one per line').fill('acme/*\nnorthwind')
        await button('Save patterns').click()
      },
      /^northwind isn’t a pattern\.\s+Use northwind\/\*$/,
    ],
    [
      `/w/${id}/settings/general`,
      'a pattern that nothing resembles',
      async ({ field, button }) => {
        await field('Patterns, one per line').fill('a/b/c/**/*')
        await button('Save patterns').click()
      },
      /^a\/b\/c\/\*\*\/\* isn’t a pattern\. Use owner\/\* or owner\/name\.$/,
    ],
    [
      `/w/${id}/settings/general`,
      'a name of spaces',
      async ({ field, button }) => {
        await field('Workspace name').fill('   ')
        await button('Rename workspace').click()
      },
      /^This can’t be saved\. Enter a name with visible characters\./,
    ],
    [
      '/account/privacy',
      'a repository without its owner',
      async ({ field, button }) => {
        await field('Never record in these repositories').fill('secret')
        await button('Save preferences').click()
      },
      /^secret isn’t a pattern\.\s+Use secret\/\*$/,
    ],
    [
      '/account/privacy',
      'recording hours without a day',
      async ({ page, button }) => {
        await page.getByRole('checkbox', { name: /^Record only during/ }).check()
        for (const box of await page
          .getByRole('group', { name: 'Recording hours' })
          .getByRole('checkbox')
          .all())
          await box.uncheck()
        await button('Save preferences').click()
      },
      /^This can’t be saved\. Choose two different hours, and at least one weekday\./,
    ],
    [
      `/w/${id}/settings/integrations`,
      'an organization with a space',
      async ({ field, button, tokenField }) => {
        await button('Follow an organization').click()
        await field('Organization').fill('ac me')
        await tokenField().fill('token')
        await button('Follow organization').click()
      },
      /^This can’t be saved\. Enter the name as it stands in the address\./,
    ],
    [
      '/funnel',
      'a wrong admin key',
      async ({ field, button }) => {
        await field('Admin key').fill('wrong')
        await button('Show funnel').click()
      },
      /^Invalid admin key\. Use a key from ADMIN_KEYS\./,
    ],
  ]
  for (const [path, what, enter, text] of wrong) {
    t.test(`the page explains ${what} in its own words`, async (t) => {
      const visitor = await visit(ada)
      await visitor.open(path)
      await enter(visitor)
      await visitor.page.getByRole('alert').first().waitFor()
      const alerts = await said(visitor)
      t.equal(alerts.length, 1)
      t.match(alerts[0], text)
      t.notMatch(alerts.join('\n'), RAW)
      t.strictSame(await visitor.violations('main'), [])
    })
  }

  t.test('a time zone can be saved once it was chosen', async (t) => {
    const visitor = await visit(ada)
    await visitor.open('/account')
    const save = visitor.button('Save time zone')
    t.ok(await save.isDisabled())
    await visitor.page.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Tokyo')
    t.notOk(await save.isDisabled())
    await save.click()
    await visitor.sees('Time zone saved')
    t.ok(await save.isDisabled())
  })

  t.test('the first workspace suggests the intended pattern, and a click accepts it', async (t) => {
    const eve = await visit(await service.signIn('eve'))
    await eve.open('/')
    await eve.field('Name').fill('Northwind')
    await eve.field('Repositories').fill('https://github.com/northwind contoso/api')
    await eve.field('Visible to admins').check()
    await eve.button('Create workspace').click()
    t.match((await said(eve))[0], /^https:\/\/github\.com\/northwind isn’t a pattern\./)
    t.equal(await eve.field('Repositories').getAttribute('aria-invalid'), 'true')
    await eve.button('Use northwind/*').click()
    t.equal(await eve.field('Repositories').inputValue(), 'northwind/* contoso/api')
    t.strictSame(await said(eve), [])
    await eve.button('Create workspace').click()
    await eve.button('Workspace: Northwind').waitFor()
    t.strictSame(eve.complaints, [])
  })
}
