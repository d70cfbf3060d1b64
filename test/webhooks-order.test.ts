import t from 'tap'
import { deliverAtRandom } from './delivery-model.js'
import { startWebhook } from './webhooks.js'

t.test('deliveries in any order, repeated, lost or batched, give the same counts', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const seed = Math.floor(Math.random() * 1e9)
  t.comment(`seed ${seed}`)
  const { counted, expected } = await deliverAtRandom(webhook, today, { deliveries: 120, seed })
  t.ok(Object.keys(expected).length > 20)
  t.same(counted, expected)
  await service.app.jobs.rollups.run()
  const [row] = await service.database.hot.statement<{ commits: number; closed: number }>(
    `select sum(commits)::int as commits, sum(closed_issues)::int as closed from member_days where workspace_id = $1::uuid`,
    [webhook.workspace],
  )
  const sum = (name: 'commits' | 'closed_issues') =>
    Object.values(expected).reduce((total, counts) => total + counts[name], 0)
  t.same(row, { commits: sum('commits'), closed: sum('closed_issues') }, 'and so do the rollups')
})
