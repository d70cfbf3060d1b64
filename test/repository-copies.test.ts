/**
 * Forks, mirrors, monorepos, transfers, renames, amended and force-pushed commits: each commit and each issue counts
 * once in a workspace, for the repository that reported it first.
 */
import t from 'tap'
import { deliveryShapes, type PushedCommit } from '../demo/host-deliveries.js'
import { repohostKinds } from '../schemas/common.js'
import { startService } from './service.js'
import { commitOf, createWebhook, startWebhook, type Webhook } from './webhooks.js'

const REPO = 'acme/web'

/** The counts by person and repository, in one workspace. */
const countsOf = async (webhook: Webhook) => {
  const counts: Record<string, number> = {}
  for (const [key, { commits, closed_issues }] of Object.entries(await webhook.counts())) {
    // The login of deleted accounts has a space.
    const [, login, repo] = /^(.*) \S+ (\S+)$/.exec(key) ?? []
    counts[`${login} ${repo}`] = (counts[`${login} ${repo}`] ?? 0) + commits + closed_issues
  }
  return counts
}

const commitsOf = (count: number, day: string): PushedCommit[] =>
  Array.from({ length: count }, () => commitOf('ada', day))

t.test('commits count once, for the repository that reported them first', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { webhook, today } = await startWebhook(t, kind)
      const three = commitsOf(3, today)
      const push = async (repo: string, commits: PushedCommit[], branch?: string) =>
        t.equal((await webhook.push(repo, commits, branch)).status, 200)
      await push(REPO, three)
      await push('acme/fork', three)
      await push('acme/mirror', three.toReversed())
      t.same(await countsOf(webhook), { [`ada ${REPO}`]: 3 }, 'a fork and a mirror add nothing')

      const own = commitsOf(1, today)
      await push('acme/fork', [...three, ...own])
      t.same(await countsOf(webhook), { [`ada ${REPO}`]: 3, 'ada acme/fork': 1 }, 'except what is new there')
      await push(REPO, own)
      t.same(await countsOf(webhook), { [`ada ${REPO}`]: 3, 'ada acme/fork': 1 }, 'a merge from the fork')

      const sixty = commitsOf(60, today)
      await push('acme/library', sixty)
      await push('acme/monorepo', [...sixty, ...commitsOf(1, today)])
      t.same(
        await countsOf(webhook),
        { [`ada ${REPO}`]: 3, 'ada acme/fork': 1, 'ada acme/library': 60, 'ada acme/monorepo': 1 },
        'a monorepo that takes in another repository with its history',
      )

      await push('acme/renamed', [...three, ...commitsOf(2, today)])
      t.equal((await countsOf(webhook))['ada acme/renamed'], 2, 'known under a new name, or a new owner')
      await push(REPO, three)
      t.equal((await countsOf(webhook))[`ada ${REPO}`], 3, 'and late under the old one')

      await push(REPO, [...three, ...three])
      t.equal((await countsOf(webhook))[`ada ${REPO}`], 3, 'force-pushed')
      const [first] = commitsOf(1, today)
      await push(REPO, [{ ...(three[0] as PushedCommit), id: first?.id ?? '' }])
      t.equal((await countsOf(webhook))[`ada ${REPO}`], 4, 'an amended commit is a new commit')
      await push(REPO, commitsOf(1, today), 'topic')
      t.equal((await countsOf(webhook))[`ada ${REPO}`], 4, 'on another branch')
    })
})

t.test('a commit counts in each workspace', async (t) => {
  const { service, ada, webhook, today } = await startWebhook(t)
  const { id } = await service.workspace(ada, { name: 'Second' })
  const second = await createWebhook(service, ada, id)
  const commits = commitsOf(2, today)
  for (const one of [webhook, second]) await one.push(REPO, commits)
  t.same([await countsOf(webhook), await countsOf(second)], Array(2).fill({ [`ada ${REPO}`]: 2 }))
})

t.test('a fork outside the patterns takes no commit away', async (t) => {
  const { webhook, today } = await startWebhook(t)
  const commits = commitsOf(2, today)
  await webhook.push('ada/fork', commits)
  await webhook.push(REPO, commits)
  t.same(await countsOf(webhook), { [`ada ${REPO}`]: 2 })
})

t.test('the same commits pushed to many repositories at once count once', async (t) => {
  const { service, webhook, today } = await startWebhook(t)
  const beside = await startService(t, { beside: service })
  const commits = commitsOf(20, today)
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => {
      const order = n % 2 ? commits : commits.toReversed()
      const event = deliveryShapes.github.push(`acme/copy-${n}`, order)
      const sender = n % 3 ? webhook : Object.assign(Object.create(webhook), { service: beside })
      return sender.send(event)
    }),
  )
  t.same(
    replies.map(({ status }) => status),
    Array(8).fill(200),
  )
  const counts = Object.values(await countsOf(webhook))
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    20,
  )
})

t.test('commits that an earlier version recorded are known in every repository', async (t) => {
  const { service, webhook, id, today } = await startWebhook(t)
  const commits = commitsOf(2, today)
  for (const repo of [REPO, 'acme/fork'])
    await service.database.write.statement(
      'insert into reported_commits (workspace_id, repo_key, hash, day) select $1::uuid, $2, unnest($3::text[]), $4::date',
      [id, repo, commits.map((one) => one.id), today],
    )
  for (const repo of [REPO, 'acme/fork', 'acme/third']) await webhook.push(repo, commits)
  t.same(await countsOf(webhook), {})
})

t.test('an issue keeps its count when its repository is renamed or transferred', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const { webhook, today } = await startWebhook(t, kind)
      const at = (hour: number) => `${today}T0${hour}:00:00Z`
      const issue = (repo: string, closed: boolean, hour: number, login = 'bob', number = 7, id = 77) =>
        webhook.issue(repo, { id, number, closed, at: at(hour), login })
      await issue('acme/old', true, 1)
      await issue('acme/new', true, 1)
      await issue('other/new', true, 1)
      t.same(await countsOf(webhook), { 'bob acme/old': 1 }, 'sent again under the new name')
      await issue('acme/new', true, 2)
      t.same(await countsOf(webhook), { 'bob acme/old': 1 }, 'closed again under the new name')
      await issue('acme/new', false, 3)
      t.same(await countsOf(webhook), {}, 'reopened there')
      await issue('acme/old', true, 2)
      t.same(await countsOf(webhook), {}, 'a late event under the old name')
      await issue('acme/new', true, 4, 'ada')
      t.same(await countsOf(webhook), { 'ada acme/new': 1 }, 'closed by another person')

      await issue('acme/old', true, 5, 'bob', 7, 78)
      t.same(
        await countsOf(webhook),
        { 'ada acme/new': 1, 'bob acme/old': 1 },
        'a new repository under the old name has other issues',
      )
      await issue('acme/new', true, 6, 'bob', 8, 77)
      t.same(
        await countsOf(webhook),
        { 'bob acme/new': 1, 'bob acme/old': 1 },
        'the id decides, not the number',
      )
    })
})

t.test('an issue that an earlier version counted keeps its count', async (t) => {
  const { service, bob, webhook, today } = await startWebhook(t)
  const event = (repo: string, closed: boolean, hour: number) => {
    const { payload, ...more } = deliveryShapes.github.issue(repo, {
      number: 7,
      closed,
      at: `${today}T0${hour}:00:00Z`,
      login: 'bob',
    })
    return { ...more, payload: payload as { issue: object } }
  }
  const send = (repo: string, closed: boolean, hour: number, id: number | undefined) => {
    const { payload, ...more } = event(repo, closed, hour)
    return webhook.send({ ...more, payload: { ...payload, issue: { ...payload.issue, id } } })
  }
  await send(REPO, true, 1, undefined)
  t.same(await countsOf(webhook), { [`bob ${REPO}`]: 1 }, 'without an id, the number decides')
  await send(REPO, true, 1, 77)
  await send('acme/new', true, 2, 77)
  t.same(await countsOf(webhook), { [`bob ${REPO}`]: 1 })
  t.equal((await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })).status, 200)
  await service.app.jobs.erasures.run()
  t.same(await countsOf(webhook), { [`deleted user ${REPO}`]: 1 })
  await send('acme/new', false, 3, 77)
  t.same(await countsOf(webhook), {}, 'and can be taken back after its closer’s account was deleted')
})

t.test('GitLab’s moved and duplicate issues count nothing', async (t) => {
  const { webhook, today } = await startWebhook(t, 'gitlab')
  const send = (number: number, more: object) => {
    const { event, payload } = deliveryShapes.gitlab.issue(REPO, {
      number,
      closed: true,
      at: `${today}T01:00:00Z`,
      login: 'bob',
    })
    const { object_attributes } = payload as { object_attributes: object }
    return webhook.send({
      event,
      payload: { ...payload, object_attributes: { ...object_attributes, ...more } },
    })
  }
  await send(1, { moved_to_id: 9 })
  await send(2, { duplicated_to_id: 3 })
  t.same(await countsOf(webhook), {})
  t.same(
    (await webhook.deliveries()).map(({ counted, skipped }: Record<string, number>) => [counted, skipped]),
    [
      [0, 0],
      [0, 0],
    ],
  )
  await send(3, { moved_to_id: null, duplicated_to_id: null })
  t.same(await countsOf(webhook), { [`bob ${REPO}`]: 1 })
})
