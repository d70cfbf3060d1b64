import { spawn, spawnSync } from 'node:child_process'
import { get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase } from './database.js'
import { freePort, onDatabase, programFile } from './process.js'
import { until } from './until.js'

const hasScript = spawnSync('script', ['--version']).status === 0

t.test(
  'on a terminal, lines are readable, and Ctrl-C shows what the shutdown is waiting for',
  { skip: hasScript ? false : 'there is no `script` here to make a terminal' },
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const port = await freePort()
    const command = `exec ${process.execPath} ${programFile('src/server')}`
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, PORT: String(port), ...onDatabase(url) },
    })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    t.teardown(() => child.kill('SIGKILL'))
    const lastLine = `  Open http://127.0.0.1:${port} in a browser and sign in with a GitHub token.\r\n`
    await until(() => output.endsWith(lastLine), 'the last line of the start says how to sign in')
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
      ),
    ).on('error', () => {})
    t.teardown(() => socket.destroy())
    await fetch(`http://127.0.0.1:${port}/api/nowhere`)
    await until(() => /INFO.*GET \/api\/… 404 in [0-9.]+ ms/.test(output), 'the request is logged')
    // This only looks like an escape, and `fetch` would normalize it.
    get({ port, path: '/api/settings/\\u001b[31m' }).on('error', () => {})
    await until(() => output.includes('GET /api/settings/… 404 in'), 'that request is logged as well')
    t.notMatch(output, 'u001b', 'without what the caller has chosen')
    t.notMatch(output, /"level"/, 'nothing is JSON')
    child.stdin.write('\x03')
    await until(
      () => output.includes('1 request is in progress; a second Ctrl-C ends at once'),
      'it says what it waits for',
    )
    // Later than the echo that npm makes of the first.
    await sleep(600)
    child.stdin.write('\x03')
    t.equal(await ended, 1)
  },
)
