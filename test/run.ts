/**
 * Runs the test files, several at once, on a throw-away PostgreSQL with a migrated template database.
 * Arguments are test files (`test/settings.test.ts`); none: all files.
 * Set TEST_DATABASE_URL to use another server: a superuser's URL.
 */
import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { projectRoot } from '../src/platform/process/root.js'
import { bundleTests } from './bundled.js'
import { cpuSeconds } from './cpu.js'
import { startTestServer } from './database.js'

/**
 * Each line is a process; they start in this order, long ones first. Files share one because loading the service takes a
 * second of CPU; those that measure their process, or keep it busy, are alone.
 */
const PROCESSES = `
  package
  housekeeping fair-share shared-limits faults
  starts
  web/failures
  web/screens
  stops
  web/tasks
  web/keyboard web/policies web/choices
  uploads
  activity dashboard
  trends account
  requests models
  attack
  sources
  secrets access
  billing settings sign-in
  client-queue client-package
  lifecycle embedded
  backup
  failover upgrades doctor
  keys privacy operator-commands
  ops extension config
  web/reference web/organization web/configuration-file strict-json
  clock database-faults connections driver
  web/serving metrics logs
  prometheus`
const SHARED_BY = 12
const AT_ONCE = 6
/** Ends files that hang. It must be long enough for a busy machine. */
const TIMEOUT_SECONDS = 900

interface Result {
  name: string
  passed: number
  failed: number
  skipped: number
  /** The reports of failed assertions, and what was written to standard error. */
  told: string
  cpu: number
}

type Server = Awaited<ReturnType<typeof startTestServer>>

const say = (line: string) => process.stdout.write(`${line}\n`)

const folder = join(projectRoot, 'build/test')

/**
 * The whole suite runs from a bundle and without source maps, because loading would take most processes longer than their
 * tests. Single files run as they are, with source maps, for people who look for a fault.
 */
const starting = startTestServer(say)
const bundling = process.argv.length > 2 ? undefined : bundleTests()
const bundled = await bundling?.catch(async (error) => {
  await (await starting).stop()
  throw error
})
const server = await starting
const flags = bundled ? [] : ['--enable-source-maps']

const fileOf = bundled?.fileOf ?? ((name: string) => join(folder, name))

const filesOf = (names: string) => names.split(' ').map((name) => `${name}.test.js`)

/** The files that each process runs. */
const findPrograms = async (): Promise<string[][]> => {
  const given = process.argv.slice(2).map((arg) => arg.replace(/^(?:build\/)?test\/(.*)\.[jt]s$/, '$1.js'))
  if (given.length > 0) return given.map((file) => [file])
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.js'))
  const listed = PROCESSES.trim()
    .split('\n')
    .map((line) => filesOf(line.trim()))
  const others = files.filter((file) => !listed.flat().includes(file)).sort()
  const groups = Math.ceil(others.length / SHARED_BY)
  const shared = Array.from({ length: groups }, (_, group) =>
    others.filter((_, index) => index % groups === group),
  )
  return [...listed, ...shared]
}

/** The reports of failed assertions, and of the tests that they are in. */
const failuresOf = (tap: string): string[] =>
  Array.from(tap.matchAll(/^( *)not ok .*\n(?:\1 {2}---\n(?:.*\n)*?\1 {2}\.\.\.$)?/gm), ([block]) => block)

/** A test file prints TAP. */
const run = async (files: string[], server: Server): Promise<Result> => {
  const since = Date.now()
  const program = ['sequential.js', ...files].map(fileOf)
  const child = spawn(process.execPath, [...flags, ...program], {
    cwd: projectRoot,
    env: {
      ...process.env,
      TEST_DATABASE_URL: server.url,
      ...(bundled && { TEST_BUILD: bundled.build }),
      ...(server.folder !== undefined && { TEST_FOLDER: server.folder }),
      TAP_TIMEOUT: `${TIMEOUT_SECONDS}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Tap gives up by itself, and says on what; this is for a program that doesn't end.
    timeout: (TIMEOUT_SECONDS + 10) * 1_000,
    killSignal: 'SIGKILL',
  })
  const exited = new Promise<number | string | null>((resolve) =>
    child.on('exit', (code, signal) => resolve(code ?? signal)),
  )
  const [tap, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  const summary = (name: string) =>
    Number(tap.match(new RegExp(`^# \\{[^}]*\\b${name}: (\\d+)`, 'm'))?.[1] ?? 0)
  const [passed, failures] = [summary('pass'), failuresOf(tap)]
  // A file that ended without a summary has failed as well.
  const failed = Math.max(summary('fail'), code === 0 && summary('total') > 0 ? 0 : 1)
  const name = files.map((file) => file.replace(/\.test\.js$/, '')).join(' ')
  const skipped = summary('skip')
  const counts = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
  const cpu = Number(tap.match(/^# CPU: (.*) s$/m)?.[1])
  const seconds = ((Date.now() - since) / 1_000).toFixed(1)
  say(`${failed ? 'FAIL' : 'PASS'}  ${name}: ${counts}, ${seconds} s, CPU ${cpu} s`)
  const reports = failures.length > 0 ? failures.join('\n') : tap.slice(-5_000)
  const told = failed === 0 ? errors : `${reports}\n${errors}It ended with ${code}.`
  if (told !== '') say(told)
  return { name, passed, failed, skipped, told, cpu }
}

const runAll = async (programs: string[][], server: Server): Promise<Result[]> => {
  const results: Result[] = []
  const waiting = programs.values()
  const work = async () => {
    for (const files of waiting) results.push(await run(files, server))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

let ofFiles = 0
try {
  const results = await runAll(await findPrograms(), server)
  const sum = (of: 'passed' | 'failed' | 'skipped' | 'cpu') =>
    results.reduce((total, result) => total + result[of], 0)
  ofFiles = sum('cpu')
  const failed = results.filter((result) => result.failed > 0)
  // Repeats failures, because they may be far above.
  for (const { name, told } of failed) say(`\nfailed: ${name}\n${told}`)
  say(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
  if (failed.length > 0 || results.length === 0) process.exitCode = 1
} finally {
  await server.stop()
  const { own, started } = cpuSeconds()
  say(
    `CPU: ${own.toFixed(1)} s of this program, ${ofFiles.toFixed(1)} s of the files, and ${(started - ofFiles).toFixed(1)} s of PostgreSQL and the bundler`,
  )
}
process.exit()
