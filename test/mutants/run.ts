/**
 * Changes pure modules bit by bit, and counts the changes (mutants) that their direct tests notice:
 * `npm run test:mutants -- [module]…`. Exits with 1 if too few die in a module, or if one that `survivors.ts` doesn't explain
 * survives. Stryker changes the built files, because one process per mutant is then all that a mutant costs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { projectRoot } from '../../src/platform/process/root.js'
import { survivors } from './survivors.js'

const STRYKER = '@stryker-mutator/core@9.5.1'
const LEAST_PERCENT = 85

/** Each module with its direct tests. */
const modules: [file: string, test: string][] = [
  ['src/features/minutes/caps', 'minutes'],
  ['src/platform/time/days', 'days'],
  ['src/platform/time/zones', 'local-days'],
  ['src/platform/time/local-hours', 'local-days'],
  ['src/features/minutes/local-days', 'local-days'],
  ['src/features/editors/choose-days', 'local-days'],
  ['src/features/editors/timeline', 'timeline'],
  ['src/features/rollups/published-week', 'published-weeks'],
  ['src/features/rollups/choose-shown', 'published-weeks'],
  ['src/features/rollups/amounts', 'published-weeks'],
  ['schemas/repo-pattern', 'pattern-texts'],
  ['src/features/settings/settings-merge', 'settings-merge'],
]

interface Place {
  line: number
  column: number
}

interface Mutant {
  status: string
  replacement: string
  location: { start: Place; end: Place }
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

const folder = join(projectRoot, 'build/mutants')

const say = (line: string) => process.stdout.write(`${line}\n`)

/** The report of Stryker. */
const mutate = async (file: string, test: string): Promise<Report> => {
  const name = basename(file)
  const [settings, report] = [join(folder, `${name}.json`), join(folder, `${name}.report.json`)]
  await writeFile(
    settings,
    JSON.stringify({
      mutate: [`build/${file}.js`],
      // The sandbox has the built service and its tests.
      ignorePatterns: ['**', '!package.json', '!build/{src,schemas,client,test}/**', '**/*.map'],
      tempDirName: join(folder, 'sandboxes'),
      testRunner: 'command',
      commandRunner: {
        command: `node --import ./build/test/mutants/quick.js build/test/${test}.test.js`,
      },
      concurrency: 2,
      timeoutMS: 10_000,
      disableTypeChecks: false,
      reporters: ['json'],
      jsonReporter: { fileName: report },
      allowConsoleColors: false,
      logLevel: 'warn',
    }),
  )
  const child = spawn('npx', ['--yes', STRYKER, 'run', settings], {
    cwd: projectRoot,
    env: { ...process.env, TAP_BAIL: '1', RANDOM_TEAMS: '300' },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`Stryker ended with ${code}`)
  return JSON.parse(await readFile(report, 'utf8'))
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The code that a mutant replaces, and its replacement. */
const changeOf = (source: string, { replacement, location: { start, end } }: Mutant): string => {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? ''
  lines[0] = lines[0]?.slice(start.column - 1) ?? ''
  return `${oneLine(lines.join('\n'))} → ${oneLine(replacement)}`
}

await mkdir(folder, { recursive: true })
const chosen = process.argv.slice(2)
const rows = [['module', 'mutants', 'killed', 'score', 'unexplained']]
for (const [file, test] of modules) {
  const name = basename(file)
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const mutants = Object.values((await mutate(file, test)).files).flatMap(({ source, mutants }) =>
    mutants.map((mutant) => ({ isAlive: mutant.status === 'Survived', change: changeOf(source, mutant) })),
  )
  const alive = mutants.filter(({ isAlive }) => isAlive)
  const explained = Object.values(survivors[name] ?? {}).flat()
  const unexplained = alive.filter(({ change }) => !explained.includes(change))
  const killed = mutants.length - alive.length
  const percent = (100 * killed) / mutants.length
  rows.push([name, ...[mutants.length, killed, `${percent.toFixed(1)} %`, unexplained.length].map(String)])
  for (const { change } of unexplained) say(`${name} survives: ${change}`)
  if (percent < LEAST_PERCENT || unexplained.length > 0) process.exitCode = 1
}
for (const [name = '', ...cells] of rows)
  say(name.padEnd(16) + cells.map((cell) => cell.padStart(12)).join(''))
