/** A GitHub emulator that others wrote. It knows only the URL and the secret of the webhook, and delivers by itself. */
import { createEmulator } from 'emulate'
import t from 'tap'
import { reuseService } from './service.js'
import { until } from './until.js'
import { createWebhook } from './webhooks.js'

t.test(
  'an emulated GitHub delivers pushes and closed issues on its own, and the dashboard shows them',
  async (t) => {
    const service = await reuseService(t)
    const emulator = await createEmulator({
      service: 'github',
      port: 0,
      seed: {
        tokens: { 'token-of-ada': { login: 'ada', scopes: ['repo', 'admin:repo_hook'] } },
        github: {
          users: [{ login: 'ada', email: 'ada@example.com' }],
          repos: [{ owner: 'ada', name: 'api' }],
        },
      },
    })
    t.teardown(() => emulator.close())
    const headers = { Authorization: 'Bearer token-of-ada', 'Content-Type': 'application/json' }
    const user = (await (await fetch(`${emulator.url}/user`, { headers })).json()) as { id: number }
    const ada = await service.signIn('ada', { id: user.id })
    const { id } = await service.workspace(ada, { patterns: ['ada/*'] })
    const { path, secret } = await createWebhook(service, ada, id)
    const webhook = `/api/team/workspaces/${id}/webhook`
    const ask = async (method: string, resource: string, body: object) => {
      const response = await fetch(`${emulator.url}/repos/ada/api${resource}`, {
        method,
        headers,
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`${method} ${resource}: ${await response.text()}`)
      // biome-ignore lint/suspicious/noExplicitAny: tests look at what came
      return (await response.json()) as any
    }
    await ask('POST', '/hooks', {
      config: { url: service.url + path, content_type: 'json', secret },
      events: ['push', 'issues'],
      active: true,
    })
    await ask('PUT', '/contents/a.txt', { message: 'Add a file', content: btoa('hello') })
    const { number } = await ask('POST', '/issues', { title: 'A bug' })
    await ask('PATCH', `/issues/${number}`, { state: 'closed' })

    const deliveries = async (): Promise<object[]> =>
      (await ada.get(webhook)).body.deliveries.map(({ at, ...delivery }: { at: string }) => delivery)
    await until(async () => (await deliveries()).length === 3, 'the deliveries have arrived')
    const nothingSkipped = {
      repo: 'ada/api',
      skipped: 0,
      skipped_because: { not_a_member: 0, unknown_author: 0, outside_patterns: 0, not_delivered: 0 },
      skipped_commits: [],
    }
    const sorted = (await deliveries()).map((delivery) => JSON.stringify(delivery)).sort()
    t.strictSame(
      sorted.map((delivery) => JSON.parse(delivery)),
      [
        // The new issue, and then the closed one.
        { event: 'issues', status: 200, counted: 0, ...nothingSkipped },
        { event: 'issues', status: 200, counted: 1, ...nothingSkipped },
        { event: 'push', status: 200, counted: 1, ...nothingSkipped },
      ],
    )
    const { totals } = (await ada.get(`/api/team/dashboard?workspace=${id}`)).body
    t.equal(totals.closed_issues, 1)
    t.equal(totals.commits, 1)
  },
)
