/**
 * Runs the test files with tap, in parallel, on a throw-away PostgreSQL with a migrated template database.
 * Arguments are test files (`test/settings.test.ts`) or options of tap; none: all files.
 * Set TEST_DATABASE_URL to use another server: a superuser's URL.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../src/runtime/root.js'
import { startTestServer } from './database.js'

const tapCommand = join(projectRoot, 'node_modules/tap/dist/esm/run.mjs')

const say = (line: string) => process.stdout.write(`${line}\n`)

const runTap = (url: string, outputFile: string) => {
  const args = process.argv.slice(2).map((arg) => arg.replace(/^test\/(.*)\.ts$/, 'build/test/$1.js'))
  const files = args.some((arg) => arg.endsWith('.js')) ? [] : ['build/test/**/*.test.js']
  const tap = spawn(
    process.execPath,
    [tapCommand, '--reporter=base', `--output-file=${outputFile}`, ...args, ...files],
    { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: url, CI: 'true' } },
  )
  return new Promise<number>((resolve) => tap.on('exit', (code) => resolve(code ?? 1)))
}

/** The assertions of all files: each is `ok` or `not ok` at the innermost level of the TAP text. */
const countAssertions = (tapText: string) => {
  const summary = (name: string) =>
    Number(tapText.match(new RegExp(`^ {0,2}# \\{[^}]*\\b${name}: (\\d+)`, 'm'))?.[1] ?? 0)
  return { passed: summary('pass'), failed: summary('fail') }
}

/** What failed assertions say of themselves, which the reporter leaves out when it also writes a file. */
const failuresOf = (tapText: string): string[] => {
  const failures = tapText.matchAll(/^( *)not ok .*\n\1 {2}---\n(?:.*\n)*?\1 {2}\.\.\.$/gm)
  return Array.from(failures, ([block]) => block).filter((block) => /^ *(diff|compare):/m.test(block))
}

const server = await startTestServer(say)
let code = 1
const output = await mkdtemp(join(tmpdir(), 'team-settings-tap-'))
try {
  const outputFile = join(output, 'all.tap')
  code = await runTap(server.url, outputFile)
  const tapText = await readFile(outputFile, 'utf8')
  const { passed, failed } = countAssertions(tapText)
  if (failed > 0) say(`\n${failuresOf(tapText).join('\n')}`)
  // On a line of its own: the reporter ends with a control sequence and no line feed.
  say(`\n${passed} passed, ${failed} failed`)
} finally {
  await server.stop()
  await rm(output, { recursive: true, force: true })
}
process.exit(code)
