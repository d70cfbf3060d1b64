/** Bundles sources that don't belong to the service, as they are shipped. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'

/** The bundle that a browser or an editor would load for `entry`, a path in the project. */
export const bundle = async (entry: string, options: BuildOptions = {}): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(projectRoot, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
    ...options,
  })
  return outputFiles?.[0]?.text ?? ''
}

/** Loads it here. */
export const load = async (test: Parameters<typeof temporaryFolder>[0], code: string) => {
  const file = join(await temporaryFolder(test), 'bundle.mjs')
  await writeFile(file, code)
  return import(pathToFileURL(file).href)
}

/** The parts of a page that modules need while they load. */
const PAGE =
  'const document = { getElementById: () => null }, navigator = { onLine: true }, addEventListener = () => {}'

/** A module of the dashboard, whose logic needs no browser. */
export const loadOfPage = async (test: Parameters<typeof load>[0], entry: string) =>
  load(test, await bundle(entry, { banner: { js: PAGE } }))
