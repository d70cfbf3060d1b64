/** npm run test:node -- 24: installs, builds and tests in a copy of the last commit, on the newest Node of that line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [line = ''] = process.argv.slice(2)
if (!/^\d+(\.\d+\.\d+)?$/.test(line)) {
  process.stderr.write('Name a line of Node: npm run test:node -- 24\n')
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), `node-${line}-`))
// If root runs the tests, some of them start Node as another user, who needs access.
chmodSync(folder, 0o755)
try {
  const platform = `${process.platform}-${process.arch}`
  execFileSync('npm', ['install', '--prefix', join(folder, 'node'), `node-${platform}@${line}`], {
    stdio: 'inherit',
  })
  execFileSync('git', ['clone', '--quiet', '.', join(folder, 'service')], { stdio: 'inherit' })
  const bin = join(folder, `node/node_modules/node-${platform}/bin`)
  const { status } = spawnSync('sh', ['-c', 'node --version && npm ci && npm test'], {
    cwd: join(folder, 'service'),
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
