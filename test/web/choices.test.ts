/** How many choices lead from the first screen to every other one. */
import t from 'tap'
import { startScene } from './page.js'

const scene = await startScene(t, { env: { REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' } })

if (typeof scene === 'string') t.test('every screen is a few choices away', { skip: scene }, async () => {})
else {
  t.test('every screen is at most two choices away in a fresh browser', async (t) => {
    const ada = await scene.service.signIn('ada')
    const { id } = await scene.service.workspace(ada)
    const day = new Date().toISOString().slice(0, 10)
    await ada.post('/api/team/active-minutes', { entries: [{ repo: 'acme/web', day, minutes: 30 }] })
    const newcomer = await scene.visit()
    const { page } = newcomer
    await newcomer.open('/')
    await newcomer.tokenField().fill(ada.repohostToken)
    await newcomer.button('Sign in with token').click()
    await page.waitForURL(`**/w/${id}/me`)
    const main = page.getByRole('main')
    const link = (name: string, within = page.getByRole('banner')) =>
      within.getByRole('link', { name, exact: true }).first()
    const settings = link('Settings')
    const repo = link('acme/web', main)
    const account = newcomer.button('ada')
    const screens: [path: string, ...choices: ReturnType<typeof link>[]][] = [
      [`/w/${id}/me`],
      [`/w/${id}`, link('Team')],
      [`/w/${id}/repos`, link('Repositories')],
      [`/w/${id}/repos/acme/web`, repo],
      [`/w/${id}/repos/acme/web/settings`, repo, link('Settings', main)],
      [`/w/${id}/people`, link('People')],
      [`/w/${id}/settings`, settings],
      [`/w/${id}/settings/privacy`, settings, link('Privacy', main)],
      [`/w/${id}/settings/integrations`, settings, link('Integrations', main)],
      [`/w/${id}/settings/audit`, settings, link('Audit', main)],
      [`/w/${id}/settings/general`, settings, link('General', main)],
      ['/account', account, link('Profile')],
      ['/account/privacy', account, link('Privacy and data')],
      ['/account/editors', account, link('Editors and keys')],
    ]
    for (const [path, ...choices] of screens) {
      await newcomer.go('/')
      await page.waitForURL(`**/w/${id}/me`)
      t.ok(choices.length <= 2, path)
      for (const choice of choices) await choice.click()
      await page.waitForURL(`${newcomer.url}${path}`)
      await newcomer.settled()
      t.equal(await page.locator('a[href*="funnel"]').count(), 0, 'operators know the address of the funnel')
    }
    t.strictSame(newcomer.complaints, [])
  })
}
