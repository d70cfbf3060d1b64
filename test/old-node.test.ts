/** A Node that is too old runs no program, and gets a sentence instead of a SyntaxError. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { tooOldNode } from '../src/platform/process/node-support.js'
import { projectRoot, requiredNode } from '../src/platform/process/root.js'

const source = join(projectRoot, 'src')
/** These write files of the repository. */
const ofDevelopers = ['bin/openapi.ts', 'bin/config-docs.ts']

t.test('every program checks its Node version before it imports anything else', async (t) => {
  const commands = (await readdir(join(source, 'bin'))).map((name) => `bin/${name}`)
  const programs = ['server.ts', ...commands].filter((name) => !ofDevelopers.includes(name))
  t.ok(programs.length > 10)
  for (const name of programs) {
    const [first] = (await readFile(join(source, name), 'utf8')).match(/^import .*$/m) ?? []
    t.match(first, /^import '\.{1,2}\/platform\/process\/require-node\.js'$/, name)
  }
})

t.test(
  'no module imports names that Node 18 lacks, because linking fails before the check runs',
  async (t) => {
    const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.ts'))
    t.ok(files.length > 100)
    const missing =
      /import \{[^}]*\b(parseEnv|styleText|getCallSites|globSync|glob|loadEnvFile)\b[^}]*\} from 'node:/
    for (const name of files) t.notMatch(await readFile(join(source, name), 'utf8'), missing, name)
  },
)

t.test('the error names both versions', async (t) => {
  t.equal(tooOldNode(requiredNode), undefined)
  t.equal(tooOldNode('99.0.0'), undefined)
  t.equal(tooOldNode('18.20.8'), `This is Node 18.20.8, but the service needs ${requiredNode} or newer.`)
})
