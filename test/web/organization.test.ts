/** Membership that follows an organization, on the page: by keyboard, and without a violation of accessibility rules. */
import t from 'tap'
import { deliveryShapes } from '../../demo/host-deliveries.js'
import type { Caller } from '../service.js'
import { createWebhook } from '../webhooks.js'
import { countOf, startScene, type Visitor } from './page.js'

const scene = await startScene(t, { env: { LIMITS: 'removals=1' } })

if (typeof scene === 'string')
  t.test('an organization is linked on the page', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const asks = { mayAskOrganizations: true }
  const acme = { id: 9_919, name: 'Acme', members: new Map<number, 'member' | 'admin'>() }
  service.repohost.organizations.push(acme)
  const ada = await service.signIn('ada', asks)
  acme.members.set(ada.repohostId, 'admin')
  const { id } = await service.workspace(ada)
  const path = `/api/team/workspaces/${id}`
  const admin = await visit(ada)
  const logins = async () =>
    (await ada.get(`${path}/members`)).body.members.map(({ login }: { login: string }) => login)

  /** Moves the focus by keyboard. */
  const tabTo = async ({ page }: Visitor, target: ReturnType<Visitor['button']>) => {
    for (let presses = 0; presses < 60; presses++) {
      if (await target.evaluate((element) => element.matches(':focus'))) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`The focus does not reach ${target}`)
  }
  const press = async (visitor: Visitor, name: string) => {
    await tabTo(visitor, visitor.button(name))
    await visitor.page.keyboard.press('Enter')
  }

  t.test(
    'an admin links an organization by keyboard, and members see the link on the People page',
    async (t) => {
      const { page } = admin
      await admin.open(`/w/${id}/people`)
      t.equal(await countOf(page.getByText('This workspace follows'), 0), 0)
      await admin.open(`/w/${id}/settings/integrations`)
      await press(admin, 'Follow an organization')
      await tabTo(admin, admin.field('Organization'))
      await page.keyboard.type('acme')
      for (const box of ['Its people become members when they sign in', 'People who leave it are removed']) {
        await tabTo(admin, admin.field(box))
        await page.keyboard.press('Space')
      }
      await tabTo(admin, admin.tokenField())
      await page.keyboard.type(ada.repohostToken)
      t.strictSame(await admin.violations(), [])
      await page.keyboard.press('Enter')
      await admin.sees('This workspace follows the organization')
      await admin.button('Stop following').waitFor()

      acme.members.set(service.repohost.addUser('bob', asks).id, 'member')
      const bob = await visit(await service.signIn('bob', asks))
      await bob.open(`/w/${id}/people`)
      const said =
        /^This workspace follows Acme, which ada linked on .*\. Its people become members when they sign in\. People who leave it are removed\.$/
      await bob.sees(said)
      await bob.go(`/w/${id}/settings/integrations`)
      await bob.heading(/ integrations$/).waitFor()
      await bob.sees(said)
      t.equal(await countOf(bob.button('Stop following'), 0), 0, 'members cannot change it')
      t.strictSame(bob.complaints, [])
    },
  )

  t.test('a person whose token lacks the scope for organizations is told', async (t) => {
    const user = service.repohost.addUser('cyd')
    acme.members.set(user.id, 'member')
    const cyd = await visit()
    await cyd.open('/')
    await cyd.tokenField().fill(user.token)
    await cyd.button('Sign in with token').click()
    await cyd.sees(
      /^GitHub didn’t say which organizations you belong to\. .* token that has the scope read:org\.$/,
    )
    t.strictSame(await cyd.violations(), [])
    acme.members.delete(user.id)
  })

  t.test('a person made a member is told, and can leave or stay', async (t) => {
    const bob = await visit(await service.signIn('bob', asks))
    const said =
      /^You are a member of .* because you belong to Acme at GitHub\. Activity up to the day you joined doesn’t count here\.$/
    await bob.open(`/w/${id}/me`)
    await bob.sees(said)
    t.strictSame(await bob.violations(), [])
    await bob.page.getByRole('link', { name: 'Leave', exact: true }).click()
    await bob.page.getByRole('dialog').waitFor()
    await bob.page.keyboard.press('Escape')
    await bob.button('Stay').click()
    await bob.open(`/w/${id}/me`)
    await bob.page.getByRole('heading', { level: 1 }).first().waitFor()
    t.equal(await countOf(bob.page.getByText(said), 0), 0)
    t.strictSame(bob.complaints, [])
  })

  t.test('an admin learns that a link ends soon, or why it admits no one, and renews it', async (t) => {
    const age = (days: number) =>
      service.database.write.statement(
        `update organizations set linked_at = now() - interval '${days} days', confirmed_at = null`,
        [],
      )
    await age(50)
    await admin.open(`/w/${id}/people`)
    await admin.sees(
      /^From .* on, no one joins, unless ada signs in before then, or an admin who owns Acme renews the link\.$/,
    )
    await age(61)
    const bob = await visit(await service.signIn('bob'))
    await bob.open(`/w/${id}/people`)
    const paused =
      /^No one joins for now: GitHub hasn’t confirmed since .* that ada, who linked it, owns Acme\. An admin who owns it can renew the link\.$/
    await bob.sees(paused)
    t.equal(await countOf(bob.button('Renew'), 0), 0, 'only admins renew it')
    await admin.open(`/w/${id}/people`)
    await admin.sees(paused)
    await press(admin, 'Renew')
    await tabTo(admin, admin.tokenField())
    await admin.page.keyboard.type(ada.repohostToken)
    await admin.page.keyboard.press('Enter')
    await admin.sees('This workspace follows the organization')
    t.equal((await ada.get(`${path}/organization`)).body.state, 'active')
  })

  t.test('an admin sees who has left and confirms removals by keyboard', async (t) => {
    const webhook = await createWebhook(service, ada, id)
    const people: Caller[] = []
    for (const login of ['cyd', 'dan', 'eve']) {
      acme.members.set(service.repohost.addUser(login, asks).id, 'member')
      people.push(await service.signIn(login, asks))
    }
    for (const { repohostId, login } of people) {
      acme.members.delete(repohostId)
      const event = deliveryShapes.github.left?.(acme, { id: repohostId, login })
      if (event) t.equal((await webhook.send(event)).status, 200)
    }
    await service.database.write.statement(
      `update organization_members o set confirmed_at = '2026-01-02T03:04:05Z'
      from users u where u.id = o.user_id and u.login = 'bob'`,
      [],
    )
    t.same(await logins(), ['ada', 'bob', 'dan', 'eve'], 'one was removed, and two wait')
    const { page } = admin
    await admin.open(`/w/${id}/people`)
    const concerned = page.getByRole('region', { name: 'Left the organization', exact: true })
    const unconfirmed = page.getByRole('region', { name: 'Not confirmed lately', exact: true })
    await concerned.waitFor()
    const said = [
      ...(await unconfirmed.getByRole('listitem').allInnerTexts()),
      ...(await concerned.getByRole('listitem').allInnerTexts()).sort(),
    ]
    t.strictSame(
      said.map((text) => text.replace(/\w{3}, \d+ \w{3} \d{4}/, 'DAY')),
      [
        'BO\nbob\nGitHub last confirmed this member on DAY',
        'DA\ndan\nleft on DAY. Remove or keep?\nRemove\ndan\nKeep\ndan',
        'EV\neve\nleft on DAY. Remove or keep?\nRemove\neve\nKeep\neve',
      ],
    )
    t.strictSame(await admin.violations(), [])
    await page.setViewportSize({ width: 360, height: 800 })
    t.equal(await admin.width(), 360, 'nothing overflows on a phone')
    await page.setViewportSize({ width: 1_280, height: 720 })
    await press(admin, 'Remove 2 members')
    t.strictSame(await admin.violations('dialog[open]'), [])
    await page.keyboard.press('Escape')
    await admin.closed()
    await press(admin, 'Keep dan')
    await admin.sees('dan stays')
    await press(admin, 'Remove eve')
    await tabTo(admin, admin.button('Remove'))
    await page.keyboard.press('Enter')
    await admin.sees('eve removed')
    t.same(await logins(), ['ada', 'bob', 'dan'])
    await concerned.waitFor({ state: 'detached' })
    t.equal(await unconfirmed.getByRole('listitem').count(), 1, 'only bob is listed')
  })

  t.test('an admin unlinks the organization by keyboard, and all members stay', async (t) => {
    const { page } = admin
    await admin.open(`/w/${id}/settings/integrations`)
    await press(admin, 'Stop following')
    await admin.heading('Stop following Acme?').waitFor()
    await tabTo(admin, page.getByRole('dialog').getByRole('button', { name: 'Stop following', exact: true }))
    await page.keyboard.press('Enter')
    await admin.sees('This workspace follows no organization now')
    await admin.button('Follow an organization').waitFor()
    t.same(await logins(), ['ada', 'bob', 'dan'])
    await admin.open(`/w/${id}/people`)
    t.equal(await countOf(page.getByText('This workspace follows'), 0), 0)
    t.strictSame(admin.complaints, [])
  })
}
