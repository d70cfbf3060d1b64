/** The command `team-settings`: the configuration of a workspace as a file in Git. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Client, type ClientOptions, createClient } from './client.js'
import {
  type ConfigurationFile,
  type Difference,
  differenceOf,
  readConfiguration,
  requestOf,
  textOf,
  toJson,
  toMarkdown,
  toText,
} from './configuration.js'
import { JsonError } from './jsonc.js'
import { paginate } from './paginate.js'
import { ApiProblem, fieldOf } from './problem.js'

const HELP = `Keeps the configuration of a workspace in a file.

  team-settings pull                 prints the configuration as it is
  team-settings pull --check FILE    says whether the file is up to date
  team-settings diff FILE            prints what apply would change
  team-settings apply FILE           applies the file, and prints what changed

The file is JSON with comments. It can have these sections:

  {
    "settings": { "ext.theme": "dark" },
    "locked": ["ext.theme"],
    "idle_window_minutes": 5,
    "patterns": ["acme/*"],
    "projects": { "acme/web": { "settings": { "ext.theme": "light" } } }
  }

A section that the file leaves out stays as it is. What a section lacks stays
on the server, unless you add --prune. FILE can be - for the standard input.

  --url URL          the address of the service, without /api (TEAM_SETTINGS_URL)
  --key KEY          an access key of the workspace (TEAM_SETTINGS_KEY)
  --workspace ID     the id of the workspace (TEAM_SETTINGS_WORKSPACE)
  --prune            remove everything that isn’t in the file
  --strict           fail, and apply nothing, if new values don’t match the
                     settings schema
  --reason TEXT      of apply: why, for the history and the audit trail
  --format FORMAT    text, json or markdown
  --version          print the version
  --help             print this

A key needs the scope settings:read, and for apply settings:write as well.

Exit codes: 0 nothing to do, or applied; 1 an error; 2 diff or pull --check
found differences; 3 warnings of the settings schema, with --strict.

Behind a proxy, set HTTPS_PROXY, NO_PROXY for exceptions, and
NODE_USE_ENV_PROXY=1, which needs Node 22.21 or 24. If the certificate of the
service comes from your own authority, name its file in NODE_EXTRA_CA_CERTS.

Example:

  export TEAM_SETTINGS_URL=https://team.example.com
  export TEAM_SETTINGS_KEY=… TEAM_SETTINGS_WORKSPACE=…
  team-settings pull > team-settings.json
  team-settings diff team-settings.json
  team-settings apply team-settings.json --reason "Use the dark theme"
`

/** A mistake that the person who runs the command can fix. */
class UsageError extends Error {}

const options = {
  url: { type: 'string' },
  key: { type: 'string' },
  workspace: { type: 'string' },
  check: { type: 'boolean' },
  prune: { type: 'boolean' },
  strict: { type: 'boolean' },
  reason: { type: 'string' },
  format: { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const
type Options = ReturnType<typeof readOptions>['values']

/** The parts of its process that the command uses. */
export interface Surroundings {
  env: Record<string, string | undefined>
  version: string
  isTerminal: boolean
  /** Whether requests go through the proxy that the environment names. */
  usesProxy: boolean
  write: (text: string) => void
  fail: (text: string) => void
  timeoutMs?: number
  wait?: NonNullable<ClientOptions['wait']>
}

const readOptions = (args: string[]) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const formats = new Map<string, (difference: Difference, colored: boolean) => string>([
  ['text', toText],
  ['json', toJson],
  ['markdown', toMarkdown],
])

/** A large configuration takes a while. */
const TIMEOUT_MS = 120_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

class Workspace {
  private readonly path: { id: string }
  private readonly client: Client
  private readonly timeoutMs: number

  constructor(given: Options, { env, timeoutMs = TIMEOUT_MS, wait }: Surroundings) {
    const find = (name: 'url' | 'key' | 'workspace') => {
      const variable = `TEAM_SETTINGS_${name.toUpperCase()}`
      const value = given[name] ?? env[variable]
      if (!value) throw new UsageError(`Set ${variable}, or give --${name}.`)
      return value
    }
    const baseUrl = find('url')
    if (!/^https?:\/\/[^/]/.test(baseUrl))
      throw new UsageError('The address of the service must start with https://.')
    if (/\/api\/*$/.test(baseUrl)) throw new UsageError('Give the address of the service without /api.')
    const token = find('key')
    if (!/^[!-~]+$/.test(token))
      throw new UsageError('The key has characters that no key has. Copy it again.')
    const id = find('workspace')
    if (!UUID.test(id))
      throw new UsageError('The id of a workspace looks like 0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e.')
    this.client = createClient({ baseUrl, token, ...(wait && { wait }) })
    this.path = { id }
    this.timeoutMs = timeoutMs
  }

  /** Ends everything, including later attempts. */
  private get limit() {
    const { timeoutMs } = this
    return { timeoutMs, signal: AbortSignal.timeout(timeoutMs) }
  }

  read() {
    const { path, limit } = this
    return this.client.request('GET /api/team/workspaces/{id}/configuration', { path, ...limit })
  }

  /** Stored values that don't match the settings schema, if there is one. */
  async storedWarnings(): Promise<{ path: string; message: string }[]> {
    const { path, limit, client } = this
    try {
      await client.request('GET /api/settings-schema', limit)
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return []
      throw error
    }
    const { data } = await client.request('GET /api/team/workspaces/{id}/settings', { path, ...limit })
    const found = (data.warnings ?? []).map((one) => ({ ...one, path: one.path.slice(1) }))
    const overrides = 'GET /api/team/workspaces/{id}/project-settings'
    for await (const { owner, repo, warnings = [] } of paginate(client, overrides, { path, ...limit }))
      found.push(...warnings.map((one) => ({ ...one, path: `projects/${owner}/${repo}${one.path}` })))
    return found
  }

  /** Compares a file with the service, and without `dryRun` also applies it to the state that was compared. */
  async replace(file: ConfigurationFile, { dryRun, prune, strict, reason }: Change): Promise<Difference> {
    const { data: server, etag } = await this.read()
    const request = requestOf(file.sections, server, prune)
    const put = (only: boolean) =>
      this.client.request('PUT /api/team/workspaces/{id}/configuration', {
        path: this.path,
        query: { dry_run: only },
        headers: { 'If-Match': etag },
        body: { ...request.body, ...(reason !== undefined && { reason }) },
        ...this.limit,
      })
    let { data } = await put(dryRun || strict)
    if (!dryRun && strict && data.warnings.length === 0) data = (await put(false)).data
    return differenceOf(data, request, server)
  }
}

interface Change {
  dryRun: boolean
  prune: boolean
  /** Changes nothing if there are warnings. */
  strict: boolean
  reason: string | undefined
}

const read = (name: string): Uint8Array => {
  try {
    return readFileSync(name === '-' ? 0 : name)
  } catch (error) {
    throw new UsageError(`${name} can’t be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const CERTIFICATE = /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/

/** Why there is no response, and how to fix it. */
const describeFailure = (error: Error & { cause?: unknown }, around: Surroundings): string => {
  const { env, usesProxy, timeoutMs = TIMEOUT_MS } = around
  if (error.name === 'TimeoutError') return `The service didn’t respond within ${timeoutMs / 1_000} s.`
  const { code = '', message } = (error.cause ?? {}) as { code?: string; message?: string }
  const said = `The service couldn’t be reached: ${(message || code || error.message).split('\n')[0]}.`
  if (CERTIFICATE.test(code)) return `${said} Name a file with its certificate in NODE_EXTRA_CA_CERTS.`
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => env[name])
  return proxy === undefined || usesProxy
    ? said
    : `${said} ${proxy} works only with NODE_USE_ENV_PROXY=1, and Node 22.21 or 24.`
}

/** A message with the place in the file, where that's known. */
const describe = (
  error: unknown,
  name: string,
  file: ConfigurationFile | undefined,
  around: Surroundings,
) => {
  if (error instanceof UsageError) return error.message
  if (error instanceof JsonError) return `${name}:${error.place}: ${error.message}`
  if (!(error instanceof ApiProblem)) return describeFailure(error as Error, around)
  if (error.code === 'version_conflict')
    return 'Someone changed the configuration meanwhile. Nothing was applied. Run it again.'
  const { scope, limit_bytes, errors } = error as {
    scope?: string | null
    limit_bytes?: number
    errors?: { path: string; message: string }[]
  }
  if (scope) return `This key lacks the scope ${scope}. (${error.code})`
  const placeOf = (path: string) => {
    const place = file?.placeOf(path.replace(/^\/body/, ''))
    return place === undefined ? '' : `${name}:${place}: `
  }
  if (errors && errors.length > 1)
    return errors
      .map(({ path, message }) => `${placeOf(path)}\`${fieldOf(path)}\` ${message} (${error.code})`)
      .join('\n')
  const limit = limit_bytes === undefined ? '' : ` At most ${limit_bytes} bytes are allowed.`
  return `${errors?.[0] ? placeOf(errors[0].path) : ''}${error.message}${limit} (${error.code})`
}

/** @returns the exit code */
export const run = async (args: string[], around: Surroundings): Promise<number> => {
  const { env, write, fail } = around
  let name = ''
  let file: ConfigurationFile | undefined
  try {
    const { values, positionals } = readOptions(args)
    const [command, given, ...others] = positionals
    if (values.version) {
      write(`${around.version}\n`)
      return 0
    }
    // The runner of npm answers --help itself.
    const asksHelp = values.help || command === 'help'
    if (asksHelp || command === undefined) {
      write(HELP)
      return asksHelp ? 0 : 1
    }
    if (!['pull', 'diff', 'apply'].includes(command))
      throw new UsageError(`There is no command ${command}. See team-settings help.`)
    const format = formats.get(values.format ?? 'text')
    if (!format) throw new UsageError('The format is text, json or markdown.')
    const needsFile = command !== 'pull' || values.check === true
    if (needsFile ? given === undefined : given !== undefined)
      throw new UsageError(
        needsFile
          ? `Name a file: team-settings ${command}${values.check ? ' --check' : ''} FILE`
          : 'pull prints the configuration. To compare it with a file, add --check.',
      )
    if (others.length > 0) throw new UsageError('Name one file.')
    name = given ?? ''
    if (given !== undefined) file = readConfiguration(read(given))
    const workspace = new Workspace(values, around)
    if (!file) {
      write(textOf((await workspace.read()).data))
      for (const { path, message } of await workspace.storedWarnings()) fail(`Warning: ${path} ${message}\n`)
      return 0
    }
    const isCheck = command === 'pull'
    const dryRun = command !== 'apply'
    const { prune = false, strict = false, reason } = values
    const difference = await workspace.replace(file, {
      dryRun,
      prune: isCheck || prune,
      strict,
      reason: dryRun ? undefined : reason,
    })
    const differs = difference.changes.length > 0
    if (isCheck) write(`${name} is ${differs ? 'not ' : ''}up to date.\n`)
    else write(`${format(difference, around.isTerminal && !env.NO_COLOR)}\n`)
    if (strict && difference.warnings.length > 0) {
      fail(`Values don’t match the settings schema.${dryRun ? '' : ' Nothing was applied.'}\n`)
      return 3
    }
    return dryRun && differs ? 2 : 0
  } catch (error) {
    fail(`${describe(error, name, file, around)}\n`)
    return 1
  }
}
