/** Webhook deliveries, on the page. */
import t from 'tap'
import { commitOf, createWebhook } from '../webhooks.js'
import { startScene } from './page.js'

const scene = await startScene(t)
if (typeof scene === 'string') t.test('skipped commits are listed', { skip: scene }, async () => {})
else {
  const { service, visit } = scene

  t.test('a repository leads to its deliveries, which list each skipped commit', async (t) => {
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada, { name: 'Acme' })
    const webhook = await createWebhook(service, ada, id)
    const today = new Date().toISOString().slice(0, 10)
    const commit = commitOf('eve', today)
    await webhook.push('acme/api', [commit])
    await webhook.push('acme/web', [commitOf('ada', today)])

    const page = await visit(ada)
    await page.open(`/w/${id}/repos/acme/api`)
    await page.page.getByRole('link', { name: 'Webhook deliveries' }).click()
    const table = page.page.getByRole('table', { name: 'Recent deliveries' })
    await table.getByText('0 counted, 1 skipped (not a member)').click()
    t.equal(await table.getByRole('listitem').innerText(), `${commit.id.slice(0, 10)} eve, not a member`)
    t.equal(await table.getByText('acme/web').count(), 0)
    t.same(await page.violations(), [])
    await page.button('Show all deliveries').click()
    await table.getByText('acme/web').waitFor()
  })
}
