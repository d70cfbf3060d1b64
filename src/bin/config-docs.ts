/** Writes `.env.example` and the README's table of variables. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { envExample, withVariables } from '../runtime/config-docs.js'
import { runCommand } from '../runtime/program.js'
import { projectRoot } from '../runtime/root.js'

runCommand(async () => {
  await writeFile(join(projectRoot, '.env.example'), envExample())
  const readme = join(projectRoot, 'README.md')
  await writeFile(readme, withVariables(await readFile(readme, 'utf8')))
})
