/**
 * Builds the dashboard into build/web: the page, and compressed assets named by their content. Does nothing if no input
 * has changed.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const source = dirname(fileURLToPath(import.meta.url))
const output = join(source, '../build/web')
const assets = join(output, 'assets')
/** Digests of the page, its assets and their inputs. This file isn't served. */
const record = join(output, 'inputs.json')

const digestOf = async (file) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')

const isBuilt = async () => {
  const made = Object.entries(JSON.parse(await readFile(record, 'utf8')))
  const same = await Promise.all(
    made.map(async ([file, digest]) => (await digestOf(join(source, file))) === digest),
  )
  return !same.includes(false)
}
if (await isBuilt().catch(() => false)) process.exit()

/** How long replaced assets are kept for running instances and open pages. */
const KEPT_MS = 30 * 86_400_000
const replaced = Object.keys(JSON.parse(await readFile(record, 'utf8').catch(() => '{}')))

const { build } = await import('esbuild')
await mkdir(assets, { recursive: true })
const { metafile } = await build({
  entryPoints: [join(source, 'main.tsx'), join(source, 'style.css')],
  outdir: assets,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
  absWorkingDir: assets,
})

const compressed = {
  br: promisify(brotliCompress),
  gz: (content) => promisify(gzip)(content, { level: 9 }),
}
for (const name of Object.keys(metafile.outputs)) {
  const file = join(assets, basename(name))
  const content = await readFile(file)
  for (const [ending, compress] of Object.entries(compressed)) {
    await writeFile(`${file}.${ending}`, await compress(content))
  }
}

/** The page also lists the script's chunks, so that the browser loads all of them at once. */
const outputs = Object.entries(metafile.outputs)
const [script, { imports }] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx'))
const [style] = outputs.find(([name]) => name.endsWith('.css'))
const chunks = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path)
const head = [
  ...chunks.map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
  `<link rel="stylesheet" href="/assets/${style}">`,
  `<script type="module" src="/assets/${script}"></script>`,
]
const page = await readFile(join(source, 'index.html'), 'utf8')
await writeFile(join(output, 'index.html'), page.replace('<!-- assets -->', head.join('\n')))

const made = [join(output, 'index.html'), join(source, 'build.mjs'), join(source, 'index.html')]
for (const name of Object.keys(metafile.inputs)) made.push(join(assets, name))
for (const name of Object.keys(metafile.outputs)) made.push(join(assets, basename(name)))
const digests = made.map(async (file) => [relative(source, file), await digestOf(file)])
await writeFile(record, JSON.stringify(Object.fromEntries(await Promise.all(digests))))

const now = new Date()
for (const name of await readdir(assets)) {
  const file = join(assets, name)
  if (replaced.includes(relative(source, file.replace(/\.(br|gz)$/, '')))) await utimes(file, now, now)
  else if (now - (await stat(file)).mtimeMs > KEPT_MS) await rm(file)
}
