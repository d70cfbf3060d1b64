/**
 * Runs the test files with tap, in parallel, on a throw-away PostgreSQL with a migrated template database.
 * Arguments are test files (`test/settings.test.ts`) or options of tap; none: all files.
 * Set TEST_DATABASE_URL to use another server: a superuser's URL.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { migrate } from '../src/db/migrate.js'
import { startThrowAwayDatabase } from '../src/demo/database.js'
import { projectRoot } from '../src/root.js'
import { TEMPLATE_DATABASE, withDatabase } from './database.js'

const tapCommand = join(projectRoot, 'node_modules/tap/dist/esm/run.mjs')

/** Room for the databases of all files that run at once, and for PostgreSQL's log of changes. */
const ENOUGH_BYTES = 2 ** 31

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Every test gets a database, of hundreds of files: where memory can serve as a disk, that takes a tenth of the time. */
const findFastFolder = async () => {
  const disk = await statfs('/dev/shm').catch(() => undefined)
  return disk && disk.bavail * disk.bsize >= ENOUGH_BYTES ? '/dev/shm' : undefined
}

const startServer = async () => {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const log = { info: say, warn: say, error: say }
  return startThrowAwayDatabase({ maxConnections: 300, durable: false, log }, await findFastFolder())
}

const prepareTemplate = async (url: string) => {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${TEMPLATE_DATABASE}`)
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`)
  await admin.end()
  await migrate(withDatabase(url, TEMPLATE_DATABASE))
}

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

const server = await startServer()
let code = 1
const output = await mkdtemp(join(tmpdir(), 'team-settings-tap-'))
try {
  await prepareTemplate(server.url)
  const outputFile = join(output, 'all.tap')
  code = await runTap(server.url, outputFile)
  const { passed, failed } = countAssertions(await readFile(outputFile, 'utf8'))
  // On a line of its own: the reporter ends with a control sequence and no line feed.
  say(`\n${passed} passed, ${failed} failed`)
} finally {
  await server.stop()
  await rm(output, { recursive: true, force: true })
}
process.exit(code)
