/** Bundles the extension: once for machines, and once for browsers. */
import { readFile } from 'node:fs/promises'
import { build } from 'esbuild'

const { main, browser } = JSON.parse(await readFile('package.json', 'utf8'))
const minify = process.argv.includes('--minify')
// `#storage` is another file for browsers. With this platform, esbuild rejects modules of Node.js.
for (const { platform, target, outfile } of [
  { platform: 'node', target: 'node20', outfile: main },
  { platform: 'browser', target: 'es2022', outfile: browser },
])
  await build({
    entryPoints: ['src/extension.ts'],
    outfile,
    bundle: true,
    platform,
    format: 'cjs',
    target,
    external: ['vscode'],
    minify,
    sourcemap: !minify,
  })
