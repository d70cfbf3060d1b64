#!/usr/bin/env node
/** The command `team-settings`: the configuration of a workspace as a file in Git. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Client, createClient } from './client.js'
import {
  type ConfigurationFile,
  type Difference,
  readConfiguration,
  requestOf,
  textOf,
  toJson,
  toMarkdown,
  toText,
} from './configuration.js'
import { JsonError } from './jsonc.js'
import { ApiProblem } from './problem.js'

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
  --prune            remove what the file does not have
  --reason TEXT      of apply: why, for the history and the audit trail
  --format FORMAT    text, json or markdown
  --help             print this

A key needs the scope settings:read, and for apply settings:write as well.

Exit codes: 0 nothing to do, or applied; 1 an error; 2 diff or pull --check
found differences.

Example:

  export TEAM_SETTINGS_URL=https://team.example.com
  export TEAM_SETTINGS_KEY=… TEAM_SETTINGS_WORKSPACE=…
  team-settings pull > team-settings.json
  team-settings diff team-settings.json
  team-settings apply team-settings.json --reason "Use the dark theme"
`

/** What the person who runs the command can put right. */
class UsageError extends Error {}

const options = {
  url: { type: 'string' },
  key: { type: 'string' },
  workspace: { type: 'string' },
  check: { type: 'boolean' },
  prune: { type: 'boolean' },
  reason: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const
type Options = ReturnType<typeof readOptions>['values']

const readOptions = () => {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const formats = new Map<string, (difference: Difference) => string>([
  ['text', (difference) => toText(difference, process.stdout.isTTY === true && !process.env.NO_COLOR)],
  ['json', toJson],
  ['markdown', toMarkdown],
])

/** A large configuration takes its time. */
const TIMEOUT_MS = 120_000

class Workspace {
  private readonly path: { id: string }
  private readonly client: Client

  constructor(given: Options) {
    const find = (name: 'url' | 'key' | 'workspace') => {
      const variable = `TEAM_SETTINGS_${name.toUpperCase()}`
      const value = given[name] ?? process.env[variable]
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
    this.client = createClient({ baseUrl, token })
    this.path = { id: find('workspace') }
  }

  read() {
    const { path } = this
    return this.client.request('GET /api/team/workspaces/{id}/configuration', { path, timeoutMs: TIMEOUT_MS })
  }

  /** Compares, or also changes, with the state that was compared. */
  async replace(file: ConfigurationFile, { prune = false, ...change }: Change): Promise<Difference> {
    const { data: server, etag } = await this.read()
    const { body, extras } = requestOf(file.sections, server, prune)
    const { data } = await this.client.request('PUT /api/team/workspaces/{id}/configuration', {
      path: this.path,
      query: { dry_run: change.dryRun },
      headers: { 'If-Match': etag },
      body: { ...body, ...(change.reason !== undefined && { reason: change.reason }) },
      timeoutMs: TIMEOUT_MS,
    })
    return { ...data, extras: prune ? [] : extras }
  }
}

interface Change {
  dryRun: boolean
  prune?: boolean | undefined
  reason?: string | undefined
}

const read = (name: string): string => {
  try {
    return readFileSync(name === '-' ? 0 : name, 'utf8')
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** What is wrong, with the line of the file where that is known. */
const describe = (error: unknown, name: string, file: ConfigurationFile | undefined): string => {
  if (error instanceof UsageError) return error.message
  if (error instanceof JsonError) return `${name}:${error.line}: ${error.message}`
  if (!(error instanceof ApiProblem)) {
    const { message, cause } = error as Error & { cause?: { message?: string } }
    return `The service could not be reached: ${cause?.message || message}`
  }
  if (error.code === 'version_conflict')
    return 'Someone changed the configuration meanwhile. Nothing was applied. Run it again.'
  const { scope } = error as { scope?: string | null }
  if (scope) return `This key lacks the scope ${scope}. (${error.code})`
  const first = (error as { errors?: { path: string; message: string }[] }).errors?.[0]
  const line = first && file?.lineOf(first.path.replace(/^\/body/, ''))
  return `${line === undefined ? '' : `${name}:${line}: `}${error.message} (${error.code})`
}

const run = async (): Promise<number> => {
  let name = ''
  let file: ConfigurationFile | undefined
  try {
    const { values, positionals } = readOptions()
    const [command, given, ...others] = positionals
    // The runner of npm answers --help itself.
    const asksHelp = values.help || command === 'help'
    if (asksHelp || command === undefined) {
      process.stdout.write(HELP)
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
    const workspace = new Workspace(values)
    if (!file) {
      process.stdout.write(textOf((await workspace.read()).data))
      return 0
    }
    const isCheck = command === 'pull'
    const dryRun = command !== 'apply'
    const difference = await workspace.replace(file, {
      dryRun,
      prune: isCheck || values.prune,
      reason: dryRun ? undefined : values.reason,
    })
    const differs = difference.changes.length > 0
    if (isCheck) process.stdout.write(`${name} is ${differs ? 'not ' : ''}up to date.\n`)
    else process.stdout.write(`${format(difference)}\n`)
    return dryRun && differs ? 2 : 0
  } catch (error) {
    process.stderr.write(`${describe(error, name, file)}\n`)
    return 1
  }
}

void run().then((code) => {
  process.exitCode = code
})
