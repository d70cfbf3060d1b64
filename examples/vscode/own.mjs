/**
 * node examples/vscode/own.mjs EXTENSION.vsix OWN.json gives an extension your name, publisher, texts, commands and settings.
 * It needs nothing but Node.js.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Signatures of a zip archive's parts: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT */
const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50]
const DEFLATED = 8
const NAMES_ARE_UTF8 = 0x800
/** 1 January 1980 */
const DATE = 0x21

const crc32 = (bytes) => {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const unzip = (archive) => {
  const files = new Map()
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end < 0) throw new Error('This is no VSIX package.')
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size] = [archive.readUInt16LE(at + 10), archive.readUInt32LE(at + 20)]
    const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset))
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const content = archive.subarray(start, start + size)
    const path = archive.toString('utf8', at + 46, at + 46 + name)
    files.set(path, method === DEFLATED ? inflateRawSync(content) : content)
    at += 46 + name + extra + comment
  }
  return files
}

const zip = (files) => {
  const parts = []
  const entries = []
  let at = 0
  for (const [path, content] of files) {
    const [name, packed] = [Buffer.from(path), deflateRawSync(content, { level: 9 })]
    const header = Buffer.alloc(26)
    for (const [offset, value] of [20, NAMES_ARE_UTF8, DEFLATED, 0, DATE].entries())
      header.writeUInt16LE(value, offset * 2)
    header.writeUInt32LE(crc32(content), 10)
    header.writeUInt32LE(packed.length, 14)
    header.writeUInt32LE(content.length, 18)
    header.writeUInt16LE(name.length, 22)
    const [local, central, rest] = [Buffer.alloc(4), Buffer.alloc(6), Buffer.alloc(14)]
    local.writeUInt32LE(LOCAL)
    central.writeUInt32LE(CENTRAL)
    central.writeUInt16LE(20, 4)
    rest.writeUInt32LE(at, 10)
    parts.push(local, header, name, packed)
    entries.push(central, header, rest, name)
    at += local.length + header.length + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END)
  for (const offset of [8, 10]) end.writeUInt16LE(files.size, offset)
  end.writeUInt32LE(Buffer.concat(entries).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...entries, end])
}

const [vsix = '', own = ''] = process.argv.slice(2)
const files = unzip(await readFile(vsix))
const { properties, ...texts } = JSON.parse(await readFile(own, 'utf8'))
const before = JSON.parse(files.get('extension/package.json'))
const { name, displayName } = { ...before, ...texts }
if (!/^[a-z][a-z0-9-]*$/i.test(name)) throw new Error('The name needs letters, digits and hyphens.')

/** The prefix of names that people see and type. Two extensions in the same editor can’t share it. */
const id = name.replace(/-+(.?)/g, (_, letter) => letter.toUpperCase())
const renamed = (text) =>
  text.replaceAll('teamSettings', id).replaceAll(before.displayName, () => displayName)
const renamedIn = (value) => {
  if (typeof value === 'string') return renamed(value)
  if (Array.isArray(value)) return value.map(renamedIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [renamed(key), renamedIn(inner)]))
}
const after = { ...renamedIn(before), ...texts }
Object.assign(after.contributes.configuration.properties, properties)
const change = (path, text) => files.set(path, Buffer.from(text))
change('extension/package.json', `${JSON.stringify(after, null, 2)}\n`)
for (const path of files.keys()) {
  if (path.endsWith('.md')) change(path, renamed(`${files.get(path)}`))
  // The code reads all other names from the manifest.
  if (path.endsWith('.cjs')) change(path, `${files.get(path)}`.replaceAll('teamSettings', id))
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text) => text.replace(/[&<>"]/g, (character) => ESCAPES[character])
const identity = (of) => ['name', 'version', 'publisher'].map((key) => escaped(of[key]))
const [oldName, oldVersion, oldPublisher] = identity(before)
const [newName, newVersion, newPublisher] = identity(after)
const link = (of) => of?.url?.replace('git+', '') ?? ''
const pairs = [
  [
    `Id="${oldName}" Version="${oldVersion}" Publisher="${oldPublisher}"`,
    `Id="${newName}" Version="${newVersion}" Publisher="${newPublisher}"`,
  ],
  ...['displayName', 'description'].map((key) => [`>${escaped(before[key])}<`, `>${escaped(after[key])}<`]),
  ...['repository', 'bugs'].map((key) => [`"${link(before[key])}"`, `"${escaped(link(after[key]))}"`]),
]
change(
  'extension.vsixmanifest',
  pairs.reduce((text, [from, to]) => text.replace(from, () => to), `${files.get('extension.vsixmanifest')}`),
)
const file = `${after.name}-${after.version}.vsix`
await writeFile(file, zip(files))
process.stdout.write(`${file}\n`)
