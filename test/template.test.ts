/** The template of an extension, as someone uses it who copies it out of the checkout. */
import { execFile } from 'node:child_process'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { startEditor } from '../examples/vscode/test/fake-vscode.js'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startRegistry } from './registry.js'
import { startService } from './service.js'

const run = promisify(execFile)
const service = await startService(t, { env: { EXTENSION_PREFIX: 'mine' } })
const template = join(projectRoot, 'examples/vscode')
const made = ['node_modules', 'dist', 'out'].map((name) => join(template, name))
const registry = await startRegistry(t, { typescript: '@typescript/native' })
const copy = join(await temporaryFolder(t), 'my-extension')
const npm = (...given: string[]) => run('npm', given, { cwd: copy })

t.test('copied out of the checkout, it installs, compiles, tests itself and packs', async (t) => {
  await cp(template, copy, {
    recursive: true,
    filter: (file) => !made.includes(file) && !file.endsWith('.vsix'),
  })
  const { devDependencies } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))
  t.notOk(Object.values<string>(devDependencies).some((range) => /[\^~*]/.test(range)))
  const quick = ['--no-audit', '--no-fund', '--cache', join(copy, '../cache')]
  await npm('install', '--registry', registry.url, ...quick)
  t.notOk([...registry.asked].some((name) => name.includes('team-settings')))
  await npm('run', 'compile')
  await npm('test')
  await npm('run', 'package')
  t.ok((await readdir(copy)).includes('team-settings-example-1.1.0.vsix'))
})

t.test('the .vsix holds what an editor wants, and works with the service', async (t) => {
  await npm('run', 'prefix', '--', 'mine')
  await npm('run', 'compile')
  await npm('test')
  await npm('run', 'package')
  const files = unzipSync(await readFile(join(copy, 'team-settings-example-1.1.0.vsix')))
  t.strictSame(Object.keys(files).sort(), [
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/LICENSE',
    'extension/README.md',
    'extension/dist/browser.cjs',
    'extension/dist/extension.cjs',
    'extension/icon.png',
    'extension/package.json',
  ])
  const text = (name: string) => strFromU8(files[name] ?? new Uint8Array())
  const packageJSON = JSON.parse(text('extension/package.json'))
  t.strictSame(
    ['devDependencies', 'imports', 'private', 'scripts'].filter((name) => name in packageJSON),
    [],
  )
  t.ok(text('extension.vsixmanifest').includes(` Version="${packageJSON.version}"`))
  const required = (file: string) =>
    [...new Set(Array.from(text(file).matchAll(/\brequire\("([^"]+)"\)/g), ([, name]) => name))].sort()
  t.strictSame(required('extension/dist/extension.cjs'), ['node:fs/promises', 'node:path', 'vscode'])
  t.strictSame(required('extension/dist/browser.cjs'), ['vscode'], 'a browser has no modules of Node.js')
  for (const name of ['extension/package.json', 'extension/README.md'])
    t.notMatch(text(name), /["`]ext\./, `${name} has the new prefix alone`)

  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
  await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'mine.theme': 'dark' } })
  const folder = await temporaryFolder(t)
  const editor = await startEditor({
    code: text('extension/dist/extension.cjs'),
    packageJSON,
    configuration: { 'mine.cloudUrl': service.url },
    folder,
    folders: [{ address: join(folder, 'api'), remote: 'git@github.com:acme/api.git' }],
  })
  editor.person.github = service.repohost.addUser('ada', { id: ada.repohostId }).token
  const window = await editor.open()
  t.equal(editor.seen.text, '$(record) 0 min')
  t.same(editor.workspaceValues, { 'mine.theme': 'dark' })
  await window.deactivate()
})
