/** Reads a body with the whole configuration. Its overrides stay text, in a tenth of the memory. */
import { ConfigurationBody } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { namesOf, type SettingsKind, settingsKeys } from '../../../schemas/settings-keys.js'
import { escapePointer, shorten } from '../../errors.js'
import { type BodyContext, InvalidBody, readBody } from '../../platform/http/json-body.js'
import type { BodyReader } from '../../platform/http/large-body.js'

export interface SentConfiguration extends Omit<ConfigurationBody, 'projects'> {
  /** Pieces of lines: an override's name, then its settings as JSON, in which a line break is always escaped. */
  projects?: Uint8Array<ArrayBuffer>[]
}

const bounds = { depth: limits.json_depth, values: limits.configuration_json_values }
const PIECE_LENGTH = 262_144

const encoder = new TextEncoder()

/** Checks what the schema can't. @throws {InvalidBody} */
const check = ({ settings = {}, projects = {} }: ConfigurationBody, { keys, kind }: BodyContext): void => {
  const { faultsIn } = settingsKeys(keys)
  const faultOf = (instancePath: string, propertyName: string, message: string) => ({
    ...{ keyword: 'name', instancePath, propertyName, message, params: {} },
  })
  const fail = (instancePath: string, propertyName: string, message: string) =>
    new InvalidBody([faultOf(instancePath, propertyName, message)])
  const requireKeys = (values: Record<string, unknown>, at: string, kind: SettingsKind) => {
    const faults = faultsIn(values, kind).map((fault) => {
      const names = namesOf(fault).map(String)
      const parents = names.slice(0, -1).map((name) => `/${escapePointer(shorten(name))}`)
      return faultOf(at + parents.join(''), names.at(-1) ?? '', fault.message)
    })
    if (faults.length > 0) throw new InvalidBody(faults)
  }
  requireKeys(settings, '/settings', 'workspace')
  const names = new Set<string>()
  for (const name of Object.keys(projects)) {
    if (!isRepoPath(name, kind)) throw fail('/projects', name, 'must be `owner/repo`')
    if (names.has(name.toLowerCase())) throw fail('/projects', name, 'must not appear twice (ignoring case)')
    names.add(name.toLowerCase())
    requireKeys(projects[name]?.settings ?? {}, `/projects/${escapePointer(name)}/settings`, 'override')
  }
}

const piecesOf = (projects: NonNullable<ConfigurationBody['projects']>): Uint8Array<ArrayBuffer>[] => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let lines = ''
  const end = () => {
    pieces.push(encoder.encode(lines))
    lines = ''
  }
  for (const name of Object.keys(projects)) {
    lines += `${name}\n${JSON.stringify((projects[name] as { settings: object }).settings)}\n`
    if (lines.length >= PIECE_LENGTH) end()
  }
  end()
  return pieces
}

/** Without copying. */
export function* overridesOf(piece: Uint8Array<ArrayBuffer>): Generator<[name: string, settings: Buffer]> {
  const lines = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf('\n', at)
    const endOfSettings = lines.indexOf('\n', end + 1)
    yield [lines.toString('utf8', at, end), lines.subarray(end + 1, endOfSettings)]
    at = endOfSettings + 1
  }
}

export const reader: BodyReader<SentConfiguration, BodyContext> = {
  module: import.meta.url,
  read: (bytes, context) => {
    const body = readBody<ConfigurationBody>(bytes, ConfigurationBody, context, bounds)
    check(body, context)
    const { projects, ...rest } = body
    return projects ? { ...rest, projects: piecesOf(projects) } : rest
  },
  buffersOf: ({ projects = [] }) => projects.map(({ buffer }) => buffer),
}
