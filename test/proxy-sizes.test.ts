/** Every example of a proxy takes the largest body that the service accepts, and a little more. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { projectRoot } from '../src/platform/process/root.js'

const MIB = 2 ** 20
const largest = Math.max(
  ...Object.entries(limits).flatMap(([name, value]) => (name.endsWith('body_bytes') ? [value] : [])),
)

const sizes: Record<string, RegExp> = {
  'ops/nginx.conf': /client_max_body_size (\d+)m;/,
  'ops/Caddyfile.plain': /max_size (\d+)MiB/,
  'ops/compose/Caddyfile': /max_size (\d+)MiB/,
  'ops/kubernetes/ingress.yaml': /proxy-body-size: (\d+)m$/m,
  'docs/install.md': /Allow (\d+) MiB in the proxy/,
}

t.test('a proxy leaves rejecting bodies that are too large to the service', async (t) => {
  t.equal(largest, limits.import_body_bytes)
  for (const [file, pattern] of Object.entries(sizes)) {
    const text = await readFile(join(projectRoot, file), 'utf8')
    t.equal(Number(text.match(pattern)?.[1]) * MIB, largest + MIB, file)
  }
  const guide = await readFile(join(projectRoot, 'docs/install.md'), 'utf8')
  t.equal(Number(guide.match(/LimitRequestBody (\d+)/)?.[1]), largest + MIB, 'Apache')
  // HAProxy has no limit of its own.
  t.notMatch(await readFile(join(projectRoot, 'ops/haproxy.cfg'), 'utf8'), /req\.body_size|content-length/)
})
