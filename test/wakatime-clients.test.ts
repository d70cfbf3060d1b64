/**
 * WakaTime's own tools against the service: the requests that their sources send, and what they take from the responses. The guide
 * has the same table for people.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { startService } from './service.js'

const service = await startService(t)
const MINUTE_SECONDS = 60

const basic = (secret: string) => ({ Authorization: `Basic ${Buffer.from(secret).toString('base64')}` })
const today = () => new Date().toISOString().slice(0, 10)

interface Use {
  client: string
  address: string
  /** Sends the client's requests, and returns what it shows or stores. */
  use(secret: string): Promise<unknown>
  shows: unknown
}

const call = async (method: string, address: string, headers: Record<string, string>, body?: unknown) => {
  const url = `/api/wakatime/v1/${address}`
  const reply = await service.request(method, url, { headers, ...(body !== undefined && { body }) })
  return { status: reply.status, body: reply.body }
}

const NOW = Math.floor(Date.now() / 1_000)
/** Six minutes, with the first and the last. */
const heartbeats = [NOW - 5 * MINUTE_SECONDS, NOW].map((time) => ({
  entity: '/home/ada/web/main.go',
  type: 'file',
  // The command line sends no category for coding.
  category: null,
  time,
  project: 'acme/web',
  language: 'Go',
}))
/** The heartbeats that it adds for an assistant that has worked for three minutes before, and goes on. */
const ofAssistant = [NOW - 8 * MINUTE_SECONDS, NOW - 5 * MINUTE_SECONDS].map((time) => ({
  entity: 'Claude agent-worker',
  type: 'app',
  category: 'ai coding',
  time,
  project: 'acme/web',
  ai_session: 'canary-session',
  ai_model: 'canary-model',
  ai_input_tokens: 120,
  ai_output_tokens: 30,
  ai_line_changes: 7,
  human_line_changes: null,
}))

const uses: Use[] = [
  {
    client: '`wakatime-cli`',
    address: 'users/current/heartbeats.bulk',
    async use(secret) {
      const headers = { ...basic(secret), 'X-Machine-Name': 'laptop', Timezone: 'UTC' }
      const sent = [...heartbeats, ...ofAssistant]
      const { status, body } = await call('POST', 'users/current/heartbeats.bulk', headers, sent)
      return [status, body.responses.map(([, status]: [object, number]) => status)]
    },
    shows: [202, [201, 201, 201, 201]],
  },
  {
    client: '`wakatime-cli`',
    address: 'users/current/statusbar/today',
    async use(secret) {
      const headers = { ...basic(secret), Timezone: 'UTC' }
      const { status, body } = await call('GET', 'users/current/statusbar/today', headers)
      const { categories, grand_total } = body.data
      return [
        status,
        grand_total.text,
        categories.map(({ name, text }: Record<string, string>) => [name, text]),
      ]
    },
    shows: [
      200,
      '6 mins',
      [
        ['Coding', '6 mins'],
        ['AI Coding', '3 mins'],
      ],
    ],
  },
  {
    client: 'the web build of `vscode-wakatime`',
    address: 'users/current/heartbeats.bulk',
    async use(secret) {
      const url = `/api/wakatime/v1/users/current/heartbeats.bulk?api_key=${secret}`
      const asks = {
        Origin: 'https://vscode.dev',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-machine-name',
      }
      const preflight = await service.request('OPTIONS', url, { headers: asks })
      const headers = { 'Content-Type': 'application/json', 'X-Machine-Name': 'web', Origin: asks.Origin }
      const sent = heartbeats.map(({ project, ...rest }) => ({ ...rest, alternate_project: project }))
      // It encodes the body twice.
      const { status, body } = await service.request('POST', url, {
        headers,
        body: JSON.stringify(JSON.stringify(sent)),
      })
      return [preflight.status, status, body.responses.map(([, status]: [object, number]) => status)]
    },
    shows: [204, 202, [201, 201]],
  },
  {
    client: 'older builds of `vscode-wakatime` for the web',
    address: 'users/current/heartbeats',
    async use(secret) {
      const [, last] = heartbeats
      const headers = { 'Content-Type': 'application/json', Origin: 'https://vscode.dev' }
      const { status, body } = await call('POST', `users/current/heartbeats?api_key=${secret}`, headers, last)
      return [status, typeof body.data.id]
    },
    shows: [201, 'string'],
  },
  {
    client: "WakaTime's browser extension",
    address: 'users/current/heartbeats.bulk',
    async use(secret) {
      // The time is text, and the project is that of the editor.
      const visits = heartbeats.map(({ time }) => ({
        entity: 'https://example.com/docs',
        type: 'url',
        project: '<<LAST_PROJECT>>',
        branch: '<<LAST_BRANCH>>',
        time: `${time}.123`,
      }))
      const { status, body } = await call(
        'POST',
        `users/current/heartbeats.bulk?api_key=${secret}`,
        {},
        visits,
      )
      return [status, body.responses.map(([, status]: [object, number]) => status)]
    },
    shows: [202, [201, 201]],
  },
  {
    client: "WakaTime's browser extension",
    address: 'users/current',
    async use(secret) {
      const { status, body } = await call('GET', `users/current?api_key=${secret}`, {})
      return [status, body.data.username]
    },
    shows: [200, 'reader'],
  },
  {
    client: "WakaTime's browser extension",
    address: 'users/current/summaries',
    async use(secret) {
      const query = `api_key=${secret}&end=${today()}&start=${today()}`
      const { status, body } = await call('GET', `users/current/summaries?${query}`, {})
      return [status, body.data[0].grand_total.text]
    },
    shows: [200, '6 mins'],
  },
  {
    client: '`waka-readme`',
    address: 'users/current/stats/last_7_days',
    async use(secret) {
      const { status, body } = await call('GET', 'users/current/stats/last_7_days', basic(secret))
      const { human_readable_total, languages, start, end } = body.data
      return [status, human_readable_total, languages, start < end]
    },
    shows: [200, '6 mins', [], true],
  },
  {
    client: 'plugins for goals',
    address: 'users/current/goals',
    use: async (secret) => (await call('GET', 'users/current/goals', basic(secret))).status,
    shows: 404,
  },
]

const isNewDay = new Date().toISOString().slice(11, 15) === '00:0'
t.test(
  'WakaTime clients can send heartbeats and read back what they display',
  { skip: isNewDay && 'too early in the day' },
  async (t) => {
    const ada = await service.signIn('reader')
    await service.workspace(ada, { patterns: ['acme/*'] })
    const scopes = ['activity:read', 'activity:write']
    const { secret } = (await ada.post('/api/me/keys', { name: 'tools', scopes })).body
    const guide = await readFile(join(projectRoot, 'docs/guides/07-editors.md'), 'utf8')
    for (const { client, address, use, shows } of uses) {
      t.strictSame(await use(secret), shows, `${client}: ${address}`)
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${address}`) && line.includes(client))
      t.ok(row, `the guide has a row for ${address} and ${client}`)
    }
    t.notMatch((await ada.get('/api/me/export')).text, /canary/, 'nothing else of an assistant is stored')
  },
)
