/** Notices of changes that affect a person, on the page. */
import t from 'tap'
import { deliveryShapes } from '../../demo/host-deliveries.js'
import { createWebhook } from '../webhooks.js'
import { startScene } from './page.js'

const scene = await startScene(t)
if (typeof scene === 'string') t.test('notices stay until they’re dismissed', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const team = '/api/team/workspaces'
  const today = () => new Date().toISOString().slice(0, 10)

  t.test('notices stay above every screen until each is dismissed, in every workspace', async (t) => {
    const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
    const { id } = await service.workspace(ada, { name: 'Acme', members: [bob, cyd] })
    const { id: other } = await service.workspace(ada, {
      name: 'Other',
      patterns: ['other/*'],
      members: [bob],
    })
    const makeAdmin = (workspace: string, login: string) =>
      ada.patch(`${team}/${workspace}/members`, { login, role: 'admin' })
    await makeAdmin(id, 'bob')
    await ada.patch(`${team}/${id}/settings`, { settings: { 'ext.a': 1 }, activity_privacy: 'team' })
    await bob.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.a': 2 } })
    await ada.patch(`${team}/${id}/settings`, { activity_privacy: 'named' })
    await ada.patch(`${team}/${id}/settings`, { locked: ['ext.a'] })
    await makeAdmin(id, 'cyd')
    await ada.delete(`${team}/${other}/members?login=bob`)

    const page = await visit(bob)
    await page.open(`/w/${id}/me`)
    const list = page.page.getByRole('region', { name: 'Changes that affect you' })
    await list.waitFor()
    const texts = async () =>
      (await list.getByRole('listitem').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
    t.equal(await page.button('Show 1 more').count(), 1)
    await page.button('Show 1 more').click()
    const [removed, admin, locked, loosened, ...more] = await texts()
    t.same(more, [])
    t.match(removed, /An admin removed you from Other\. You need a new invite to come back\. Dismiss$/)
    t.match(admin, /cyd is now an admin of Acme\. People in Acme Dismiss$/)
    t.match(locked, /ada locked ext\.a in Acme, so overrides no longer change it: acme\/api Dismiss$/)
    t.match(
      loosened,
      /ada loosened the privacy level of Acme\. Admins see each member’s daily numbers by name from .*\b20\d\d on\. Earlier days stay hidden\. Privacy of Acme Dismiss$/,
    )
    t.same(await page.violations(), [])
    await page.page.setViewportSize({ width: 320, height: 640 })
    t.equal(await page.width(), 320)

    t.match(
      await page
        .button(/^Dismiss /)
        .first()
        .ariaSnapshot(),
      /"Dismiss .* An admin removed you from Other\./,
      'each button names its notice',
    )
    await page
      .button(/^Dismiss /)
      .first()
      .focus()
    await page.page.keyboard.press('Enter')
    t.equal((await texts()).length, 3)
    t.equal(
      await page.page.evaluate('document.activeElement.textContent'),
      'People in Acme',
      'the focus moves on',
    )
    await page.link('acme/api').click()
    await page.heading('acme/api').waitFor()
    await page
      .button(/^Dismiss /)
      .first()
      .click()
    await page.open('/account')
    await list.waitFor()
    t.same(await texts(), [locked, loosened], 'they stay dismissed')

    await ada.patch(`${team}/${id}/settings`, { locked: [] })
    await page.open(`/w/${id}/me`)
    t.same(await texts(), [loosened])
    await page.button(/^Dismiss /).click()
    t.equal(await list.count(), 0)
    await page.page.setViewportSize({ width: 1_280, height: 720 })
    t.same(page.complaints, [])

    const entries = [{ repo: 'acme/api', day: today(), minutes: 5 }]
    t.equal((await bob.post('/api/team/active-minutes', { entries })).status, 200)
    await ada.put(`${team}/${id}/patterns`, { patterns: ['acme/web'] })
    await page.open(`/w/${id}/me`)
    const [uncovered] = await texts()
    t.match(
      uncovered,
      /ada changed the patterns of Acme\. This repository no longer counts there: acme\/api Dismiss$/,
    )

    const another = await visit(cyd)
    await another.open(`/w/${id}/me`)
    t.match(
      await another.page.getByRole('region', { name: 'Changes that affect you' }).innerText(),
      /bob is now an admin of Acme/,
      'others have their own',
    )
  })

  t.test(
    'an admin moves a renamed repository’s settings from the notice, once the host confirms it',
    async (t) => {
      const ada = await service.signIn('eva')
      const { id } = await service.workspace(ada, { name: 'Renamed' })
      await ada.push('acme/old', { 'ext.theme': 'dark' }, {}, `?workspace=${id}`)
      const webhook = await createWebhook(service, ada, id)
      const report = deliveryShapes.github.renamed?.('acme/new', 'old')
      if (!report) throw new Error('GitHub reports renames')
      t.equal((await webhook.send(report)).status, 200)
      const page = await visit(ada)
      await page.open(`/w/${id}/me`)
      const list = page.page.getByRole('region', { name: 'Changes that affect you' })
      t.match(
        await list.innerText(),
        /reported that acme\/old is now called acme\/new\. Its settings in Renamed are still under the old name\./,
      )
      const move = async () => {
        await list.getByLabel('GitHub access token').fill(ada.repohostToken)
        await list.getByRole('button', { name: 'Move settings' }).click()
      }
      await list.getByRole('button', { name: /^Move settings/ }).click()
      t.same(await page.violations(), [])
      await move()
      await list.getByRole('alert').waitFor()
      t.equal(
        (await ada.get(`/api/settings/acme/new?workspace=${id}`)).status,
        404,
        'the host sees both names',
      )
      service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
      await move()
      await list.waitFor({ state: 'detached' })
      t.equal((await ada.get(`/api/settings/acme/new?workspace=${id}`)).status, 200)
      t.same(
        page.complaints.filter((one) => !one.includes('403')),
        [],
      )
    },
  )
}
