/**
 * Clients that others generate from the document compile strictly, and work. The generators are installed from the
 * registry in pinned versions, because they have too many packages to be dependencies. So this runs only with
 * INSTALL_WITH_NPM, as for a release.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import t from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const run = promisify(execFile)

/** Each client reads the caller, creates a workspace, and gets an error. */
const uses = {
  'openapi-typescript': `
    import createClient from 'openapi-fetch'
    import type { paths } from './openapi-typescript/api.js'
    const client = createClient<paths>({ baseUrl, headers })
    const me = await client.GET('/api/me')
    const body = { name: 'openapi-typescript', patterns: ['generated-1/*'] }
    const created = await client.POST('/api/team/workspaces/create', { body })
    const failed = await client.GET('/api/settings/{owner}/{repo}', {
      params: { path: { owner: 'generated-1', repo: 'none' } },
    })
    const results = [me.data?.login, created.data?.workspace.name, failed.error?.code]`,
  'hey-api': `
    import { createWorkspace, getProfile, pullSettings } from './hey-api/index.js'
    import { createClient } from './hey-api/client/index.js'
    const client = createClient({ baseUrl, headers })
    const me = await getProfile({ client })
    const body = { name: 'hey-api', patterns: ['generated-2/*'] }
    const created = await createWorkspace({ client, body })
    const failed = await pullSettings({ client, path: { owner: 'generated-2', repo: 'none' } })
    const results = [me.data?.login, created.data?.workspace.name, failed.error?.code]`,
  orval: `
    import { createWorkspace, getProfile, pullSettings } from './orval/api.js'
    const me = await getProfile({ headers })
    const created = await createWorkspace({ name: 'orval', patterns: ['generated-3/*'] }, { headers })
    const failed = await pullSettings('generated-3', 'none', undefined, { headers })
    const results = [
      me.status === 200 && me.data.login,
      created.status === 201 && created.data.workspace.name,
      failed.status === 404 && failed.data.code,
    ]`,
}

t.test(
  'generated clients compile strictly, and work',
  { skip: !process.env.INSTALL_WITH_NPM && 'set INSTALL_WITH_NPM to run it' },
  async (t) => {
    const service = await startService(t)
    const ada = await service.signIn('ada')
    const folder = await temporaryFolder(t)
    const bin = (name: string, ...given: string[]) =>
      run(join(folder, 'node_modules/.bin', name), given, { cwd: folder })
    const write = (file: string, content: string | object) =>
      writeFile(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))

    const devDependencies = {
      '@hey-api/openapi-ts': '0.95.0',
      '@types/node': '20.19.43',
      'openapi-fetch': '0.17.0',
      'openapi-typescript': '7.13.0',
      orval: '7.13.2',
      typescript: '5.9.3',
    }
    await write('package.json', { type: 'module', devDependencies })
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
    const document = join(projectRoot, 'openapi/openapi.json')
    const output = { target: 'orval/api.ts', client: 'fetch', baseUrl: service.url }
    await write('orval.config.mjs', `export default ${JSON.stringify({ api: { input: document, output } })}`)
    await bin('openapi-typescript', document, '-o', 'openapi-typescript/api.ts')
    await bin('openapi-ts', '-i', document, '-o', 'hey-api')
    await bin('orval')

    const constants = `const baseUrl = '${service.url}'\nconst headers = { Authorization: 'Bearer ${ada.token}' }`
    for (const [name, code] of Object.entries(uses))
      await write(`${name}.ts`, `${constants}${code}\nconsole.log(baseUrl && JSON.stringify(results))\n`)
    await write('tsconfig.json', {
      compilerOptions: {
        target: 'ES2022',
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        module: 'ESNext',
        moduleResolution: 'bundler',
        strict: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        types: ['node'],
      },
      include: ['.'],
    })
    const faults = await bin('tsc').then(
      () => '',
      ({ stdout }) => stdout,
    )
    t.equal(faults, '')
    for (const name of Object.keys(uses)) {
      const outfile = join(folder, `${name}.mjs`)
      const entryPoints = [join(folder, `${name}.ts`)]
      await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' })
      const { stdout } = await run(process.execPath, [outfile])
      t.strictSame(JSON.parse(stdout), ['ada', name, 'never_synced'], name)
    }
  },
)
