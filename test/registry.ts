/** A package registry that has what is installed here, so that a test can run `npm install` without the network. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'

interface Test {
  teardown(work: () => unknown): void
}

/**
 * @param aliases where a package lies, if not under its own name
 * @returns its address, and the names that were asked for
 */
export const startRegistry = async (test: Test, aliases: Record<string, string> = {}) => {
  const asked = new Set<string>()
  const folderOf = (name: string) => join(projectRoot, 'node_modules', aliases[name] ?? name)
  const server = createServer(async (request, response) => {
    const [path = '', tarballOf] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('?tarball=')
    if (tarballOf !== undefined) {
      const options = ['-c', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.']
      return spawn('tar', options, { cwd: folderOf(tarballOf) }).stdout.pipe(response)
    }
    asked.add(path)
    try {
      const manifest = JSON.parse(await readFile(join(folderOf(path), 'package.json'), 'utf8'))
      const { version } = manifest
      const dist = { tarball: `${addressOf()}?tarball=${encodeURIComponent(path)}` }
      const versions = { [version]: { ...manifest, name: path, dist } }
      response.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions }))
    } catch {
      response.writeHead(404).end('{}')
    }
  })
  const addressOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  test.teardown(() => server.close())
  return { url: addressOf(), asked }
}
