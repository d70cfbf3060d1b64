/** What can be said of the machine and of the services that are called. */
import { stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.js'
import { boundedFetch } from '../../platform/http/upstream.js'
import { requiredNode } from '../../platform/process/root.js'
import { type Finding, ok, problem, warning } from './finding.js'

const PATIENCE_MS = 5_000
const GIB = 2 ** 30

export const checkNode = (running: string): Finding => {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const [oldest = 0, minorOfOldest = 0] = requiredNode.split('.').map(Number)
  if (major > oldest || (major === oldest && minor >= minorOfOldest)) return ok('node', `Node ${running}.`)
  return problem(
    'node',
    `It is Node ${running}, and ${requiredNode} or newer is needed.`,
    'Install a newer Node.',
  )
}

/** The folder of the embedded database, and the secret in it. */
export const checkFolder = async ({ databaseUrl, dataDir }: Config): Promise<Finding[]> => {
  if (databaseUrl !== undefined) return []
  const folder = resolve(dataDir)
  const disk = await statfs(folder).catch(() => undefined)
  if (!disk) return [ok('disk', `${folder} does not exist yet: the first start makes it.`)]
  const left = disk.bavail * disk.bsize
  const text = `${(left / GIB).toFixed(1)} GiB are left for ${folder}`
  const secret = await stat(join(folder, 'jwt-secret')).catch(() => undefined)
  return [
    left < GIB
      ? problem(
          'disk',
          `Only ${text}.`,
          'Make room, or set DATA_DIR to another disk and restore a backup there.',
        )
      : ok('disk', `${text}.`),
    ...(secret && (secret.mode & 0o077) !== 0
      ? [
          problem(
            'secrets',
            `Others on this machine can read ${join(folder, 'jwt-secret')}.`,
            'chmod 600 it; if they may have read it, delete it, and everybody signs in anew.',
          ),
        ]
      : []),
  ]
}

/** Any answer at all will do: what is asked for is whether there is a way. */
export const checkReach = async ({ repohost, billing, assistants }: Config): Promise<Finding[]> => {
  const reach = async (name: string, variable: string, url: string, level = warning): Promise<Finding> => {
    try {
      const { status } = await boundedFetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
      if (status < 500) return ok('network', `The ${name} answers (${url}).`)
      return warning('network', `The ${name} (${url}) answers with ${status}.`, 'Try again later.')
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: string }
      return level(
        'network',
        `The ${name} cannot be reached at ${url} (${code ?? (error as Error).name}).`,
        `Correct ${variable}, or let the service through to it.`,
      )
    }
  }
  return Promise.all([
    reach('repository host', 'REPOHOST_API_URL', repohost.apiUrl, problem),
    // Which only the browser login asks.
    ...(repohost.clientId === undefined || repohost.url === repohost.apiUrl
      ? []
      : [reach('login page of the repository host', 'REPOHOST_URL', repohost.url, problem)]),
    ...(billing.secretKey === undefined
      ? []
      : [reach('billing provider', 'BILLING_API_URL', billing.apiUrl ?? 'https://api.stripe.com')]),
    reach('first model provider', 'ASSISTANT_A_URL', assistants.a),
    reach('second model provider', 'ASSISTANT_B_URL', assistants.b),
  ])
}
