/** npm run prefix -- mochaExplorer gives every setting and command in package.json and README.md this prefix. */
import { readFile, writeFile } from 'node:fs/promises'

const [prefix = ''] = process.argv.slice(2)
if (!/^[\w-]{1,50}$/.test(prefix)) {
  process.stderr.write('Give the prefix: npm run prefix -- mochaExplorer\n')
  process.exit(1)
}
const { contributes } = JSON.parse(await readFile('package.json', 'utf8'))
const current = contributes.commands[0].command.replace(/[^.]*$/, '')
for (const [file, quote] of [
  ['package.json', '"'],
  ['README.md', '`'],
]) {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replaceAll(quote + current, `${quote}${prefix}.`))
}
