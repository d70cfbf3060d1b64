import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { parseYaml } from '@redocly/openapi-core'
import t from 'tap'
import { variables } from '../schemas/environment.js'
import { readConfig } from '../src/config.js'
import { RECOMMENDED_NODE } from '../src/platform/process/node-support.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { hasProperties } from './has-properties.js'
import { temporaryFolder } from './process.js'

interface Compose {
  services: Record<
    string,
    { image: string; environment: Record<string, string | number>; secrets?: string[] }
  >
  secrets: Record<string, { file: string }>
}
const { services, secrets } = parseYaml(await readFile(join(projectRoot, 'compose.yaml'), 'utf8')) as Compose
const instances = Object.values(services).filter(({ image }) => image === 'team-settings-cloud')

const run = promisify(execFile)
/** A folder of an installation, and the command that is run in it first. */
const install = async (t: Parameters<typeof temporaryFolder>[0]) => {
  const folder = await temporaryFolder(t)
  const script = join(folder, 'ops/compose/first-run.sh')
  await mkdir(join(folder, 'ops'))
  await cp(join(projectRoot, 'ops/compose'), join(folder, 'ops/compose'), { recursive: true })
  const read = async () => {
    const names = (await readdir(join(folder, 'secrets'))).map((name) => join('secrets', name))
    const texts = ['.env', ...names].map(async (name) => [name, await readFile(join(folder, name), 'utf8')])
    return Object.fromEntries(await Promise.all(texts)) as Record<string, string>
  }
  return {
    folder,
    read,
    firstRun: (args: string[], env = process.env) => run('sh', [script, ...args], { env }),
  }
}

t.test('after the first run, the service starts as configured in compose.yaml', async (t) => {
  const { folder, firstRun } = await install(t)
  await firstRun(['team.example.com'])
  const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777
  t.equal(await modeOf('secrets'), 0o700, 'no other user can read the secrets')
  t.equal(await modeOf('.env'), 0o600, 'or at those that are added to .env')
  t.equal(instances.length, 2)
  for (const { environment, secrets: given = [] } of instances) {
    const env: Record<string, string> = {}
    for (const [name, value] of Object.entries(environment)) {
      t.ok(name in variables || name.replace(/_FILE$/, '') in variables, `there is a variable ${name}`)
      env[name] = String(value)
        .replace(/\$\{DOMAIN:\?[^}]*\}/, 'team.example.com')
        .replace(/\$\{\w+:-([^}]*)\}/, '$1')
        .replace(/^\/run\/secrets\/(.*)$/, (_, secret: string) => {
          t.ok(given.includes(secret), `${secret} is given to the instance`)
          return join(folder, secrets[secret]?.file ?? 'none')
        })
    }
    const config = readConfig(env)
    hasProperties(t, config, {
      baseUrl: 'https://team.example.com',
      trustProxy: [/\/24$/],
      shutdownDelayMs: 5_000,
    })
    t.equal(config.webhookKeys.length, 1, 'webhooks can be created')
    t.match(config.databaseUrl, /^postgres:\/\/service:[0-9a-f]{48}@database:5432\/service$/)
  }
})

t.test('the first run fails if a secret can’t be created, and leaves no empty file', async (t) => {
  const { folder, firstRun } = await install(t)
  const programs = join(folder, 'programs')
  await mkdir(programs)
  await writeFile(join(programs, 'od'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const PATH = `${programs}:${process.env.PATH}`
  await t.rejects(firstRun(['team.example.com'], { PATH }), {
    code: 1,
    stderr: /Could not create \S*database-password/,
  })
  t.same(await readdir(join(folder, 'secrets')), [])
  // A leftover of an interrupted first run by another version.
  await writeFile(join(folder, 'secrets/jwt-secrets'), '')
  await firstRun(['team.example.com'])
  t.match(await readFile(join(folder, 'secrets/jwt-secrets'), 'utf8'), /^[0-9a-f]{96}$/)
})

t.test('the first run writes what compose.yaml reads, and overwrites nothing', async (t) => {
  const { read, firstRun } = await install(t)
  await t.rejects(firstRun([]), { code: 2, stderr: /^usage:/ })
  await t.rejects(firstRun(['two words']), { code: 2 })
  await firstRun(['team.example.com'])
  const written = await read()
  const files = Object.values(secrets).map(({ file }) => join('secrets', basename(file)))
  t.same(Object.keys(written).sort(), ['.env', ...files].sort())
  t.match(written['.env'], /^DOMAIN=team\.example\.com$/m)
  t.equal(new Set(Object.values(written)).size, files.length + 1, 'each is another one')
  await firstRun(['other.example.com'])
  t.same(await read(), written)
})

t.test('existing content of .env is kept, even without a final line break', async (t) => {
  const { folder, read, firstRun } = await install(t)
  await writeFile(join(folder, '.env'), 'LOG_LEVEL=warn')
  await firstRun(['team.example.com'])
  t.equal((await read())['.env'], 'LOG_LEVEL=warn\nDOMAIN=team.example.com\n')
})

t.test('an image reports its version, unless it’s labeled otherwise', async (t) => {
  const file = await readFile(join(projectRoot, 'Dockerfile'), 'utf8')
  t.equal(file.match(/^ARG VERSION=(.*)$/m)?.[1], serviceVersion)
})

t.test(
  'the image, compose.yaml, the Debian package and the guide use the Node version that the service recommends',
  async (t) => {
    const lineIn = async (file: string, pattern: RegExp) =>
      (await readFile(join(projectRoot, file), 'utf8')).match(pattern)?.[1]
    const line = String(RECOMMENDED_NODE)
    t.equal(await lineIn('Dockerfile', /^ARG NODE=\S*\/node:(\d+)-/m), line)
    t.equal(await lineIn('compose.yaml', /NODE_IMAGE:-\S*\/node:(\d+)-/), line)
    t.equal(await lineIn('ops/release/deb.mjs', /^const NODE = '(\d+)\./m), line)
    t.equal(await lineIn('docs/install.md', /latest-v(\d+)\.x/), line)
  },
)
