/**
 * npm run release -- --dry-run
 *
 * Tests, then makes in `dist/`: both npm packages, the tarball that runs without npm, the Debian package, the bill of
 * materials, the release notes and the checksums. Without --dry-run it also publishes the npm packages and tags the commit.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist, fail, makeTarball, name, run, say, show, stage, version, writeChecksums } from './stage.mjs'

const options = process.argv.slice(2)
const unknown = options.filter((option) => !['--dry-run', '--claim'].includes(option))
if (unknown.length > 0) fail(`Unknown option ${unknown.join(' ')}. Usage: npm run release -- --dry-run`)
// Without a preceding --, npm keeps the option for itself.
const isDryRun = options.includes('--dry-run') || process.env.npm_config_dry_run === 'true'
delete process.env.npm_config_dry_run

const PUBLISHED = [name, '@team-settings/client']
const CLAIM =
  'Create the organization team-settings there, make sure that both names are yours, then release with --claim. Until then, no instruction may name them: anyone who claims a name can run code on the machines of those who follow it.'

const read = (file) => readFileSync(file, 'utf8')
const manifest = (file) => JSON.parse(read(file))
const succeeds = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** The files that name another version. */
const findOtherVersions = () => {
  const found = {
    'client/package.json': manifest('client/package.json').version,
    'extension/package.json': manifest('extension/package.json').version,
    'package-lock.json': manifest('package-lock.json').version,
    'openapi/openapi.json': manifest('openapi/openapi.json').info.version,
    Dockerfile: read('Dockerfile').match(/^ARG VERSION=(.*)$/m)?.[1],
  }
  return Object.entries(found).filter(([, found]) => found !== version)
}

/** In a dry run, the entry may still be called "Unreleased". */
const headings = isDryRun ? [version, 'Unreleased'] : [version]

const readNotes = () => {
  const [, ...entries] = read('CHANGELOG.md').split(/^(?=## )/m)
  const entry = entries.find((text) =>
    headings.some((heading) => text.startsWith(`## [${heading}]${heading === version ? ' - ' : ''}`)),
  )
  return entry?.slice(entry.indexOf('\n') + 1).trim()
}

const notes = readNotes()
const problems = findOtherVersions().map(([file, found]) => `${file} has version ${found}, not ${version}.`)
if (!notes)
  problems.push(`CHANGELOG.md has no entry for ${version}. Rename [Unreleased] to [${version}] - YYYY-MM-DD.`)
const clientsPage = read('docs/guides/11-changelog.md')
if (!headings.some((heading) => clientsPage.includes(`\n## ${heading}\n`)))
  problems.push(
    `docs/guides/11-changelog.md has no entry for ${version}. Rename "Unreleased" to "${version}".`,
  )
if (!isDryRun) {
  if (run('git', 'status', '--porcelain').length > 0)
    problems.push('There are changes that are not committed. Commit or stash them.')
  if (succeeds('git', 'rev-parse', '--verify', `v${version}`))
    problems.push(`The tag v${version} exists: this version is released. Set the next version.`)
  if (!succeeds('npm', 'whoami')) problems.push('npm knows no user to publish as. Run npm login.')
  for (const published of PUBLISHED)
    if (!succeeds('npm', 'view', published, 'name') && !options.includes('--claim'))
      problems.push(`The registry has no package ${published}. ${CLAIM}`)
}
if (problems.length > 0) fail(problems.join('\n'))

say(`Testing ${version} …`)
// Makes the package test install it with npm.
process.env.INSTALL_WITH_NPM = '1'
show('npm', 'test')

say('Making the packages …')
// The checksums must not list files of an earlier version.
rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const app = await stage(dist)
const tarball = `${name}-${version}-${process.platform}-${process.arch}.tar.gz`
makeTarball(join(dist, tarball), dist, `${name}-${version}`)
if (succeeds('dpkg-deb', '--version')) run(process.execPath, 'ops/release/deb.mjs', app)
else say('There is no Debian package, because dpkg-deb is not installed.')
rmSync(app, { recursive: true })
writeFileSync(join(dist, 'sbom.json'), run('npm', 'run', '--silent', 'sbom'))
writeFileSync(join(dist, 'release-notes.md'), `${notes}\n`)

const files = writeChecksums()
for (const file of [...files, 'SHA256SUMS'])
  say(`${(statSync(join(dist, file)).size / 1e6).toFixed(1).padStart(6)} MB  dist/${file}`)

if (isDryRun) {
  say(`${version} is ready. Nothing was published or tagged.`)
  say(`Before the first release, claim ${PUBLISHED.join(' and ')} on the registry. ${CLAIM}`)
} else {
  for (const file of files.filter((file) => file.endsWith('.tgz'))) {
    const published = `${file.startsWith(name) ? name : '@team-settings/client'}@${version}`
    // A second run completes a release that failed halfway.
    if (succeeds('npm', 'view', published, 'version')) say(`${published} is already published.`)
    // Without the ./, npm takes the path for a GitHub repository.
    else show('npm', 'publish', `./${join(dist, file)}`)
  }
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Release ${version}`)
  say(`${version} is published and tagged. Push the tag with: git push origin v${version}`)
}
