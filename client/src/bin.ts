#!/usr/bin/env node
/** Starts the command, or says that Node is too old for what it imports. */
import { readFileSync } from 'node:fs'

const OLDEST = 20
const { versions, argv, env, stdout, stderr, allowedNodeEnvironmentFlags } = process

const start = async () => {
  const { run } = await import('./command.js')
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.exitCode = await run(argv.slice(2), {
    env,
    version,
    isTerminal: stdout.isTTY === true,
    usesProxy: env.NODE_USE_ENV_PROXY === '1' && allowedNodeEnvironmentFlags.has('--use-env-proxy'),
    write: (text) => void stdout.write(text),
    fail: (text) => void stderr.write(text),
  })
}

if (Number.parseInt(versions.node, 10) >= OLDEST) void start()
else {
  stderr.write(`team-settings needs Node ${OLDEST} or newer. This is Node ${versions.node}.\n`)
  process.exitCode = 1
}
