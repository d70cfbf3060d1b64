/** Bundles the test files, and the programs that they start, with the packages that the service uses. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin, stop } from 'esbuild'
import { projectRoot } from '../src/platform/process/root.js'

const folder = join(projectRoot, 'build')
/** Where the bundle goes, in the project. It has the same file names as `build/`. */
const BUNDLED = 'build/bundled'

/** These files import modules by path, and compare them with the modules that run. */
const NOT_BUNDLED = ['test/statements.test.js']

const PROGRAMS = [
  'src/server.js',
  'demo/demo.js',
  'demo/dev.js',
  'demo/seed-activity.js',
  'test/queue-window.js',
]

const list = async (part: string, ending: string) =>
  (await readdir(join(folder, part), { recursive: true }))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${part}/${name}`)

/**
 * Modules that ask for their location get that of their source file, because they find workers and data relative to it.
 */
const keepLocations: Plugin = {
  name: 'keep locations',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const [url, file, place] = [pathToFileURL(path).href, path, dirname(path)].map((text) =>
        JSON.stringify(text),
      )
      if (source.includes('import.meta.url'))
        return { contents: source.replaceAll('import.meta.url', `${url}`) }
      if (!/\b__(dirname|filename)\b/.test(source)) return undefined
      return { contents: `var __filename = ${file}, __dirname = ${place};${source}` }
    }),
}

/**
 * Bundles them. Loading the service from 1,200 files takes a second of processor time, and from a bundle a third of it.
 * @returns the folder of the bundle in the project, and the path of each test file by its name: `settings.test.js`
 */
export const bundleTests = async (): Promise<{ build: string; fileOf(name: string): string }> => {
  const packages = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))
  const tools = Object.keys({ ...packages.devDependencies, ...packages.optionalDependencies })
  const tests = (await list('test', '.test.js')).filter((file) => !NOT_BUNDLED.includes(file))
  const outdir = join(projectRoot, BUNDLED)
  await rm(outdir, { recursive: true, force: true })
  await build({
    entryPoints: [...tests, ...PROGRAMS, ...(await list('src/bin', '.js'))].map((file) => join(folder, file)),
    outdir,
    outbase: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: tools.flatMap((name) => [name, `${name}/*`]),
    plugins: [keepLocations],
    // CommonJS packages call `require`.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  // Otherwise its process would stay until the end.
  await stop()
  const fileOf = (name: string) => join(tests.includes(`test/${name}`) ? outdir : folder, 'test', name)
  return { build: BUNDLED, fileOf }
}
