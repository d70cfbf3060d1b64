/** How much there is to maintain: lines, files, limits, variables and words of what is committed. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Environment } from '../schemas/environment.js'
import { limits } from '../schemas/limits.js'
import { projectRoot } from '../src/platform/process/root.js'

const list = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { cwd: projectRoot, encoding: 'utf8' })
    .split('\0')
    .filter((name) => name !== '')
const readText = (name: string) => readFileSync(join(projectRoot, name), 'utf8')
const linesOf = (name: string) => readText(name).split('\n').length - 1
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

const src = list('src/*.ts')
const pages = list('*.md').filter((name) => name !== 'CHANGELOG.md')
const { scripts } = JSON.parse(readText('package.json'))
const operations = Object.values(JSON.parse(readText('openapi/openapi.json')).paths as Record<string, object>)

const figures: Record<string, number> = {
  'lines of src': sum(src.map(linesOf)),
  'files in src': src.length,
  'files below 40 lines': src.filter((name) => linesOf(name) < 40).length,
  'lines of schemas': sum(list('schemas/*.ts').map(linesOf)),
  'lines of web': sum(list('web/*.ts', 'web/*.tsx', 'web/*.css').map(linesOf)),
  'lines of test': sum(list('test/*.ts').map(linesOf)),
  'lines in drizzle': sum(list('drizzle').map(linesOf)),
  operations: sum(operations.map((path) => Object.keys(path).filter((name) => name !== 'parameters').length)),
  'named limits': Object.keys(limits).length,
  'environment variables': Object.keys(Environment.properties).length,
  'scripts in package.json': Object.keys(scripts).length,
  'words in Markdown': sum(pages.map((name) => readText(name).split(/\s+/).filter(Boolean).length)),
}
for (const [what, figure] of Object.entries(figures))
  process.stdout.write(`${String(figure).padStart(8)}  ${what}\n`)
