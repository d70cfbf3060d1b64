/** The command `team-settings` of the client, against a real service. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const program = join(projectRoot, 'client/dist/command.js')

interface Ended {
  code: number | null
  out: string
  err: string
}

const start = async (t: Test) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
  const at = `/api/team/workspaces/${id}`
  const keyWith = async (...scopes: string[]) =>
    (await ada.post(`${at}/keys`, { name: `ci ${scopes.length}`, scopes })).body.secret
  const folder = await temporaryFolder(t)
  const path = join(folder, 'team-settings.json')
  const env = {
    PATH: process.env.PATH,
    TEAM_SETTINGS_URL: service.url,
    TEAM_SETTINGS_WORKSPACE: id,
    TEAM_SETTINGS_KEY: await keyWith('settings:read', 'settings:write'),
  }
  const run = async (args: string[], others: Record<string, string> = {}): Promise<Ended> => {
    const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...env, ...others } })
    child.stdin.end()
    const closed = once(child, 'close')
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await closed
    return { code, out, err }
  }
  const write = (content: string) => writeFile(path, content)
  return { service, ada, at, keyWith, path, run, write }
}

t.test('a workspace is pulled, compared, changed and checked', async (t) => {
  const { ada, at, keyWith, path, run, write } = await start(t)
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
  t.strictSame(await run(['diff', 'team-settings.json']), { code: 0, out: 'Nothing to change.\n', err: '' })
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
  t.equal((await run(['pull', '--check', path], reading)).code, 2)
  const refused = await run(['apply', path], reading)
  t.equal(refused.code, 1)
  t.equal(refused.err, 'This key lacks the scope settings:write. (scope_missing)\n')

  const applied = await run(['apply', path, '--reason', 'Dark at last'])
  t.strictSame(applied, { code: 0, out: changes + extras, err: '' })
  t.same((await ada.get(`${at}/configuration`)).body, {
    settings: { 'ext.old': 1, 'ext.theme': 'dark', 'ext.size': 14 },
    locked: ['ext.theme'],
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

t.test('differences are printed for machines, and for a comment', async (t) => {
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

t.test('a file that cannot be used names the line, and nothing is sent', async (t) => {
  const { ada, at, path, run, write } = await start(t)
  const before = (await ada.get(`${at}/configuration`)).text
  const broken: [content: string, message: string][] = [
    ['{\n  "settings": {\n    "ext.a": 1\n    "ext.b": 2\n  }\n}', '4: `,` or `}` is missing'],
    ['{\n "settings": {"ext.a": 1,\n "ext.a": 2}}', '3: `ext.a` appears twice'],
    ['{\n\n "setings": {}}', '3: `setings` is not a section'],
    ['{"settings": {\n', '2: the file ends too early'],
    ['{"locked": "ext.a"}', '1: `locked` must be a list of keys'],
    ['{"activity_privacy":\n "team"}', '2: the privacy level is no part of the file: change it on the page'],
    ['{"projects": {\n"acme/web": {}}}', '2: `acme/web` must be an object with `settings`'],
    [
      '{"projects": {"acme/web": {"settings": {}},\n"Acme/Web": {"settings": {}}}}',
      '2: `Acme/Web` appears twice',
    ],
    ['[1]', '1: the file must be an object'],
    ['{"settings": {"ext.a": 01}}', '1: unexpected `0`'],
    ['{} x', '1: unexpected `x` after the end'],
    ['['.repeat(200), '1: the values are nested too deeply'],
  ]
  for (const [content, message] of broken) {
    await write(content)
    t.strictSame(await run(['apply', path]), { code: 1, out: '', err: `${path}:${message}\n` })
  }
  await write('{\n  "settings": {\n    "other.a": 1\n  }\n}')
  const rejected = await run(['diff', path])
  t.equal(rejected.code, 1)
  t.ok(rejected.err.startsWith(`${path}:3: \`other.a\` must start with \`ext.\``), rejected.err)
  t.equal((await ada.get(`${at}/configuration`)).text, before)
})

t.test('mistakes of calling it are explained', async (t) => {
  const { path, run, write, service } = await start(t)
  await write('{}')
  const errorOf = async (args: string[], env: Record<string, string> = {}) => {
    const { code, out, err } = await run(args, env)
    t.strictSame([code, out], [1, ''], err)
    return err
  }
  t.equal(await errorOf(['diff', path], { TEAM_SETTINGS_KEY: '' }), 'Set TEAM_SETTINGS_KEY, or give --key.\n')
  t.equal(
    await errorOf(['diff', path], { TEAM_SETTINGS_URL: `${service.url}/api` }),
    'Give the address of the service without /api.\n',
  )
  t.equal(await errorOf(['diff']), 'Name a file: team-settings diff FILE\n')
  t.equal(await errorOf(['sync', path]), 'There is no command sync. See team-settings help.\n')
  t.equal(
    await errorOf(['diff', path], { TEAM_SETTINGS_KEY: '…' }),
    'The key has characters that no key has. Copy it again.\n',
  )
  t.equal(await errorOf(['diff', path, '--format', 'yaml']), 'The format is text, json or markdown.\n')
  t.equal(await errorOf(['diff', `${path}x`]), `${path}x cannot be read (ENOENT).\n`)
  t.match(await errorOf(['diff', path, '--pune']), /Unknown option '--pune'/)
  t.match(await errorOf(['diff', path], { TEAM_SETTINGS_URL: 'http://127.0.0.1:1' }), /could not be reached/)
  const help = await run(['--help'])
  t.equal(help.code, 0)
  t.strictSame(await run(['help']), help)
  for (const word of ['pull', 'diff', 'apply', '--prune', 'TEAM_SETTINGS_URL', 'Example'])
    t.ok(help.out.includes(word), word)
  t.equal((await run([])).code, 1)
})

t.test('a change in between is not overwritten', async (t) => {
  const { ada, at, path, run, write } = await start(t)
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

t.test('what diff says is what apply does, and what is pulled is what was applied', async (t) => {
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
    { numRuns: 6 },
  )
  t.equal(await readFile(path, 'utf8'), (await run(['pull'])).out)
})
