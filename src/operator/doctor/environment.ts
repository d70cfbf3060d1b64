/** Checks the machine and the external services. */

import { realpath, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { variables } from '../../../schemas/environment.js'
import type { Config } from '../../config.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { boundedFetch } from '../../platform/http/upstream.js'
import { codeOf } from '../../platform/process/code-of.js'
import { giveMemory, tooLittleMemory } from '../../platform/process/memory.js'
import { tooOldNode, unsupportedNode, upgradeNode } from '../../platform/process/node-support.js'
import { redisFault, tryRedis } from '../../platform/rate-limits/redis.js'
import { backupFolderFault } from '../backup/scheduled.js'
import { type Finding, ok, problem, warning } from './finding.js'

const TIMEOUT_MS = 5_000
const GIB = 2 ** 30

export const checkNode = (running: string, now?: Date): Finding => {
  const tooOld = tooOldNode(running)
  if (tooOld !== undefined) return problem('node', tooOld, 'Install a newer Node.')
  const unsupported = unsupportedNode(running, now)
  return unsupported ? warning('node', unsupported, upgradeNode) : ok('node', `Node ${running}.`)
}

export const checkMemory = (mib: number): Finding => {
  const tooLittle = tooLittleMemory(mib)
  return tooLittle
    ? warning('memory', tooLittle, giveMemory)
    : ok('memory', `The service may use ${mib} MiB.`)
}

/** The embedded database's folder, and the secret in it. */
export const checkFolder = async ({ databaseUrl, dataDir }: Config): Promise<Finding[]> => {
  if (databaseUrl !== undefined) return []
  const folder = resolve(dataDir)
  const disk = await statfs(folder).catch(() => undefined)
  if (!disk) return [ok('disk', `${folder} doesn’t exist yet: the first start creates it.`)]
  const left = disk.bavail * disk.bsize
  const text = `${(left / GIB).toFixed(1)} GiB are free for ${folder}`
  const secrets = ['jwt-secret', 'webhook-key'].map((name) => join(folder, name))
  const readable: string[] = []
  for (const file of secrets) {
    if ((await stat(file).catch(() => undefined)) && (await isReadable(file, GROUP_AND_OTHERS)))
      readable.push(file)
  }
  return [
    left < GIB
      ? problem(
          'disk',
          `Only ${text}.`,
          'Free space, or set DATA_DIR to another disk and restore a backup there.',
        )
      : ok('disk', `${text}.`),
    ...readable.map((file) =>
      problem(
        'secrets',
        `Others on this machine can read ${file}.`,
        file.endsWith('jwt-secret')
          ? 'Run `chmod 600` on it. If others may have read it, delete it: everyone then has to sign in again.'
          : 'Run `chmod 600` on it. If others may have read it, delete it, and create the webhooks of all workspaces again.',
      ),
    ),
  ]
}

/** Execute permissions, which are what it takes to pass through a folder. */
const [GROUP_AND_OTHERS, OTHERS] = [0o011, 0o001]

/** Whether any of these users may read a file and pass through every folder above it. */
const isReadable = async (file: string, who: number): Promise<boolean> => {
  const path = await realpath(file)
  if (((await stat(path)).mode & (who << 2)) === 0) return false
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (((await stat(folder)).mode & who) === 0) return false
  return true
}

/** The folder for secrets in containers. Everyone in the container can read them, which means only the service. */
const MOUNTED = /^(\/var)?\/run\/secrets\//

/** A group, such as the service's, may read them. */
export const checkSecretFiles = async (env: NodeJS.ProcessEnv): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const [name, { secret }] of Object.entries(variables)) {
    const file = env[`${name}_FILE`]?.trim()
    if (!secret || !file || MOUNTED.test(resolve(file))) continue
    if (await isReadable(file, OTHERS))
      findings.push(
        warning(
          'secrets',
          `Everyone on this machine can read ${file}, which ${name}_FILE names.`,
          'Run `chmod o-rwx` on it. If others may have read it, change the secret.',
        ),
      )
  }
  return findings
}

/** The folder of daily backups, as this user sees it. */
export const checkBackupFolder = async ({ backups: { folder } }: Config): Promise<Finding[]> => {
  const fault = folder === undefined ? undefined : await backupFolderFault(folder)
  return fault ? [problem('backup', fault.message, fault.remedy)] : []
}

/** Whether the service is what answers at the addresses that people use. */
export const checkAddresses = async ({ baseUrl, siteUrl, isBaseUrlSet }: Config): Promise<Finding[]> => {
  const named: [variable: string, url: string][] = [
    ...(isBaseUrlSet ? [['BASE_URL', baseUrl] as [string, string]] : []),
    ...(siteUrl === undefined || siteUrl === baseUrl ? [] : [['SITE_URL', siteUrl] as [string, string]]),
  ]
  return (await Promise.all(named.map(([variable, url]) => checkAddress(variable, url)))).flat()
}

const checkAddress = async (variable: string, url: string): Promise<Finding[]> => {
  const about = 'addresses'
  const healthUrl = `${url}/api/health`
  try {
    const response = await boundedFetch(healthUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const health = ((await response.json().catch(() => undefined)) ?? {}) as {
      ok?: unknown
      version?: unknown
    }
    if (response.status === 200 && health.ok === true && typeof health.version === 'string')
      return [ok(about, `The service answers at ${variable} (${url}), version ${health.version}.`)]
    if ([502, 503, 504].includes(response.status))
      return [
        warning(
          about,
          `A proxy answers at ${variable} (${healthUrl} returns ${response.status}), but it doesn’t reach the service.`,
          'Start the service, or correct the address of the service in the proxy.',
        ),
      ]
    return [
      problem(
        about,
        `Something else answers at ${variable}: ${healthUrl} returns ${response.status} and isn’t the service.`,
        variable === 'SITE_URL'
          ? 'Correct SITE_URL, or let that server pass /api/ on to the service.'
          : 'Correct BASE_URL, or the address of the service in the proxy.',
      ),
    ]
  } catch (error) {
    const code = codeOf(error)
    return [
      warning(
        about,
        `Nothing answers at ${variable} (${healthUrl}: ${code ?? (error as Error).name}).`,
        `Start the service and its proxy, or correct ${variable}. From inside a network, a public address may be out of reach: then check it from outside.`,
      ),
    ]
  }
}

/** Any response is fine, except that the repository host must be of the configured kind. */
export const checkReachability = async ({
  baseUrl,
  repohost,
  billing,
  assistants,
}: Config): Promise<Finding[]> => {
  const reach = async (
    name: string,
    variable: string,
    url: string,
    level = warning,
    inspect: (response: Response) => Finding | undefined | Promise<Finding | undefined> = () => undefined,
  ): Promise<Finding> => {
    try {
      const response = await boundedFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      const { status } = response
      const finding = status < 500 ? await inspect(response) : undefined
      if (finding) return finding
      if (status < 500) return ok('network', `The ${name} responds (${url}).`)
      return warning('network', `The ${name} (${url}) returns ${status}.`, 'Try again later.')
    } catch (error) {
      const code = codeOf(error)
      return level(
        'network',
        `The ${name} can’t be reached at ${url} (${code ?? (error as Error).name}).`,
        `Correct ${variable}, or allow the service to reach it.`,
      )
    }
  }
  return Promise.all([
    reach(
      'repository host',
      'REPOHOST_API_URL',
      repohost.apiUrl + hostKinds[repohost.kind].probePath,
      problem,
      (response) => checkKind(repohost, response),
    ),
    // Only the browser sign-in uses this page.
    ...(repohost.clientId === undefined || repohost.url === repohost.apiUrl
      ? []
      : [reach('login page of the repository host', 'REPOHOST_URL', repohost.url, problem)]),
    ...(billing.secretKey === undefined
      ? []
      : [reach('billing provider', 'BILLING_API_URL', billing.apiUrl ?? 'https://api.stripe.com')]),
    ...(repohost.kind === 'gitlab' ? [checkSlashes(baseUrl)] : []),
    reach('first model provider', 'ASSISTANT_A_URL', assistants.a),
    reach('second model provider', 'ASSISTANT_B_URL', assistants.b),
  ])
}

/** GitLab's groups are one segment of a path, with encoded slashes. Proxies decode or reject them unless told otherwise. */
const checkSlashes = async (baseUrl: string): Promise<Finding> => {
  const url = `${baseUrl}/api/settings/group%2Fsubgroup/repo`
  const remedy =
    'Let the proxy pass %2F on unchanged (docs/install.md, “Proxies”). Start the service if it isn’t running.'
  try {
    const response = await boundedFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { code } = ((await response.json().catch(() => ({}))) ?? {}) as { code?: unknown }
    // The route exists, so the service rejects the missing credentials.
    if (code === 'unauthenticated') return ok('network', 'GitLab subgroups arrive: %2F passes BASE_URL.')
    return warning(
      'network',
      `A path with %2F doesn’t arrive through ${baseUrl} (status ${response.status}).`,
      remedy,
    )
  } catch (error) {
    const code = codeOf(error)
    return warning('network', `${baseUrl} can’t be reached (${code ?? (error as Error).name}).`, remedy)
  }
}

const checkKind = async (
  { kind, apiUrl }: Config['repohost'],
  response: Response,
): Promise<Finding | undefined> => {
  const { status, headers } = response
  const json = await response.json().catch(() => undefined)
  const { name, recognizes } = hostKinds[kind]
  if (recognizes({ status, headers, json })) return undefined
  return problem(
    'network',
    `The repository host at ${apiUrl} doesn’t respond like ${name} (REPOHOST_KIND=${kind}).`,
    'Set REPOHOST_KIND to the kind of your host, or correct REPOHOST_API_URL.',
  )
}

export const checkRedis = async ({ redisUrl, rateLimits }: Config): Promise<Finding[]> => {
  const about = 'redis'
  if (redisUrl === undefined) return []
  if (!rateLimits)
    return [warning(about, 'It isn’t in use, because RATE_LIMITS is off.', 'Set RATE_LIMITS=on.')]
  try {
    await tryRedis(redisUrl)
    return [ok(about, 'All instances share their rate limits through it.')]
  } catch (error) {
    return [
      warning(
        about,
        `It can’t be used, so each instance counts separately: ${redisFault(error)}.`,
        'Start it, or correct REDIS_URL.',
      ),
    ]
  }
}
