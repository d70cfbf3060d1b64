/** Runs the service for development: when a source changes, what it changes is built and the service starts anew. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd, run } from '../src/runtime/program.js'
import { projectRoot } from '../src/runtime/root.js'

const start = (...args: string[]) => {
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' })
  const ended = once(child, 'exit')
  atEnd(async (hurry) => {
    child.kill('SIGTERM')
    hurry.addEventListener('abort', () => forceEnd(child))
    await ended
  })
}

const forceEnd = (child: ChildProcess) => child.kill('SIGKILL')

run(async () => {
  const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc')
  start(compiler, '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput')
  start('--watch', '--watch-preserve-output', '--enable-source-maps', 'build/src/server.js')
})
