/** Reads a body with the whole configuration. Its overrides stay text, in a tenth of the memory. */
import { ConfigurationBody } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { type SettingsKind, settingsKeys } from '../../../schemas/settings-keys.js'
import { escapePointer } from '../../errors.js'
import { jsonReader } from '../../platform/http/body-reader.js'
import { type BodyContext, InvalidBody } from '../../platform/http/json-body.js'

export interface SentConfiguration extends Omit<ConfigurationBody, 'projects'> {
  /** Pieces of lines: an override's name, then its settings as JSON, in which a line break is always escaped. */
  projects?: Uint8Array<ArrayBuffer>[]
}

/** The first settings in a body whose keys have faults. Their values are checked too before they're rejected. */
export interface FaultySettings {
  /** JSON pointer in the request. */
  at: string
  kind: SettingsKind
  settings: Record<string, unknown>
}

export type ReadConfiguration = { sent: SentConfiguration } | { faulty: FaultySettings }

const PIECE_LENGTH = 262_144

const encoder = new TextEncoder()

/** Checks what the schema can't. @throws {InvalidBody} */
const findFaulty = (
  { settings = {}, projects = {} }: ConfigurationBody,
  { keys, kind }: BodyContext,
): FaultySettings | undefined => {
  const { faultsIn } = settingsKeys(keys)
  const fail = (propertyName: string, message: string) =>
    new InvalidBody([{ keyword: 'name', instancePath: '/projects', propertyName, message, params: {} }])
  if (faultsIn(settings, 'workspace').length > 0) return { at: '/body/settings', kind: 'workspace', settings }
  const names = new Set<string>()
  for (const name of Object.keys(projects)) {
    if (!isRepoPath(name, kind)) throw fail(name, 'must be `owner/repo`')
    if (names.has(name.toLowerCase())) throw fail(name, 'must not appear twice (ignoring case)')
    names.add(name.toLowerCase())
    const settings = projects[name]?.settings ?? {}
    if (faultsIn(settings, 'override').length > 0)
      return { at: placeOfOverride(name), kind: 'override', settings }
  }
  return undefined
}

/** JSON pointer in a request. */
export const placeOfOverride = (name: string): string => `/body/projects/${escapePointer(name)}/settings`

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

export const reader = jsonReader({
  module: import.meta.url,
  schema: ConfigurationBody,
  mostBytes: limits.configuration_body_bytes,
  bounds: { depth: limits.json_depth, values: limits.configuration_json_values },
  convert: (body, context): ReadConfiguration => {
    const faulty = findFaulty(body, context)
    if (faulty) return { faulty }
    const { projects, ...rest } = body
    return { sent: projects ? { ...rest, projects: piecesOf(projects) } : rest }
  },
  buffersOf: (read) => ('sent' in read ? (read.sent.projects ?? []).map(({ buffer }) => buffer) : []),
})
