/** Instructions install nothing under a name that a stranger can claim, and name this version of the service. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'

const FOLDERS = [
  'bench',
  'client',
  'demo',
  'docs',
  'examples',
  'extension',
  'ops',
  'patches',
  'schemas',
  'src',
  'web',
]
const TEXTS = /(\.(md|ts|tsx|mjs|json|ya?ml|sh|cfg|service)|Dockerfile)$/
const MADE = /(^|\/)(node_modules|dist|out)\//

const filesOf = async (folder: string) =>
  (await readdir(join(projectRoot, folder), { recursive: true })).map((name) => join(folder, name))

const readDocuments = async (): Promise<[string, string][]> => {
  const top = (await readdir(projectRoot)).filter((name) => !/^package(-lock)?\.json$/.test(name))
  const files = [...top, ...(await Promise.all(FOLDERS.map(filesOf))).flat()]
  const texts = files.filter((file) => TEXTS.test(file) && !MADE.test(file))
  return Promise.all(
    texts.map(
      async (file): Promise<[string, string]> => [file, await readFile(join(projectRoot, file), 'utf8')],
    ),
  )
}

const read = (file: string) => readFile(join(projectRoot, file), 'utf8')

const documents = await readDocuments()

const COMMAND =
  /\b(npx|npm (?:install|i|add|exec|create|init)|(?:yarn|pnpm|bun) (?:add|dlx|create)) ([^`'\n|;&<]*)/g

/** The packages that a package manager's command fetches: the package of `-p`, otherwise the first word that is no option. */
const packagesOf = ([word, ...others]: string[]): string[] => {
  // With `--no`, npx runs only what is installed.
  if (word === undefined || word === '--no') return []
  if (/^(-p|--package)$/.test(word)) return others.slice(0, 1)
  return word.startsWith('-') ? packagesOf(others) : [word]
}

/** A file, a folder or an address, and not a name or `owner/repo`, which the registry or GitHub resolves. */
const isPlace = (word: string) => /^"?(\.{0,2}\/|https?:\/\/|\$[A-Z_]+\/)/.test(word)

const unclaimedIn = (text: string, trusted: Set<string>): string[] =>
  Array.from(text.matchAll(COMMAND), ([, , rest = '']) => rest.trim().split(/\s+/))
    .flatMap((words) => packagesOf(words))
    .filter(
      (word) => /^["$@./a-z]/.test(word) && !isPlace(word) && !trusted.has(word.replace(/(?<=.)@[^@]*$/, '')),
    )

t.test('installation instructions only name this project’s dependencies', async (t) => {
  const { packages } = JSON.parse(await readFile(join(projectRoot, 'package-lock.json'), 'utf8'))
  const trusted = new Set(
    Object.entries<{ link?: boolean; bin?: object }>(packages)
      .filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
      .flatMap(([path, { bin = {} }]) => [path.slice('node_modules/'.length), ...Object.keys(bin)]),
  )
  t.strictSame(
    [
      'npx team-settings-cloud doctor',
      'npm install --no-save @team-settings/client',
      'npm install team/settings',
      'npx -p team-settings-cloud doctor',
      'npx patch-package',
      'npm install --global ./team-settings-cloud-1.1.0.tgz',
      'npx -p ./x.tgz team-settings-cloud',
      'npx --no team-settings',
      'npm install "$SERVICE/api/client-1.1.0.tgz"',
    ].flatMap((text) => unclaimedIn(text, trusted)),
    ['team-settings-cloud', '@team-settings/client', 'team/settings', 'team-settings-cloud'],
    'the test finds what it looks for',
  )
  t.ok(documents.length > 200)
  const found = documents.flatMap(([file, text]) =>
    unclaimedIn(text, trusted).map((name) => `${file}: ${name}`),
  )
  t.strictSame(found, [])
})

t.test('client download URLs have this service’s version', async (t) => {
  const found = documents.flatMap(([file, text]) =>
    Array.from(
      text.matchAll(/\b(?:client|team-settings-cloud)-(\d+\.\d+\.\d+)\.tgz/g),
      ([, version]) => `${file}: ${version}`,
    ),
  )
  t.ok(found.length >= 4)
  t.strictSame(
    found.filter((line) => !line.endsWith(`: ${serviceVersion}`)),
    [],
  )
})

/** Markdown without its code. */
const proseOf = (text: string) => text.replaceAll(/^( *)```.*?^\1```$/gms, '')
/** The id of a heading, as Git hosts make it. */
const idOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-')

t.test('links between documents lead to existing files and headings', async (t) => {
  const pages = new Map(documents.filter(([file]) => file.endsWith('.md')))
  const headings = new Map(
    Array.from(pages, ([file, text]) => [
      file,
      Array.from(proseOf(text).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => idOf(heading)),
    ]),
  )
  let followed = 0
  for (const [file, text] of pages) {
    for (const [, href = ''] of proseOf(text).matchAll(/\]\((?!https?:|\/)([^)\s]+)\)/g)) {
      const [path = '', id] = href.split('#')
      const target = path ? join(dirname(file), path) : file
      t.ok(await stat(join(projectRoot, target)).catch(() => false), `${file}: ${href}`)
      if (id) t.ok(headings.get(target)?.includes(id), `${file}: ${href}`)
      followed++
    }
  }
  t.ok(followed > 100)
})

t.test('every alert links to its section, and every section lists its alerts', async (t) => {
  const files = await Promise.all(['ops/alerts.yaml', 'ops/alerts-exporters.yaml'].map(read))
  const byAlert = files.flatMap((text) =>
    Array.from(
      text.matchAll(/- alert: (\w+)[\s\S]*?runbook: docs\/troubleshoot\.md#(\S+)/g),
      ([, alert = '', id = '']) => `${alert}: ${id}`,
    ),
  )
  const [, chapter = ''] = (await read('docs/troubleshoot.md')).match(/^## Alerts\n([\s\S]*?)^## /m) ?? []
  const byParagraph = chapter
    .split(/^### /m)
    .slice(1)
    .flatMap((paragraph) => {
      const [heading = '', , first = ''] = paragraph.split('\n')
      const alerts = Array.from(first.matchAll(/`(TeamSettings\w+)`/g), ([, alert]) => alert)
      return alerts.length > 0 ? alerts.map((alert) => `${alert}: ${idOf(heading)}`) : [`none: ${heading}`]
    })
  t.ok(byAlert.length > 20)
  t.same(byParagraph.toSorted(), byAlert.toSorted())
})

t.test('commands mentioned in documents exist', async (t) => {
  const { scripts } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))
  const named = documents
    .filter(([file]) => /^(README|CONTRIBUTING|SECURITY|docs\/.*|bench\/README)\.md$/.test(file))
    .flatMap(([file, text]) =>
      Array.from(
        text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g),
        ([, name = '']) => [file, name] as const,
      ),
    )
  t.ok(named.length > 50)
  for (const [file, name] of named) t.ok(Object.hasOwn(scripts, name), `${file}: npm run ${name}`)
})

t.test('files of the sources that documents name exist', async (t) => {
  const named = documents
    .filter(([file]) => /^(CONTRIBUTING|docs\/(glossary|decisions\/.*))\.md$/.test(file))
    .flatMap(([file, text]) =>
      Array.from(text.matchAll(/`((?:src|schemas)\/[\w/.-]+)`/g), ([, name = '']) => [file, name] as const),
    )
  t.ok(named.length > 40)
  for (const [file, name] of named)
    t.ok(await stat(join(projectRoot, name)).catch(() => false), `${file}: ${name}`)
})
