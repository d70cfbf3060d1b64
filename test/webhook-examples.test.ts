/** GitHub's published payloads, sent unchanged. */
import { createRequire } from 'node:module'
import t from 'tap'
import { signedDelivery } from '../demo/host-deliveries.js'
import { type Delivery, readDelivery } from '../src/features/counts/webhooks/delivery.js'
import { createWebhook, startWebhook } from './webhooks.js'

interface Published {
  name: string
  examples: Record<string, unknown>[]
}

const require = createRequire(import.meta.url)
const published = require('@octokit/webhooks-examples') as Published[]
const REPO = 'Codertocat/Hello-World'

const read = async (event: string, payload: unknown) =>
  (await readDelivery(Buffer.from(JSON.stringify(payload)), {
    kind: 'github',
    hostname: 'github.com',
    event,
    isForm: false,
  })) as Delivery

t.test('every payload published by GitHub gets a 200, and those from 2019 don’t count', async (t) => {
  const { service, ada, webhook } = await startWebhook(t)
  const payloads = published.flatMap(({ name, examples }) =>
    examples.map((payload) => ({ event: name, payload })),
  )
  t.ok(payloads.length > 200)
  const statuses: number[] = []
  const queue = payloads.values()
  const send = async () => {
    for (const event of queue) statuses.push((await webhook.send(event)).status)
  }
  await Promise.all([send(), send(), send(), send()])
  t.same(new Set(statuses), new Set([200]))
  t.same(await webhook.counts(), {})
  const { id } = await service.workspace(ada, { name: 'Octo', patterns: ['Codertocat/*'] })
  const other = await createWebhook(service, ada, id)
  for (const { event, payload } of payloads.filter(({ event }) => ['push', 'issues', 'ping'].includes(event)))
    t.equal((await other.send({ event, payload })).status, 200)
  t.same(await other.counts(), {})
})

t.test('the examples are read as GitHub documents them', async (t) => {
  const examples = (event: string) => published.find(({ name }) => name === event)?.examples ?? []
  const pushes = await Promise.all(examples('push').map((payload) => read('push', payload)))
  t.same(
    new Set(pushes.map(({ repo, commits }) => `${repo} ${commits.length}`)),
    new Set([`${REPO} 0`, `${REPO} 1`]),
  )
  t.same(pushes.find(({ commits }) => commits.length === 1)?.commits, [
    {
      hash: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      at: Date.parse('2019-05-15T15:19:25Z'),
      shownDay: null,
      author: { id: 21_031_067 },
      login: 'Codertocat',
    },
  ])
  const issues = await Promise.all(
    examples('issues').map(async (payload) => ({
      action: payload.action,
      found: (await read('issues', payload)).issue,
    })),
  )
  t.same(
    issues.flatMap(({ action, found }) => (found ? [action] : [])),
    ['reopened'],
    'no other published action closes an issue or opens it again',
  )
})

t.test('an example dated this year counts for its author and closer', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const codertocat = await service.signIn('Codertocat')
  const { id } = await service.workspace(codertocat, { patterns: ['codertocat/*'] })
  const own = await createWebhook(service, codertocat, id)
  const push = published
    .find(({ name }) => name === 'push')
    ?.examples.find(({ ref }) => ref === 'refs/heads/master')
  // The payloads name this person by an id, too.
  const { sender } = push as unknown as { sender: { id: number } }
  await service.database.write.statement(
    `update users set repohost_id = $1::bigint where login = 'Codertocat'`,
    [sender.id],
  )
  const text = JSON.stringify(push).replaceAll('2019-05-15T15:19:25Z', `${today}T15:19:25Z`)
  const { headers } = signedDelivery('github', { event: 'push', payload: JSON.parse(text) }, own.secret)
  t.equal((await service.request('POST', own.path, { body: text, headers })).status, 200)
  const reopened = published
    .find(({ name }) => name === 'issues')
    ?.examples.find(({ action }) => action === 'reopened')
  const issue = { ...(reopened?.issue as object), closed_at: `${today}T10:00:00Z` }
  await own.send({ event: 'issues', payload: { ...reopened, action: 'closed', issue } })
  t.same(await own.counts(), {
    [`Codertocat ${today} codertocat/hello-world`]: { commits: 1, closed_issues: 1 },
  })
  t.same(await webhook.counts(), {})
})
