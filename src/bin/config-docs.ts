/** Writes `.env.example` and the tables of docs/configuration.md, docs/privacy.md and docs/metrics.md. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { envExample, withMetrics, withPrivacy, withVariables } from '../operator/config-docs.js'
import { runCommand } from '../platform/process/program.js'
import { projectRoot } from '../platform/process/root.js'

runCommand(async () => {
  await writeFile(join(projectRoot, '.env.example'), envExample())
  for (const [name, fill] of [
    ['docs/configuration.md', withVariables],
    ['docs/privacy.md', withPrivacy],
    ['docs/metrics.md', withMetrics],
  ] as const) {
    const path = join(projectRoot, name)
    await writeFile(path, fill(await readFile(path, 'utf8')))
  }
})
