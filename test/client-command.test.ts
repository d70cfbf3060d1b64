/** The command `team-settings` of the client, against a real service. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createClient } from '../client/src/client.js'
import { run as runCommand, type Surroundings } from '../client/src/command.js'
import { pullSettings, pushSettings } from '../client/src/settings.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { freePort, temporaryFolder } from './process.js'
import { isInstalled, makeCertificate } from './proxy-examples.js'
import { startService } from './service.js'

const program = join(projectRoot, 'client/dist/bin.js')

interface Ended {
  code: number
  out: string
  err: string
}
type Env = Record<string, string>

const run = async (args: string[], env: Env, others: Partial<Surroundings> = {}): Promise<Ended> => {
  const ended = { out: '', err: '' }
  const code = await runCommand(args, {
    env,
    version: serviceVersion,
    isTerminal: false,
    usesProxy: false,
    write: (text) => {
      ended.out += text
    },
    fail: (text) => {
      ended.err += text
    },
    wait: async () => {},
    ...others,
  })
  return { code, ...ended }
}

const shared = await temporaryFolder(t)
const SETTINGS_SCHEMA = join(shared, 'schema.json')
const anything = ['a', 'b', 'c', 'old', 'size', 'theme'].map((name) => [`ext.${name}`, {}])
const properties = { ...Object.fromEntries(anything), 'ext.fontSize': { type: 'number' } }
await writeFile(SETTINGS_SCHEMA, JSON.stringify({ contributes: { configuration: { properties } } }))
const service = await startService(t, {
  env: { RATE_LIMITS: 'off', EXTENSION_PREFIX: 'ext,editor', SETTINGS_SCHEMA },
})
const ada = await service.signIn('ada')

const start = async (t: Test) => {
  const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
  const at = `/api/team/workspaces/${id}`
  const makeKey = async (...scopes: string[]): Promise<{ id: string; secret: string }> =>
    (await ada.post(`${at}/keys`, { name: `ci ${scopes.length}`, scopes })).body
  const keyWith = async (...scopes: string[]) => (await makeKey(...scopes)).secret
  const path = join(await temporaryFolder(t), 'team-settings.json')
  const env: Env = {
    TEAM_SETTINGS_URL: service.url,
    TEAM_SETTINGS_WORKSPACE: id,
    TEAM_SETTINGS_KEY: await keyWith('settings:read', 'settings:write'),
  }
  const write = (content: string | Uint8Array) => writeFile(path, content)
  const runHere = (args: string[], others: Env = {}, around: Partial<Surroundings> = {}) =>
    run(args, { ...env, ...others }, around)
  return { at, makeKey, keyWith, path, env, run: runHere, write }
}

/** @returns its port */
const listen = async (t: Test, server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

t.test('a workspace’s settings can be pulled, compared, changed and checked', async (t) => {
  const { at, keyWith, path, run, write } = await start(t)
  await ada.put(`${at}/configuration`, {
    settings: { 'ext.old': 1, 'ext.theme': 'light' },
    projects: { 'acme/web': { settings: { 'ext.a': 1 } }, 'acme/gone': { settings: {} } },
  })
  const pulled = await run(['pull'])
  t.equal(pulled.err, '')
  t.equal(
    pulled.out,
    `{
  "idle_window_minutes": 5,
  "locked": [],
  "merged": [],
  "patterns": [
    "acme/*"
  ],
  "projects": {
    "acme/gone": {
      "settings": {}
    },
    "acme/web": {
      "settings": {
        "ext.a": 1
      }
    }
  },
  "settings": {
    "ext.old": 1,
    "ext.theme": "light"
  }
}
`,
  )
  await write(pulled.out)
  t.strictSame(await run(['diff', path]), { code: 0, out: 'Nothing to change.\n', err: '' })
  t.strictSame(await run(['pull', '--check', path]), { code: 0, out: `${path} is up to date.\n`, err: '' })

  await write(`// The team's settings
{
  "$schema": "https://example.com/schema.json",
  "settings": { "ext.theme": "dark", /* all */ "ext.size": 14, },
  "locked": ["ext.theme"],
  "projects": { "Acme/Web": { "settings": { "ext.a": null } } }
}`)
  const changes = `workspace: ext.size
  + 14
workspace: ext.theme
  - "light"
  + "dark"
workspace: locked
  - []
  + ["ext.theme"]
acme/web: ext.a
  - 1
  + null
This affects 2 repositories and 1 person.
`
  const extras = `Only on the server (\`--prune\` removes it):
  settings: ext.old
  projects: acme/gone
`
  const reading = { TEAM_SETTINGS_KEY: await keyWith('settings:read') }
  t.strictSame(await run(['diff', path], reading), { code: 2, out: changes + extras, err: '' })
  t.strictSame(await run(['apply', path, '--dry-run'], reading), { code: 2, out: changes + extras, err: '' })
  t.strictSame(await run(['pull', '--check', path], reading), {
    code: 2,
    out: `${path} is not up to date:
  workspace: ext.old
  workspace: ext.size
  workspace: ext.theme
  workspace: locked
  acme/gone: settings
  acme/web: ext.a
`,
    err: '',
  })
  for (const args of [
    ['pull', '--dry-run'],
    ['import', path, '--dry-run'],
  ])
    t.strictSame(await run(args, reading), { code: 1, out: '', err: '--dry-run belongs to apply.\n' })
  const refused = await run(['apply', path], reading)
  t.equal(refused.code, 1)
  t.equal(refused.err, 'This key lacks the scope settings:write. (scope_missing)\n')

  const applied = await run(['apply', path, '--reason', 'Dark at last'])
  t.strictSame(applied, { code: 0, out: changes + extras, err: '' })
  t.same((await ada.get(`${at}/configuration`)).body, {
    settings: { 'ext.old': 1, 'ext.theme': 'dark', 'ext.size': 14 },
    locked: ['ext.theme'],
    merged: [],
    idle_window_minutes: 5,
    patterns: ['acme/*'],
    projects: { 'acme/web': { settings: { 'ext.a': null } }, 'acme/gone': { settings: {} } },
  })
  t.equal((await ada.get(`${at}/settings/versions`)).body.versions[0].reason, 'Dark at last')
  t.strictSame(await run(['diff', path]), { code: 0, out: `Nothing to change.\n${extras}`, err: '' })
  t.equal((await run(['pull', '--check', path])).code, 2, 'what is only on the server is a difference')

  t.equal((await run(['apply', path, '--prune'])).code, 0)
  t.same((await ada.get(`${at}/configuration`)).body.projects, {
    'acme/web': { settings: { 'ext.a': null } },
  })
  t.strictSame(await run(['diff', path, '--prune']), { code: 0, out: 'Nothing to change.\n', err: '' })
  t.equal((await run(['pull', '--check', path])).code, 0)
})

/** A proxy in front of the service that edits its `ETag`. @returns its address */
const startEtagProxy = async (t: Test, edit: (etag: string) => string | undefined) => {
  const port = await listen(
    t,
    createServer(async (request, response) => {
      const body = await buffer(request)
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
      const answer = await fetch(service.url + request.url, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body.length > 0 && { body }),
      })
      const { etag, 'content-type': type } = Object.fromEntries(answer.headers)
      const edited = etag === undefined ? undefined : edit(etag)
      response.writeHead(answer.status, {
        ...(type !== undefined && { 'content-type': type }),
        ...(edited !== undefined && { etag: edited }),
      })
      response.end(Buffer.from(await answer.arrayBuffer()))
    }),
  )
  return `http://127.0.0.1:${port}`
}

t.test(
  'behind a proxy that removes or weakens ETag, nothing is changed, and the message says why',
  async (t) => {
    const { at, path, run, write } = await start(t)
    await ada.put(`${at}/configuration`, { settings: { 'ext.old': 1 } })
    await write('{ "settings": { "ext.a": 1 } }')
    for (const edit of [() => undefined, (etag: string) => `W/${etag}`]) {
      const around = { TEAM_SETTINGS_URL: await startEtagProxy(t, edit) }
      for (const args of [
        ['apply', path],
        ['apply', path, '--prune'],
        ['diff', path],
        ['pull', '--check', path],
      ]) {
        const { code, out, err } = await run(args, around)
        t.strictSame([code, out], [1, ''], args.join(' '))
        t.equal(
          err,
          'Responses arrive without a strong ETag header, so changes by others couldn’t be noticed. Nothing was changed. A proxy in front of the service removes or weakens the header: let it pass as it is. (no_strong_etag)\n',
        )
      }
      t.equal((await run(['pull'], around)).code, 0, 'reading needs no ETag')
      const client = createClient({ baseUrl: around.TEAM_SETTINGS_URL, token: ada.token })
      const push = { repo: 'acme/etag', repohostToken: ada.repohostToken }
      const first = await pushSettings(client, { ...push, settings: { 'ext.a': 1 }, base: undefined })
      if (first.conflict) t.ok(first.theirs, 'someone has pushed before')
      const base = await pullSettings(client, 'acme/etag')
      await t.rejects(pushSettings(client, { ...push, settings: { 'ext.a': 2 }, base }), {
        code: 'no_strong_etag',
      })
      t.same((await pullSettings(client, 'acme/etag'))?.settings, { 'ext.a': 1 })
    }
    t.same((await ada.get(`${at}/configuration`)).body.settings, { 'ext.old': 1 })
    const whole = { TEAM_SETTINGS_URL: await startEtagProxy(t, (etag) => etag) }
    t.equal((await run(['apply', path], whole)).code, 0, 'with the ETag as it is, the same proxy is fine')
  },
)

t.test('a workspace is found by its name, or as the only one that the key reaches', async (t) => {
  const { run, env } = await start(t)
  const id = `${env.TEAM_SETTINGS_WORKSPACE}`
  const pulled = await run(['pull'])
  for (const name of ['acme', ''])
    t.strictSame(await run(['pull'], { TEAM_SETTINGS_WORKSPACE: name }), pulled)
  const other = await run(['pull'], { TEAM_SETTINGS_WORKSPACE: 'other' })
  t.equal(other.err, `This key reaches no workspace with the name other. It reaches:\n  ${id} Acme\n`)
  const personal = await ada.post('/api/me/keys', { name: 'laptop', scopes: ['settings:read'] })
  const all = { TEAM_SETTINGS_KEY: personal.body.secret }
  const several = await run(['pull', '--workspace', 'Acme'], all)
  t.match(several.err, /^Several workspaces have the name Acme\. Give the id of one\. It reaches:\n/)
  t.ok(several.err.includes(`\n  ${id} Acme`))
  const unnamed = await run(['pull'], { ...all, TEAM_SETTINGS_WORKSPACE: '' })
  t.match(unnamed.err, /^Name a workspace in TEAM_SETTINGS_WORKSPACE, or with --workspace\. It reaches:\n/)
  const { body } = await ada.get('/api/team/workspaces')
  t.ok(body.workspaces.length > 1)
})

t.test('the order of names in a value counts, that of settings and in blocks does not', async (t) => {
  const { at, path, run, write } = await start(t)
  const actions = { 'source.organizeImports': true, 'source.fixAll': true }
  const reversed = { 'source.fixAll': true, 'source.organizeImports': true }
  const block = { 'editor.wordWrap': 'on', 'editor.tabSize': 2 }
  const settings = {
    'ext.theme': 1,
    'editor.codeActionsOnSave': actions,
    '[json]': block,
    'editor.tabSize': 4,
  }
  await ada.put(`${at}/configuration`, { settings, projects: { 'acme/web': { settings } } })
  const pulled = await run(['pull'])
  const text = JSON.stringify(JSON.parse(pulled.out).settings)
  t.equal(
    text,
    '{"[json]":{"editor.tabSize":2,"editor.wordWrap":"on"},"editor.codeActionsOnSave":{"source.organizeImports":true,"source.fixAll":true},"editor.tabSize":4,"ext.theme":1}',
  )
  t.equal(JSON.stringify(JSON.parse(pulled.out).projects['acme/web'].settings), text)
  await write(pulled.out)
  t.strictSame(await run(['diff', path]), { code: 0, out: 'Nothing to change.\n', err: '' })
  const { version } = (await ada.get(`${at}/settings`)).body
  await ada.patch(`${at}/settings`, {
    settings: { '[json]': { 'editor.tabSize': 2, 'editor.wordWrap': 'on' } },
  })
  await ada.put(`${at}/project-settings/acme/web`, {
    settings: Object.fromEntries(Object.entries(settings).reverse()),
  })
  t.equal((await ada.get(`${at}/settings`)).body.version, version, 'a block in another order is no change')
  t.equal((await ada.get(`${at}/project-settings/acme/web`)).body.version, 1)
  await write(JSON.stringify({ settings: { 'editor.codeActionsOnSave': reversed } }))
  const compared = await run(['diff', path])
  t.equal(compared.code, 2)
  t.match(
    compared.out,
    /^workspace: editor\.codeActionsOnSave\n {2}- .*organizeImports.*fixAll.*\n {2}\+ .*fixAll.*organize/,
  )
  t.equal((await run(['apply', path])).code, 0)
  const stored = (await ada.get(`${at}/configuration`)).body.settings['editor.codeActionsOnSave']
  t.equal(JSON.stringify(stored), JSON.stringify(reversed))
  t.strictSame((await run(['diff', path])).code, 0)

  const push = (content: Record<string, unknown>) => ada.push('acme/order', content)
  t.equal((await push(settings)).body.changed, true)
  t.equal((await push(Object.fromEntries(Object.entries(settings).reverse()))).body.changed, false)
  t.equal((await push({ ...settings, 'editor.codeActionsOnSave': reversed })).body.changed, true)
})

t.test('differences are printed as JSON, or as a comment', async (t) => {
  const { path, run, write } = await start(t)
  await write('{ "settings": { "ext.a": "x|`y`\\n<b>" } }')
  const { out } = await run(['diff', path, '--format', 'json'])
  const { etag, ...rest } = JSON.parse(out)
  t.match(etag, /^"/)
  t.strictSame(rest, {
    changes: [{ scope: 'workspace', key: 'ext.a', before: null, after: 'x|`y`\n<b>' }],
    warnings: [],
    affected: { repositories: 0, people: 1 },
    only_on_server: [],
    silenced_overrides: [],
  })
  const comment = await run(['diff', path, '--format', 'markdown'])
  t.equal(
    comment.out,
    `**Team settings:** 1 change for 0 repositories and 1 person.

| where | key | before | after |
|---|---|---|---|
| \`workspace\` | \`ext.a\` |  | \`\` "x\\|\`y\`\\n<b>" \`\` |
`,
  )
})

t.test('errors in an unusable file include the line, and nothing is sent', async (t) => {
  const { at, path, run, write } = await start(t)
  const before = (await ada.get(`${at}/configuration`)).text
  const broken: [content: string | Buffer, message: string][] = [
    ['{\n  "settings": {\n    "ext.a": 1\n    "ext.b": 2\n  }\n}', '4:5: `,` or `}` is missing'],
    ['{\n "settings": {"ext.a": 1,\n "ext.a": 2}}', '3:2: `ext.a` appears twice'],
    ['{\n\n "setings": {}}', '3:2: `setings` isn’t a section'],
    ['{"settings": {\n', '2:1: the file ends too early'],
    ['{"locked": "ext.a"}', '1:2: `locked` must be a list of keys'],
    [
      '{\n"activity_privacy": "team"}',
      '2:1: the privacy level isn’t part of the file: change it on the page',
    ],
    ['{"projects": {\n"acme/web": {}}}', '2:1: `acme/web` must be an object with `settings`'],
    [
      '{"projects": {"acme/web": {"settings": {}},\n"Acme/Web": {"settings": {}}}}',
      '2:1: `Acme/Web` appears twice',
    ],
    ['[1]', '1:1: the file must be an object'],
    ['{"settings": {"ext.a": 01}}', '1:24: unexpected `0`'],
    ['{"settings": {"ext.a": "one\ntwo"}}', '1:24: unexpected `"`'],
    ['{} x', '1:4: unexpected `x` after the end'],
    ['['.repeat(200), '1:102: the values are nested too deeply'],
    ['{"settings": {"ext.a": -0}}', '1:24: `-0` would become `0`'],
    ['{"settings": {"ext.a": [1e-999]}}', '1:25: `1e-999` would become `0`'],
    ['{"settings": {"ext.a": 0.10000000000000000001}}', '1:24: `0.10000000000000000001` would become `0.1`'],
    [Buffer.from('{"settings": {"ext.a": "ä"}}', 'latin1'), '1:1: the file is neither UTF-8 nor UTF-16'],
  ]
  for (const [content, message] of broken) {
    await write(content)
    t.strictSame(await run(['apply', path]), { code: 1, out: '', err: `${path}:${message}\n` })
  }
  await write('{\n  "settings": {\n    "other.a": 1\n  }\n}')
  const rejected = await run(['diff', path])
  t.equal(rejected.code, 1)
  t.ok(rejected.err.startsWith(`${path}:3:5: \`other.a\` must start with \`ext.\``), rejected.err)
  t.equal((await ada.get(`${at}/configuration`)).text, before)
})

t.test('numbers can be written in any notation, and files in any Unicode encoding', async (t) => {
  const { at, path, run, write } = await start(t)
  const text = '{"settings": {"ext.a": [1.50, 1e2, 10E-1, 100000000000000000000, 0.0, "ä"]}}'
  const wide = Buffer.from(`\uFEFF${text}`, 'utf16le')
  for (const content of [text, `\uFEFF${text}`, wide, Buffer.from(wide).swap16()]) {
    await write(content)
    const { code, err } = await run(['apply', path])
    t.strictSame([code, err], [0, ''])
    t.same((await ada.get(`${at}/settings`)).body.settings, { 'ext.a': [1.5, 100, 1, 1e20, 0, 'ä'] })
  }
  await write(`// ${'x'.repeat(2 ** 20)}\n${'/**/ '.repeat(2 ** 18)}{}`)
  t.strictSame(await run(['diff', path]), { code: 0, out: 'Nothing to change.\n', err: '' })
})

t.test('a new lock lists the overrides that lose their effect', async (t) => {
  const { at, path, run, write } = await start(t)
  await ada.put(`${at}/configuration`, {
    settings: { 'ext.a': 1, 'ext.old': 1 },
    locked: ['ext.old'],
    projects: { 'acme/api': { settings: { 'ext.a': 2 } }, 'acme/web': { settings: { 'ext.b': 3 } } },
  })
  await write('{ "locked": ["ext.a", "ext.old"] }')
  const { code, out } = await run(['diff', path])
  t.equal(code, 2)
  t.ok(
    out.endsWith('Overrides that lose their effect, because their key is locked:\n  acme/api: ext.a\n'),
    out,
  )
  const markdown = await run(['diff', path, '--format', 'markdown'])
  t.ok(markdown.out.endsWith('because their key is locked:\n\n- `acme/api: ext.a`\n'), markdown.out)
  const json = await run(['diff', path, '--format', 'json'])
  t.same(JSON.parse(json.out).silenced_overrides, [{ repo: 'acme/api', key: 'ext.a' }])

  await write('{ "locked": ["ext.a", "ext.old"], "projects": { "acme/web": { "settings": {} } } }')
  t.notMatch((await run(['diff', path, '--prune'])).out, /lose their effect/, 'an override that goes is none')
})

t.test('a lock also disables the key in language blocks', async (t) => {
  const { at, path, run, write } = await start(t)
  const settings = { '[typescript]': { 'editor.tabSize': 2 } }
  await ada.put(`${at}/configuration`, {
    settings: { 'editor.tabSize': 4, ...settings },
    projects: { 'acme/api': { settings } },
  })
  await write('{ "locked": ["editor.tabSize"] }')
  const { out } = await run(['diff', path])
  t.ok(out.endsWith('because their key is locked:\n  acme/api: editor.tabSize\n'), out)
})

t.test('a locked block also disables other blocks for its languages', async (t) => {
  const { at, path, run, write } = await start(t)
  await ada.put(`${at}/configuration`, {
    settings: { '[javascript][typescript]': { 'editor.tabSize': 4 } },
    projects: { 'acme/api': { settings: { '[typescript]': { 'editor.tabSize': 2 } } } },
  })
  await write('{ "locked": ["[javascript][typescript]"] }')
  const { out } = await run(['diff', path])
  t.ok(out.endsWith('because their key is locked:\n  acme/api: [javascript][typescript]\n'), out)
})

t.test('every key error is reported with its position', async (t) => {
  const { path, run, write } = await start(t)
  await write(`{
  "settings": {
    "wrong": 1,
    "[typescript]": {
      "tabSize": 2,
      "editor.tabSize": 2
    },
    "ext.<b>": 1
  }
}`)
  t.strictSame(await run(['apply', path]), {
    code: 1,
    out: '',
    err: `${path}:3:5: \`wrong\` must start with \`ext.\` or \`editor.\` (validation_failed)
${path}:5:7: \`[typescript]/tabSize\` must start with \`ext.\` or \`editor.\` (validation_failed)
${path}:8:5: \`ext.<b>\` must not contain any of \`( ) < > [ ]\` or a backtick (validation_failed)
`,
  })
})

t.test(
  'blocks are pulled, compared and applied, and pull marks values that don’t match the schema',
  async (t) => {
    const { path, run, write } = await start(t)
    await write(`{
  // Settings that teams share first.
  "settings": { "[typescript]": { "ext.fontSize": "big", "ext.a": 1, }, },
  "projects": { "acme/api": { "settings": { "[typescript]": { "ext.fontSize": null, "ext.size": 2 } } } }
}`)
    const { code, out } = await run(['apply', path])
    t.strictSame(
      [code, out],
      [
        0,
        `workspace: [typescript]
  + {"ext.fontSize":"big","ext.a":1}
acme/api: [typescript]
  + {"ext.fontSize":null,"ext.size":2}
This affects 1 repository and 1 person.
Warning: settings/[typescript]/ext.fontSize must be a number
`,
      ],
    )
    const pulled = await run(['pull'])
    t.equal(pulled.err, 'Warning: settings/[typescript]/ext.fontSize must be a number\n')
    await write(pulled.out)
    t.strictSame(await run(['pull', '--check', path]), { code: 0, out: `${path} is up to date.\n`, err: '' })
  },
)

t.test('with --strict, settings that the schema warns about aren’t applied', async (t) => {
  const { at, path, run, write } = await start(t)
  await write('{ "settings": { "ext.fontSize": "large" } }')
  const said = await run(['diff', path])
  t.equal(said.code, 2)
  t.match(said.out, /^Warning: settings\/ext\.fontSize /m)
  t.strictSame(await run(['diff', path, '--strict']), {
    ...said,
    code: 3,
    err: 'Values don’t match the settings schema.\n',
  })
  t.strictSame(await run(['apply', path, '--strict']), {
    ...said,
    code: 3,
    err: 'Values don’t match the settings schema. Nothing was applied.\n',
  })
  t.same((await ada.get(`${at}/settings`)).body.settings, {})
  t.strictSame(await run(['apply', path]), { ...said, code: 0 })
  await write('{ "settings": { "ext.fontSize": 14 } }')
  t.equal((await run(['apply', path, '--strict'])).code, 0)
  t.same((await ada.get(`${at}/settings`)).body.settings, { 'ext.fontSize': 14 })
  await write('{ "settings": { "ext.fontSize": 14, "ext.theme": "github_pat_0123456789" } }')
  const advised = await run(['apply', path, '--strict'])
  t.equal(advised.code, 0, 'a setting that matches the schema is applied')
  t.match(advised.out, /^Warning: settings\/ext\.theme looks like a password or a token/m)
})

t.test('every mistake is explained in the first line', async (t) => {
  const { path, run, makeKey, at } = await start(t)
  const stub = async (respond: RequestListener) =>
    `http://127.0.0.1:${await listen(t, createServer(respond))}`
  const moved = await stub((request, response) => {
    response.writeHead(301, { location: `${service.url}${request.url}` }).end()
  })
  const guarded = await stub((_, response) => {
    response.writeHead(302, { location: 'https://login.example.com/start?then=secret' }).end()
  })
  const page = await stub((_, response) => void response.end('<h1>Blocked</h1>'))
  const silent = await stub(() => {})
  const port = await freePort()
  const unreachable = { TEAM_SETTINGS_URL: `http://127.0.0.1:${port}` }
  const refused = `The service couldn’t be reached: connect ECONNREFUSED 127.0.0.1:${port}.`
  const revoked = await makeKey('settings:read')
  await ada.delete(`${at}/keys/${revoked.id}`)
  const reading = await makeKey('settings:read')
  const setting = (value: string) => `{"settings": {"ext.a": ${value}}}`

  interface Mistake {
    args?: string[]
    file?: string
    env?: Env
    around?: Partial<Surroundings>
  }
  const invalid =
    'This session token or access key isn’t valid. Sign in again, or check that you copied all of the key. (token_invalid)'
  type Case = [what: string, mistake: Mistake, line: string]
  const mistakes: Case[] = [
    ['no address', { env: { TEAM_SETTINGS_URL: '' } }, 'Set TEAM_SETTINGS_URL, or give --url.'],
    [
      'an address with /api',
      { env: { TEAM_SETTINGS_URL: `${service.url}/api` } },
      'Give the address of the service without /api.',
    ],
    ...[
      'team.example.com',
      'http://team.example.com',
      'http://localhost.example.com',
      'http://127.0.0.1@example.com',
    ].map(
      (TEAM_SETTINGS_URL): Case => [
        `the address ${TEAM_SETTINGS_URL}`,
        { env: { TEAM_SETTINGS_URL } },
        'The address of the service must start with https://.',
      ],
    ),
    ['no key', { env: { TEAM_SETTINGS_KEY: '' } }, 'Set TEAM_SETTINGS_KEY, or give --key.'],
    [
      'a key with an ellipsis',
      { env: { TEAM_SETTINGS_KEY: 'svc_…' } },
      'The key has characters that no key has. Copy it again.',
    ],
    ['a wrong key', { env: { TEAM_SETTINGS_KEY: 'svc_00000000-0000-4000-8000-000000000000' } }, invalid],
    [
      'a revoked key',
      { env: { TEAM_SETTINGS_KEY: revoked.secret } },
      'This session was signed out, or this access key was revoked. Sign in again, or create a new key. (token_revoked)',
    ],
    [
      'a key that only reads, for apply',
      { args: ['apply', path], env: { TEAM_SETTINGS_KEY: reading.secret } },
      'This key lacks the scope settings:write. (scope_missing)',
    ],
    [
      'the name of a workspace that the key doesn’t reach',
      { env: { TEAM_SETTINGS_WORKSPACE: 'other' } },
      'This key reaches no workspace with the name other. It reaches:',
    ],
    [
      'the id of another workspace',
      { env: { TEAM_SETTINGS_WORKSPACE: '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e' } },
      'This workspace doesn’t exist, or you aren’t a member of it. Check the id, or ask an admin for an invite. (workspace_not_found)',
    ],
    ['no file', { args: ['diff'] }, 'Name a file: team-settings diff FILE'],
    ['a missing file', { args: ['diff', `${path}x`] }, `${path}x can’t be read (ENOENT).`],
    ['an unknown command', { args: ['sync', path] }, 'There is no command sync. See team-settings help.'],
    [
      'an unknown option',
      { args: ['diff', path, '--pune'] },
      "Unknown option '--pune'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- \"--pune\"",
    ],
    [
      'an unknown format',
      { args: ['diff', path, '--format', 'yaml'] },
      'The format is text, json or markdown.',
    ],
    [
      'a key of no extension',
      { file: '{"settings":\n {"other.a": 1}}' },
      `${path}:2:3: \`other.a\` must start with \`ext.\` or \`editor.\` (validation_failed)`,
    ],
    [
      'a denied key',
      { file: '{"settings": {"editor.path": "x"}}' },
      `${path}:1:15: \`editor.path\` is denied on this server (\`SETTINGS_DENIED\`) (validation_failed)`,
    ],
    [
      'a value of the wrong type',
      { file: '{"idle_window_minutes": "5"}' },
      `${path}:1:2: \`idle_window_minutes\` must be a whole number`,
    ],
    [
      'a number out of range',
      { file: '{"idle_window_minutes": 99}' },
      `${path}:1:2: \`idle_window_minutes\` must be <= 15 (validation_failed)`,
    ],
    ['an infinite number', { file: setting('1e999') }, `${path}:1:24: \`1e999\` would become \`Infinity\``],
    [
      'a number with too many digits',
      { file: setting('12345678901234567890') },
      `${path}:1:24: \`12345678901234567890\` would become \`12345678901234567000\``,
    ],
    [
      'a value of a megabyte',
      { file: setting(JSON.stringify('x'.repeat(2 ** 20))) },
      'The settings exceed the size limit. Shorten or remove some. At most 262144 bytes are allowed. (settings_too_large)',
    ],
    [
      'a file above all limits',
      { file: `{"projects": {"acme/web": ${setting(JSON.stringify('x'.repeat(25 * 2 ** 20)))}}}` },
      'The body is larger than the 25165824 bytes that this route accepts. Send less in one request. (payload_too_large)',
    ],
    [
      'an address that moved',
      { env: { TEAM_SETTINGS_URL: moved } },
      `${moved} redirects to ${service.url}. Set the address to that. (unexpected_answer)`,
    ],
    [
      'a sign-in in front of the service',
      { env: { TEAM_SETTINGS_URL: guarded } },
      `${guarded} redirects to https://login.example.com/start, which isn’t the service. Check the address. (unexpected_answer)`,
    ],
    [
      'another website',
      { env: { TEAM_SETTINGS_URL: page } },
      'This response isn’t from the service. Check the address, and any proxy in front of it. (unexpected_answer)',
    ],
    ['no network', { env: unreachable }, refused],
    [
      'a proxy that Node ignores',
      { env: { ...unreachable, HTTPS_PROXY: 'http://proxy.example.com' } },
      `${refused} HTTPS_PROXY works only with NODE_USE_ENV_PROXY=1, and Node 22.21 or 24.`,
    ],
    [
      'a proxy that Node uses',
      { env: { ...unreachable, HTTPS_PROXY: 'http://proxy.example.com' }, around: { usesProxy: true } },
      refused,
    ],
    [
      'a silent service',
      { env: { TEAM_SETTINGS_URL: silent }, around: { timeoutMs: 50 } },
      'The service didn’t respond within 0.05 s.',
    ],
  ]
  mistakes.push([
    'https:// to a port for plain HTTP',
    { env: { TEAM_SETTINGS_URL: page.replace('http:', 'https:') } },
    'The service couldn’t be reached. This port answers in plain HTTP, not HTTPS. Check the port of the service’s address.',
  ])
  if (await isInstalled('openssl', 'version')) {
    const { certificate, key } = await makeCertificate(shared)
    const files = { cert: await readFile(certificate), key: await readFile(key) }
    const url = `https://127.0.0.1:${await listen(t, createTlsServer(files))}`
    mistakes.push([
      'a certificate of one’s own',
      { env: { TEAM_SETTINGS_URL: url } },
      'The service couldn’t be reached: self-signed certificate. Name a file with its certificate in NODE_EXTRA_CA_CERTS.',
    ])
  }
  const before = (await ada.get(`${at}/configuration`)).text
  for (const [what, { args = ['diff', path], file = '{}', env, around }, line] of mistakes) {
    await writeFile(path, file)
    const ended = await run(args, env, around)
    t.strictSame([ended.code, ended.out, ended.err.split('\n')[0]], [1, '', line], what)
  }
  t.equal((await ada.get(`${at}/configuration`)).text, before)
})

t.test('the program prints its help and version, and reports a Node version that’s too old', async (t) => {
  const spawn = async (...args: string[]) => (await promisify(execFile)(process.execPath, args)).stdout
  t.equal(await spawn(program, '--version'), `${serviceVersion}\n`)
  const help = await run(['--help'], {})
  t.equal(await spawn(program, 'help'), help.out)
  t.equal(help.code, 0)
  for (const word of 'pull diff apply --prune --strict TEAM_SETTINGS_URL Exit Example'.split(' '))
    t.ok(help.out.includes(word), word)
  t.equal((await run([], {})).code, 1)
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.8"}})'
  const refusal = await spawn('--import', old, program, '--version').catch((error) => error)
  t.hasStrict(refusal, {
    code: 1,
    stdout: '',
    stderr: 'team-settings needs Node 20 or newer. This is Node 18.20.8.\n',
  })
})

t.test('a concurrent change isn’t overwritten', async (t) => {
  const { at, path, run, write } = await start(t)
  await write('{ "settings": { "ext.a": 1 } }')
  let applied = 0
  const runs = await Promise.all(Array.from({ length: 8 }, () => run(['apply', path, '--prune'])))
  for (const { code, err } of runs) {
    if (code === 0) applied++
    else t.equal(err, 'Someone changed the configuration meanwhile. Nothing was applied. Run it again.\n')
  }
  t.ok(applied >= 1)
  t.same((await ada.get(`${at}/settings/versions`)).body.versions.length, 2, 'it was changed once')
})

t.test('apply does what diff shows, and pull returns what was applied', async (t) => {
  const { path, run, write } = await start(t)
  const settings = fc.dictionary(
    fc.constantFrom('ext.a', 'ext.b', 'ext.c'),
    fc.constantFrom<unknown>(1, 'x', [1, { b: 1, a: 2 }], { z: 1, y: [null] }),
  )
  const configuration = fc.record(
    {
      settings,
      idle_window_minutes: fc.integer({ min: 1, max: 15 }),
      patterns: fc.subarray(['other/*', 'third/*']).map((some) => ['acme/*', ...some]),
      projects: fc.dictionary(fc.constantFrom('acme/web', 'acme/api'), fc.record({ settings })),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(configuration, fc.boolean(), async (wanted, prunes) => {
      await write(JSON.stringify(wanted))
      const prune = prunes ? ['--prune'] : []
      const said = await run(['diff', path, ...prune])
      const done = await run(['apply', path, ...prune])
      t.strictSame([done.code, done.out], [0, said.out], said.err + done.err)
      const { code, out } = await run(['diff', path, ...prune])
      t.strictSame([code, out.split('\n')[0]], [0, 'Nothing to change.'])
      const { out: pulled } = await run(['pull'])
      await write(pulled)
      t.equal((await run(['apply', path, '--prune'])).out, 'Nothing to change.\n')
      t.equal((await run(['pull'])).out, pulled)
      if (prunes) t.hasStrict(JSON.parse(pulled), JSON.parse(JSON.stringify(wanted)))
    }),
    { numRuns: 3 },
  )
  t.equal(await readFile(path, 'utf8'), (await run(['pull'])).out)
})
