/**
 * Builds the client into client/dist, and packs it into build/client.tgz, which the service serves. If no input changed, it
 * does nothing. npm writes the same bytes for the same files, so every installation of a version serves the same package.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const client = dirname(fileURLToPath(import.meta.url))
const build = join(client, '../build')
const tarball = join(build, 'client.tgz')
/** The digests of the inputs and outputs. This file isn't served. */
const record = join(build, 'client.json')

const digestOf = (files) => {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(client, file)))
  return hash.digest('hex')
}
const list = (folder) =>
  readdirSync(join(client, folder), { recursive: true })
    .filter((name) => name.includes('.'))
    .map((name) => `${folder}/${name}`)
    .sort()

const listInputs = () => [
  ...['../tsconfig.json', 'LICENSE', 'README.md', 'bundle.mjs', 'pack.mjs', 'package.json'],
  ...['../schemas/denied-settings.ts', '../schemas/limits.ts', '../schemas/settings-import.ts'],
  '../schemas/settings-keys.ts',
  ...['tsconfig.cjs.json', 'tsconfig.json', ...list('src')],
]
const digests = () => ({
  inputs: digestOf(listInputs()),
  outputs: digestOf(['../build/client.tgz', ...list('dist')]),
})

const isBuilt = () => {
  try {
    const { inputs, outputs } = JSON.parse(readFileSync(record, 'utf8'))
    const found = digests()
    return found.inputs === inputs && found.outputs === outputs
  } catch {
    return false
  }
}
if (isBuilt()) process.exit()

const npm = (...args) => execFileSync('npm', args, { cwd: client, stdio: ['ignore', 'pipe', 'inherit'] })

// The output of removed sources must not be packed.
rmSync(join(client, 'dist'), { recursive: true, force: true })
npm('run', '--silent', 'build')
mkdirSync(build, { recursive: true })
const folder = mkdtempSync(join(build, 'client-'))
npm('pack', '--silent', '--ignore-scripts', '--pack-destination', folder)
renameSync(join(folder, readdirSync(folder)[0]), tarball)
rmSync(folder, { recursive: true })
writeFileSync(record, JSON.stringify(digests()))
