/** Imports the test files that are its arguments, which then run one after the other. */
import asyncHooks from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { cpuSeconds } from './cpu.js'

/**
 * Tap follows every promise, to know in which test an error was thrown that no code awaits. That takes up to a quarter of
 * the time of a file, so tap gets hooks that do nothing, and the whole file fails with such an error.
 */
const { createHook } = asyncHooks
const ignored = { enable: () => ignored, disable: () => ignored }
const setCreateHook = (create: typeof createHook) => {
  asyncHooks.createHook = create
  syncBuiltinESMExports()
}
setCreateHook(() => ignored)
const { t } = await import('tap')
setCreateHook(createHook)
process.on('uncaughtException', (error) => t.threw(error))

// Tap would end once it is idle for a moment, which it may be while the next file prepares its tests.
t.removeAllListeners('idle')
const waiting = process.argv.slice(2)
const used = () => {
  const { own, started } = cpuSeconds()
  return own + started
}
try {
  for (let file = waiting[0]; file !== undefined; file = waiting[0]) {
    const before = used()
    await import(file)
    // It ends after the tests of the file, whose hooks don't know what the next one opens.
    await t.test('all tests in the file have ended', async () => {})
    writeSync(1, `# CPU of ${basename(file)}: ${(used() - before).toFixed(1)} s\n`)
    waiting.shift()
  }
} finally {
  t.end()
}

process.once('exit', () => {
  writeSync(1, `# CPU: ${used().toFixed(1)} s\n`)
})

// Node may turn in circles while it takes itself down (nodejs/node#47748), so it is ended once nothing is left to do.
process.once('beforeExit', () => {
  if (waiting.length > 0) process.exitCode = 1
  process.exit()
})
