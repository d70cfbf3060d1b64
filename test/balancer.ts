/** HAProxy with the configuration of `ops/` in front of a test's instances. Needs `haproxy`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'
import { freePort, temporaryFolder } from './process.js'
import { until } from './until.js'

/**
 * Only the ports differ from `ops/haproxy.cfg`, and it has no TLS.
 * @returns the URL of the balancer, which then has an instance that is ready
 */
export const startBalancer = async (
  test: { teardown(end: () => unknown): void },
  ports: number[],
): Promise<string> => {
  const front = await freePort()
  const example = await readFile(join(projectRoot, 'ops/haproxy.cfg'), 'utf8')
  const portOf = (nth: string) => ports[Number(nth) - 1]
  const text = example
    .replace(/^ {2}(bind :443|http-request redirect) .*\n/gm, '')
    .replace('bind :80', `bind 127.0.0.1:${front}`)
    .replace(/^ {2}server .*:300([1-4])$\n/gm, (line, nth) =>
      portOf(nth) === undefined ? '' : line.replace(`:300${nth}`, `:${portOf(nth)}`),
    )
  const file = join(await temporaryFolder(test), 'haproxy.cfg')
  await writeFile(file, text)
  const balancer = spawn('haproxy', ['-f', file, '-db', '-q'], { stdio: 'ignore' })
  const gone = once(balancer, 'exit')
  test.teardown(async () => {
    balancer.kill('SIGTERM')
    await gone
  })
  const url = `http://127.0.0.1:${front}`
  await until(async () => (await fetch(`${url}/api/ready`).catch(() => undefined))?.ok, 'the balancer serves')
  return url
}
