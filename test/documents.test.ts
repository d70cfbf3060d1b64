/** Instructions install nothing by a name that a stranger can claim, and name the version of this service. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'

const FOLDERS = ['bench', 'client', 'demo', 'docs', 'examples', 'ops', 'patches', 'src', 'web']
const TEXTS = /(\.(md|ts|tsx|mjs|json|ya?ml|sh|cfg|service)|Dockerfile)$/
const MADE = /(^|\/)(node_modules|dist|out)\//

const filesOf = async (folder: string) =>
  (await readdir(join(projectRoot, folder), { recursive: true })).map((name) => join(folder, name))

const documents = async (): Promise<[string, string][]> => {
  const top = (await readdir(projectRoot)).filter((name) => !/^package(-lock)?\.json$/.test(name))
  const files = [...top, ...(await Promise.all(FOLDERS.map(filesOf))).flat()]
  const texts = files.filter((file) => TEXTS.test(file) && !MADE.test(file))
  return Promise.all(
    texts.map(
      async (file): Promise<[string, string]> => [file, await readFile(join(projectRoot, file), 'utf8')],
    ),
  )
}

const COMMAND =
  /\b(npx|npm (?:install|i|add|exec|create|init)|(?:yarn|pnpm|bun) (?:add|dlx|create)) ([^`'\n|;&<]*)/g

/** What a command of a package manager fetches: the package of `-p`, otherwise the first word that is no option. */
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

t.test('no instruction installs a package by a name that is not a dependency of this project', async (t) => {
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
  const texts = await documents()
  t.ok(texts.length > 200)
  const found = texts.flatMap(([file, text]) => unclaimedIn(text, trusted).map((name) => `${file}: ${name}`))
  t.strictSame(found, [])
})

t.test('addresses of the client have the version of this service', async (t) => {
  const found = (await documents()).flatMap(([file, text]) =>
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
