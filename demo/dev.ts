/**
 * Runs the service for development: when a source file changes, rebuilds what depends on it, and restarts the service.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { readArguments } from '../src/platform/process/arguments.js'
import { onExit, run } from '../src/platform/process/program.js'
import { projectRoot } from '../src/platform/process/root.js'

const USAGE = `npm run dev

  The service as \`npm start\` runs it; rebuilds and restarts whenever a source changes.
`

const start = (...args: string[]) => {
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' })
  const ended = once(child, 'exit')
  onExit(async (forceSignal) => {
    child.kill('SIGTERM')
    forceSignal.addEventListener('abort', () => forceEnd(child))
    await ended
  })
}

const forceEnd = (child: ChildProcess) => child.kill('SIGKILL')

/** The sources of the page, including those that it shares. */
const PAGE_SOURCES = ['web', 'client/src', 'schemas']
/** Editors write a file in several steps, so a rebuild waits for the last one. */
const WRITTEN_MS = 100

/** Rebuilds the page when one of its sources changes, and restarts the service, which reads the page at startup. */
const keepPage = (server: string, stopped: AbortSignal) => {
  let timer: NodeJS.Timeout | undefined
  let building: Promise<unknown> = Promise.resolve()
  const build = async () => {
    const child = spawn(process.execPath, ['web/build.mjs'], { cwd: projectRoot, stdio: 'inherit' })
    const [code] = await once(child, 'exit')
    // The service restarts when its file is touched.
    if (code === 0) await utimes(join(projectRoot, server), new Date(), new Date())
  }
  for (const folder of PAGE_SOURCES) {
    watch(join(projectRoot, folder), { recursive: true, signal: stopped }, () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        building = building.then(build)
      }, WRITTEN_MS)
    })
  }
  stopped.addEventListener('abort', () => clearTimeout(timer))
}

run(async (stopped) => {
  if (!readArguments('dev', USAGE, {})) return
  // The native compiler keeps running when its launcher gets SIGTERM.
  const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc6')
  const server = 'build/src/server.js'
  start(compiler, '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput')
  start('--watch', '--watch-preserve-output', '--enable-source-maps', server)
  keepPage(server, stopped)
})
