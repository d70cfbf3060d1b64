/**
 * npm run release -- --dry-run
 *
 * Tests, then makes in `dist/`: both npm packages, the tarball that runs without npm, the bill of materials, the release
 * notes and the checksums. Without --dry-run it also tags the commit and publishes the packages.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist, name, run, stage, version } from './stage.mjs'

const isDryRun = process.argv.includes('--dry-run')
const say = (line) => process.stdout.write(`${line}\n`)
const fail = (line) => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

const readNotes = () => {
  const [, ...entries] = readFileSync('CHANGELOG.md', 'utf8').split(/^(?=## )/m)
  const entry = entries.find((text) => text.startsWith(`## [${version}]`))
  return entry?.slice(entry.indexOf('\n') + 1).trim()
}
const notes = readNotes()
if (!notes)
  fail(`CHANGELOG.md has no entry for ${version}. Rename [Unreleased] to [${version}] with today's date.`)
if (!isDryRun && run('git', 'status', '--porcelain').length > 0) fail('Commit or stash your changes first.')

say('Tests …')
run('npm', 'test')

say('Packages …')
const folder = stage()
const tarball = `${name}-${version}-${process.platform}-${process.arch}.tar.gz`
run('tar', '-czf', join(dist, tarball), '-C', dist, `${name}-${version}`)
rmSync(folder, { recursive: true })
writeFileSync(join(dist, 'sbom.json'), run('npm', 'run', '--silent', 'sbom'))
writeFileSync(join(dist, 'release-notes.md'), `${notes}\n`)

const files = readdirSync(dist).sort()
const checksumOf = (file) =>
  createHash('sha256')
    .update(readFileSync(join(dist, file)))
    .digest('hex')
writeFileSync(join(dist, 'SHA256SUMS'), files.map((file) => `${checksumOf(file)}  ${file}\n`).join(''))
for (const file of files)
  say(`${(statSync(join(dist, file)).size / 1e6).toFixed(1).padStart(6)} MB  dist/${file}`)

if (isDryRun) {
  say(`${version} is ready. Nothing was tagged or published.`)
} else {
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Release ${version}`)
  for (const file of files.filter((file) => file.endsWith('.tgz'))) run('npm', 'publish', join(dist, file))
  say(`${version} is published. Push the tag with: git push origin v${version}`)
}
