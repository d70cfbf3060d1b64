/** node examples/vscode/own.mjs EXTENSION.vsix OWN.json gives an extension your name, publisher, texts and settings. */
import { readFile, writeFile } from 'node:fs/promises'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'

const [vsix = '', own = ''] = process.argv.slice(2)
const files = unzipSync(await readFile(vsix))
const { properties, ...texts } = JSON.parse(await readFile(own, 'utf8'))
const before = JSON.parse(strFromU8(files['extension/package.json']))
const after = { ...before, ...texts }
Object.assign(after.contributes.configuration.properties, properties)
files['extension/package.json'] = strToU8(`${JSON.stringify(after, null, 2)}\n`)

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text) => text.replace(/[&<>"]/g, (character) => ESCAPES[character])
const replaced = ['name', 'publisher', 'displayName', 'description'].reduce(
  (manifest, key) =>
    manifest
      .replace(`="${escaped(before[key])}"`, () => `="${escaped(after[key])}"`)
      .replace(`>${escaped(before[key])}<`, () => `>${escaped(after[key])}<`),
  strFromU8(files['extension.vsixmanifest']),
)
files['extension.vsixmanifest'] = strToU8(replaced)
const name = `${after.name}-${after.version}.vsix`
await writeFile(name, zipSync(files))
process.stdout.write(`${name}\n`)
