import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of package.json, found from the sources and from the build. */
export const projectRoot = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
})()

const { version, engines } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))

export const serviceVersion: string = version

/** The oldest Node version that the service runs on. */
export const requiredNode: string = engines.node.replace('>=', '')
