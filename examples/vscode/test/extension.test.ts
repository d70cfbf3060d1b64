/** Uses the extension in a faked editor, with a stand-in for the service. Add a test for everything that you change. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Manifest, startEditor } from './fake-vscode.js'

const packageJSON: Manifest = JSON.parse(await readFile('package.json', 'utf8'))
const { commands, configuration } = packageJSON.contributes
const prefix = (commands[0]?.command ?? '').replace(/[^.]*$/, '')
const shared = Object.entries(configuration.properties).filter(([, { scope }]) => scope !== 'machine')

test('every name has the prefix, and every shared setting can be set for one folder', () => {
  const names = [...Object.keys(configuration.properties), ...commands.map(({ command }) => command)]
  assert.deepEqual(
    names.filter((name) => !name.startsWith(prefix)),
    [],
  )
  for (const [name, { scope }] of shared) assert.equal(scope, 'resource', name)
})

test('it signs in, applies a setting of the team, and sends the minutes of a person', async (t) => {
  const [key = ''] = shared[0] ?? []
  const flushed: object[] = []
  const answers: Record<string, (body: object) => object> = {
    'POST /api/auth/verify': () => ({ token: 'a session token', login: 'ada' }),
    'GET /api/me': () => ({ login: 'ada', heartbeats: null }),
    'GET /api/me/recording': () => ({ paused: false, repos_off: [], hours: null }),
    'GET /api/team/effective-config': () => ({
      settings: { [key]: 'of the team' },
      locked: [],
      idle_window_minutes: 5,
    }),
    'POST /api/team/active-minutes': (body) => {
      flushed.push(body)
      return { notes: [] }
    },
  }
  const service = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const answer = answers[`${request.method} ${request.url?.replace(/\?.*/, '')}`]
    const body = Buffer.concat(chunks).toString()
    response.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(answer?.(body ? JSON.parse(body) : {}) ?? {}))
  })
  await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'extension-'))
  t.after(() => {
    service.close()
    return rm(folder, { recursive: true })
  })

  const editor = await startEditor({
    code: await readFile('dist/extension.cjs', 'utf8'),
    packageJSON,
    configuration: {
      [`${prefix}cloudUrl`]: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      [`${prefix}signInWith`]: 'token',
    },
    folder,
    folders: [{ address: join(folder, 'api'), remote: 'git@github.com:acme/api.git' }],
  })
  const window = await editor.open()
  assert.match(editor.seen.tooltip, /You are not signed in/)
  editor.person.types = 'a token of the repository host'
  assert.deepEqual(await editor.run(`${prefix}signIn`), [])
  assert.equal(editor.workspaceValues[key], 'of the team')
  editor.type()
  await editor.minutePasses()
  assert.equal(editor.seen.text, '$(record) 1 min')
  await window.deactivate()

  const next = await editor.open()
  while (flushed.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.match(JSON.stringify(flushed), /acme\/api/)
  await next.deactivate()
})
