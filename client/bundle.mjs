/** Bundles the command with the service's rules for settings, which lie outside of the package. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const shared = {
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  outdir: 'dist',
  platform: 'node',
  format: 'esm',
  target: 'es2022',
  sourcemap: true,
}
await build({ ...shared, entryPoints: ['src/command.ts'], bundle: true })
// This file has to load on any Node, to say that it's too old for the command.
await build({ ...shared, entryPoints: ['src/bin.ts'] })
