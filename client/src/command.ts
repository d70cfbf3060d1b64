/** The command `team-settings`, which keeps a workspace's configuration as a file in Git. */
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { limits } from '../../schemas/limits.js'
import { isPlainHttp, isSafeAddress, PLAIN_HTTP_MESSAGE } from '../../schemas/service-address.js'
import { OTHER_PREFIX, TASTE } from '../../schemas/settings-import.js'
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
import { type EditorFile, type FileImport, faultOfKind, importInto, readEditorSettings } from './import.js'
import { decode, JsonError } from './jsonc.js'
import { paginate } from './paginate.js'
import { splitRepoPath } from './pattern.js'
import { ApiProblem, fieldOf } from './problem.js'

const HELP = `Keeps the configuration of a workspace in a file.

  team-settings pull                 prints the configuration as it is
  team-settings pull --check FILE    names what differs from the file
  team-settings diff FILE            prints what apply would change
  team-settings apply FILE           applies the file, and prints what changed
  team-settings import FILE          takes over the settings of an editor

The file is JSON with comments. It can have these sections:

  {
    "settings": { "ext.theme": "dark", "ext.words": ["Acme"] },
    "locked": ["ext.theme"],
    "merged": ["ext.words"],
    "idle_window_minutes": 5,
    "patterns": ["acme/*"],
    "projects": { "acme/web": { "settings": { "ext.theme": "light" } } }
  }

A section that the file leaves out stays as it is. What a section lacks stays
on the server, unless you add --prune. FILE can be - for the standard input.

import reads a settings.json, a .code-workspace or a devcontainer.json. It puts
the settings that the service can store into team-settings.json, keeps its
comments, and lists what it leaves out and why. It sends no settings.

  --url URL          the address of the service, without /api (TEAM_SETTINGS_URL)
  --key KEY          an access key of the workspace (TEAM_SETTINGS_KEY)
  --workspace NAME   the name or the id of the workspace, if the key reaches
                     several (TEAM_SETTINGS_WORKSPACE)
  --prune            remove everything that isn’t in the file
  --strict           fail, and apply nothing, if new values don’t match the
                     settings schema
  --dry-run          of apply: the same as diff
  --reason TEXT      of apply: why, for the history and the audit trail
  --into FILE        of import: the file, instead of team-settings.json
  --project NAME     of import: one repository’s override, such as acme/web
  --all              of import: matters of taste, too (fonts, cursor, themes, zoom)
  --format FORMAT    text, json or markdown
  --version          print the version
  --help             print this

A key needs the scope settings:read, and for apply settings:write as well.
import needs only the address.

Exit codes: 0 nothing to do, or done; 1 an error; 2 diff or pull --check
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
  'dry-run': { type: 'boolean' },
  prune: { type: 'boolean' },
  strict: { type: 'boolean' },
  reason: { type: 'string' },
  into: { type: 'string' },
  project: { type: 'string' },
  all: { type: 'boolean' },
  format: { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const
type Options = ReturnType<typeof readOptions>['values']

/** The parts of the process that the command uses. */
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

const findIn = (given: Options, env: Surroundings['env'], name: 'url' | 'key') => {
  const variable = `TEAM_SETTINGS_${name.toUpperCase()}`
  const value = given[name] ?? env[variable]
  if (!value) throw new UsageError(`Set ${variable}, or give --${name}.`)
  return value
}

const findUrl = (given: Options, env: Surroundings['env']) => {
  const baseUrl = findIn(given, env, 'url')
  if (!isSafeAddress(baseUrl)) throw new UsageError('The address of the service must start with https://.')
  if (/\/api\/*$/.test(baseUrl)) throw new UsageError('Give the address of the service without /api.')
  return baseUrl
}

class Workspace {
  private constructor(
    private readonly client: Client,
    private readonly path: { id: string },
    private readonly timeoutMs: number,
  ) {}

  /** Finds the workspace by its id, or else by its name, whose case doesn't matter. */
  static async find(given: Options, { env, timeoutMs = TIMEOUT_MS, wait }: Surroundings): Promise<Workspace> {
    const baseUrl = findUrl(given, env)
    const token = findIn(given, env, 'key')
    if (!/^[!-~]+$/.test(token))
      throw new UsageError('The key has characters that no key has. Copy it again.')
    const wanted = given.workspace ?? env.TEAM_SETTINGS_WORKSPACE ?? ''
    const client = createClient({ baseUrl, token, ...(wait && { wait }) })
    if (UUID.test(wanted)) return new Workspace(client, { id: wanted }, timeoutMs)
    const { data } = await client.request('GET /api/team/workspaces', {
      timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const named = data.workspaces.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase())
    const [found, ...others] = named.length > 0 || wanted !== '' ? named : data.workspaces
    if (found && others.length === 0) return new Workspace(client, { id: found.id }, timeoutMs)
    const why =
      wanted === ''
        ? 'Name a workspace in TEAM_SETTINGS_WORKSPACE, or with --workspace.'
        : found
          ? `Several workspaces have the name ${printable(wanted)}. Give the id of one.`
          : `This key reaches no workspace with the name ${printable(wanted)}.`
    const list = data.workspaces.map(({ id, name }) => `\n  ${id} ${printable(name)}`)
    throw new UsageError(`${why} It reaches:${list.join('')}`)
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

  /** Warnings about stored values. */
  async storedWarnings(): Promise<{ path: string; message: string }[]> {
    const { path, limit, client } = this
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
    if (!dryRun && strict && !data.warnings.some(isMismatch)) data = (await put(false)).data
    return differenceOf(data, request, server)
  }
}

const ADVICE = ['not_applied', 'deprecated', 'secret']

/** Whether a value doesn't match the settings schema. Older services have only such warnings, without a code. */
const isMismatch = ({ code = '' }: { path: string; code?: string }) => !ADVICE.includes(code)

interface Change {
  dryRun: boolean
  prune: boolean
  /** Changes nothing if values don't match the settings schema. */
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

const INTO = 'team-settings.json'

/** The configuration file's text, or undefined if there is none yet. */
const readExisting = (name: string): Uint8Array | undefined => {
  try {
    return readFileSync(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UsageError(`${name} can’t be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Writes all of it or nothing: a rename replaces the file, or what a link leads to. */
const writeWhole = (name: string, text: string, isNew: boolean) => {
  let part: string | undefined
  try {
    const path = isNew ? name : realpathSync(name)
    part = `${path}.${process.pid}.part`
    writeFileSync(part, text, { flag: 'wx', ...(!isNew && { mode: statSync(path).mode }) })
    renameSync(part, path)
  } catch (error) {
    if (part !== undefined) rmSync(part, { force: true })
    throw new UsageError(`${name} can’t be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Escapes characters that a terminal would interpret. */
const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)

const MAX_SHOWN_LENGTH = 300
const abbreviate = (value: unknown) => {
  const text = printable(JSON.stringify(value))
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

/** Names what differs, without the values. */
const describeCheck = (name: string, { changes }: Difference): string =>
  changes.length === 0
    ? `${name} is up to date.\n`
    : `${name} is not up to date:\n${changes.map(({ scope, key }) => `  ${printable(`${scope}: ${key}`)}\n`).join('')}`

/** The output of an import, key by key. */
const describeImport = (
  { keys, leftOut }: FileImport,
  { settings, placeOf, repeated }: EditorFile,
  { name, into, prefixes }: { name: string; into: string; prefixes: string[] },
): string => {
  const named = ({ block, key }: { block: string | undefined; key: string }) =>
    printable(block === undefined ? key : `${block} ${key}`)
  const changed = keys.filter(({ change }) => change !== 'unchanged')
  const replaced = changed.filter(({ change }) => change === 'replaced').length
  const lines = [
    `${into}: ${changed.length - replaced} added, ${replaced} replaced, ${keys.length - changed.length} already there.`,
    ...changed.map((one) =>
      one.change === 'added'
        ? `  added ${named(one)}: ${abbreviate(one.after)}`
        : `  replaced ${named(one)}: ${abbreviate(one.before)} by ${abbreviate(one.after)}`,
    ),
  ]
  if (Object.keys(settings).length === 0) lines.push(`${name} has no settings.`)
  for (const place of repeated) lines.push(`${name}:${place}: appears twice, so the last one counts`)
  if (leftOut.length > 0) lines.push(`Left out of ${into}: ${leftOut.length}.`)
  for (const one of leftOut) {
    const { block, key, reason } = one
    const place = block === undefined ? placeOf(key) : placeOf(block, key)
    lines.push(`  ${name}:${place}: ${named(one)} ${printable(reason)}`)
  }
  if (leftOut.some(({ reason }) => reason === TASTE))
    lines.push('--all imports matters of taste, too: fonts, the cursor, themes and zoom.')
  if (leftOut.some(({ reason }) => reason === OTHER_PREFIX))
    lines.push(`This server’s prefixes are ${prefixes.join(', ')}. Its operator can add others.`)
  return `${lines.join('\n')}\n`
}

const isRepository = (project: string) => {
  const { owner, repo } = splitRepoPath(project)
  return /^[\w.-]+(\/[\w.-]+)*$/.test(owner) && /^[\w.-]+$/.test(repo)
}

/** The keys that the service's settings schema describes. None if it has no schema. */
const readDescribed = async (client: Client, timeoutMs: number): Promise<string[]> => {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { data } = await client.request('GET /api/settings-schema', { timeoutMs, signal })
    return Object.keys(data.properties)
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return []
    throw error
  }
}

/** Imports a settings file. Its requests ask the service for its limits and, for names in values, its settings schema. */
const importFile = async (name: string, given: Options, around: Surroundings): Promise<void> => {
  const { into = INTO, project } = given
  if (project !== undefined && !isRepository(project))
    throw new UsageError('Name the repository of --project as owner/repo.')
  const bytes = read(name)
  if (bytes.length > limits.body_bytes)
    throw new UsageError(`${name} is larger than ${limits.body_bytes} bytes.`)
  const editor = readEditorSettings(bytes, name)
  const existing = readExisting(into)
  const { sections, text } = readTarget(into, existing)
  const { timeoutMs = TIMEOUT_MS, wait, env } = around
  const client = createClient({ baseUrl: findUrl(given, env), ...(wait && { wait }) })
  const { data } = await client.request('GET /api/limits', {
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
  })
  const { settings_prefixes: prefixes, settings_denied: denied } = data
  // Earlier services have no exemptions.
  const { settings_allowed: allowed = [], settings_restricted: restricted = [] } = data as Partial<
    typeof data
  >
  const fault = faultOfKind(editor, prefixes)
  if (fault !== undefined) throw new UsageError(`${name} ${fault}. Nothing was written.`)
  const known = Object.keys(sections.projects ?? {})
  const repo = known.find((one) => one.toLowerCase() === project?.toLowerCase()) ?? project
  const importWith = (described: string[]) =>
    importInto(text, repo === undefined ? ['settings'] : ['projects', repo, 'settings'], editor, {
      rules: { prefixes, denied, allowed, restricted, described },
      kind: repo === undefined ? 'workspace' : 'override',
      locked: sections.locked ?? [],
      leavesTaste: !given.all,
    })
  const first = importWith([])
  // A schema says which names in values are no settings.
  const isUnsure = first.leftOut.some(({ reason }) => reason.startsWith('has `'))
  const result = isUnsure ? importWith(await readDescribed(client, timeoutMs)) : first
  if (new TextEncoder().encode(JSON.stringify(result.settings)).length > data.settings_bytes)
    throw new UsageError(
      `The settings would have more than ${data.settings_bytes} bytes. Nothing was written.`,
    )
  readConfiguration(new TextEncoder().encode(result.text))
  if (result.keys.some(({ change }) => change !== 'unchanged'))
    writeWhole(into, result.text, existing === undefined)
  around.write(describeImport(result, editor, { name, into, prefixes }))
}

/** Reads the configuration file that an import changes. Errors in it include its file name. */
const readTarget = (into: string, bytes: Uint8Array | undefined) => {
  if (bytes === undefined) return { sections: {} as ConfigurationFile['sections'], text: '{}\n' }
  try {
    return { sections: readConfiguration(bytes).sections, text: decode(bytes) }
  } catch (error) {
    if (error instanceof JsonError) throw new UsageError(`${into}:${error.place}: ${error.message}`)
    throw error
  }
}

const CERTIFICATE = /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/

/** Why there is no response, and how to fix it. */
const describeFailure = (error: Error & { cause?: unknown }, around: Surroundings): string => {
  const { env, usesProxy, timeoutMs = TIMEOUT_MS } = around
  if (error.name === 'TimeoutError') return `The service didn’t respond within ${timeoutMs / 1_000} s.`
  if (isPlainHttp(error)) return `The service couldn’t be reached. ${PLAIN_HTTP_MESSAGE}`
  const { code = '', message } = (error.cause ?? {}) as { code?: string; message?: string }
  const said = `The service couldn’t be reached: ${(message || code || error.message).split('\n')[0]}.`
  if (CERTIFICATE.test(code)) return `${said} Name a file with its certificate in NODE_EXTRA_CA_CERTS.`
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => env[name])
  return proxy === undefined || usesProxy
    ? said
    : `${said} ${proxy} works only with NODE_USE_ENV_PROXY=1, and Node 22.21 or 24.`
}

/** A message with the position in the file, if it's known. */
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
    // npm's own runner handles --help itself.
    const asksHelp = values.help || command === 'help'
    if (asksHelp || command === undefined) {
      write(HELP)
      return asksHelp ? 0 : 1
    }
    if (!['pull', 'diff', 'apply', 'import'].includes(command))
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
    if (values['dry-run'] && command !== 'apply' && command !== 'diff')
      throw new UsageError('--dry-run belongs to apply.')
    if (others.length > 0) throw new UsageError('Name one file.')
    name = given ?? ''
    if (command === 'import') {
      await importFile(name, values, around)
      return 0
    }
    if (values.into !== undefined || values.project !== undefined || values.all)
      throw new UsageError('--into, --project and --all belong to import.')
    if (given !== undefined) file = readConfiguration(read(given))
    const workspace = await Workspace.find(values, around)
    if (!file) {
      write(textOf((await workspace.read()).data))
      for (const { path, message } of await workspace.storedWarnings()) fail(`Warning: ${path} ${message}\n`)
      return 0
    }
    const isCheck = command === 'pull'
    const dryRun = command !== 'apply' || values['dry-run'] === true
    const { prune = false, strict = false, reason } = values
    const difference = await workspace.replace(file, {
      dryRun,
      prune: isCheck || prune,
      strict,
      reason: dryRun ? undefined : reason,
    })
    const differs = difference.changes.length > 0
    if (isCheck) write(describeCheck(name, difference))
    else write(`${format(difference, around.isTerminal && !env.NO_COLOR)}\n`)
    if (strict && difference.warnings.some(isMismatch)) {
      fail(`Values don’t match the settings schema.${dryRun ? '' : ' Nothing was applied.'}\n`)
      return 3
    }
    return dryRun && differs ? 2 : 0
  } catch (error) {
    fail(`${describe(error, name, file, around)}\n`)
    return 1
  }
}
