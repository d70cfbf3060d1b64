/** The example in a faked editor: from its sources, and with the client of this checkout. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEditor } from '../examples/vscode/test/fake-vscode.js'
import { projectRoot } from '../src/platform/process/root.js'
import { bundle } from './bundle.js'

type Options = Omit<Parameters<typeof startEditor>[0], 'code' | 'packageJSON'>

export const openEditor = async (options: Options) => {
  const code = await bundle('examples/vscode/src/extension.ts', {
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    alias: {
      '@team-settings/client/node': join(projectRoot, 'client/src/node.ts'),
      '@team-settings/client': join(projectRoot, 'client/src/index.ts'),
    },
  })
  const manifest = await readFile(join(projectRoot, 'examples/vscode/package.json'), 'utf8')
  return startEditor({ code, packageJSON: JSON.parse(manifest), ...options })
}
