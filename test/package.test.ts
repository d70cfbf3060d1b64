/** What `npm pack` makes, installed into an empty folder and used: nothing is built, patched or scripted there. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { freePort, ready, spawnProgram, temporaryFolder } from './process.js'

const run = promisify(execFile)
const { name, version } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))

// Programs may be forbidden to run where files are kept in memory.
const folder = await temporaryFolder(t, tmpdir())
const npm = (...args: string[]) => run('npm', args, { cwd: projectRoot })
// What prepack builds is built already.
await npm('pack', '--ignore-scripts', '--pack-destination', folder)
await npm('run', 'postpack', '--', '--pack-destination', folder)
const tarballs = (await readdir(folder)).sort()
const installed = join(folder, 'a folder with spaces')
await mkdir(installed)
await writeFile(join(installed, 'package.json'), '{"type":"module"}')
await run(
  'npm',
  [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    ...tarballs.map((tarball) => join(folder, tarball)),
  ],
  { cwd: installed },
)
const command = join(installed, 'node_modules/.bin', name)

/** Starts the installed command in an own empty folder. */
const start = async (t: Test, env: Record<string, string>, args: string[] = []) => {
  const cwd = await temporaryFolder(t)
  return { cwd, ...spawnProgram(t, command, args, env, cwd) }
}

t.test('both packages are packed', async (t) => {
  t.same(tarballs, [`team-settings-client-${version}.tgz`, `${name}-${version}.tgz`])
})

t.test('the versions are those of the lockfile, and the driver is the patched one', async (t) => {
  const packagesOf = async (folder: string): Promise<[string, { version: string }][]> =>
    Object.entries(JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')).packages)
  const locked = new Map(await packagesOf(projectRoot))
  const own = `node_modules/${name}/`
  const bundled = (await packagesOf(installed)).filter(([path]) => path.startsWith(own))
  t.ok(bundled.length > 50)
  const others = bundled.filter(
    ([path, { version }]) => version !== locked.get(path.slice(own.length))?.version,
  )
  t.same(others, [])
  const driver = 'node_modules/postgres/src/connection.js'
  t.equal(
    await readFile(join(installed, 'node_modules', name, driver), 'utf8'),
    await readFile(join(projectRoot, driver), 'utf8'),
  )
})

t.test('the handbook is in the package, with every file of ops/ that it copies', async (t) => {
  const read = (path: string) => readFile(join(installed, 'node_modules', name, path), 'utf8')
  const handbook = await read('docs/operate.md')
  const files = new Set(handbook.match(/ops\/[A-Za-z@-]+\.[a-z]+/g))
  t.ok(files.size > 5)
  for (const file of [
    ...files,
    'ops/team-settings@.service',
    'ops/team-settings-backup.timer',
    'CHANGELOG.md',
  ])
    t.ok((await read(file)).length > 0, file)
})

t.test('the command says what it can do', async (t) => {
  const saysVersion = await start(t, {}, ['--version'])
  t.equal(await saysVersion.ended, 0)
  t.equal(saysVersion.output(), `${version}\n`)

  const help = await start(t, {}, ['--help'])
  t.equal(await help.ended, 0)
  const listed = Array.from(help.output().matchAll(/^ {2}([a-z-]+).*? {2}/gm), ([, command]) => command)
  t.same(
    listed,
    'start demo migrate backup restore doctor users workspaces distribute rollups import-wakatime --version'.split(
      ' ',
    ),
  )

  const unknown = await start(t, {}, ['serve'])
  t.equal(await unknown.ended, 1)
  t.equal(unknown.output(), `Unknown command "serve". Run "${name} --help" for a list of commands.\n`)

  const wrongOption = await start(t, {}, ['backup', '--now'])
  t.equal(await wrongOption.ended, 1)
  t.equal(wrongOption.output(), `Unknown option '--now'; see \`${name} backup --help\`.\n`)
})

t.test('the service starts with its page and its database, in the data folder of the platform', async (t) => {
  const HOME = await temporaryFolder(t)
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const service = await ready({ url, ...(await start(t, { HOME, PORT })) })
  t.strictSame(await (await fetch(`${url}/api/health`)).json(), { ok: true, version })
  for (const path of ['/', '/api/docs/']) {
    t.equal((await fetch(url + path)).headers.get('content-type'), 'text/html; charset=utf-8', path)
  }

  const second = await start(t, { HOME, PORT: String(await freePort()) })
  t.equal(await second.ended, 1)
  t.match(second.output(), /Another process of this service is using /)

  const backup = join(folder, 'backup.gz')
  const backingUp = await start(t, { HOME }, ['backup', backup])
  t.equal(await backingUp.ended, 0, backingUp.output())

  const client = `
    import { createClient } from '@team-settings/client'
    const { data } = await createClient({ baseUrl: '${url}' }).request('GET /api/health')
    console.log(JSON.stringify(data))`
  const used = await run(process.execPath, ['--input-type=module', '--eval', client], { cwd: installed })
  t.strictSame(JSON.parse(used.stdout), { ok: true, version })

  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

t.test('a folder .data that is there is used', async (t) => {
  const HOME = await temporaryFolder(t)
  const cwd = await temporaryFolder(t)
  await mkdir(join(cwd, '.data'), { mode: 0o711 })
  const restoring = spawnProgram(t, command, ['restore', join(folder, 'backup.gz')], { HOME }, cwd)
  t.equal(await restoring.ended, 0, restoring.output())
  t.ok((await readdir(join(cwd, '.data'))).includes('postgresql'))
  t.same(await readdir(HOME), [])
})
