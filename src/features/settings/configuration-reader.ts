/**
 * Reads a body with the whole configuration. Its overrides stay text, in a tenth of the memory. Their keys are judged here,
 * in the thread that reads a large body: on the main thread, overrides with 300,000 keys together would block it for parts of a second.
 */
import { ConfigurationBody } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import { settingsKeys } from '../../../schemas/settings-keys.js'
import { escapePointer } from '../../errors.js'
import { jsonReader } from '../../platform/http/body-reader.js'
import { type BodyContext, InvalidBody } from '../../platform/http/json-body.js'
import { yieldIfDue } from '../../platform/process/yield-if-due.js'
import type { CheckedKeys } from './policies/settings-rules.js'

export interface SentConfiguration extends Omit<ConfigurationBody, 'projects'> {
  /** Pieces of lines: an override's name, then its settings as JSON, in which a line break is always escaped. */
  projects?: Uint8Array<ArrayBuffer>[]
}

/** Faulty keys: those of the first settings in the body that have any. */
export type ReadConfiguration =
  | { kind: 'read'; sent: SentConfiguration }
  | { kind: 'faulty keys'; keys: CheckedKeys }

const PIECE_LENGTH = 262_144

const encoder = new TextEncoder()

/** Checks what the schema can't. @throws {InvalidBody} */
const requireNames = (names: string[], { kind }: BodyContext): void => {
  const fail = (propertyName: string, message: string) =>
    new InvalidBody([{ keyword: 'name', instancePath: '/projects', propertyName, message, params: {} }])
  const seen = new Set<string>()
  for (const name of names) {
    if (!isRepoPath(name, kind)) throw fail(name, 'must be `owner/repo`')
    if (seen.has(name.toLowerCase())) throw fail(name, 'must not appear twice (ignoring case)')
    seen.add(name.toLowerCase())
  }
}

const findFaultyKeys = (
  { settings = {}, projects = {} }: ConfigurationBody,
  { keys }: BodyContext,
): CheckedKeys | undefined => {
  const { faultsIn } = settingsKeys(keys)
  const faults = faultsIn(settings, 'workspace')
  if (faults.length > 0) return { at: '/body/settings', settings, faults }
  for (const [name, { settings }] of Object.entries(projects)) {
    const faults = faultsIn(settings, 'override')
    if (faults.length > 0) return { at: placeOfOverride(name), settings, faults }
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

export interface SentOverride {
  /** As spelled in the request. */
  name: string
  /** JSON text, as bytes of a piece. */
  settings: Buffer
}

/** By the name in lower case. Nothing is copied. */
export const overridesByName = async (
  pieces: Uint8Array<ArrayBuffer>[],
): Promise<Map<string, SentOverride>> => {
  const found = new Map<string, SentOverride>()
  for (const piece of pieces) {
    const lines = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    for (let at = 0; at < lines.length; ) {
      const endOfName = lines.indexOf('\n', at)
      const endOfSettings = lines.indexOf('\n', endOfName + 1)
      const name = lines.toString('utf8', at, endOfName)
      found.set(name.toLowerCase(), { name, settings: lines.subarray(endOfName + 1, endOfSettings) })
      at = endOfSettings + 1
    }
    await yieldIfDue()
  }
  return found
}

export const reader = jsonReader({
  module: import.meta.url,
  schema: ConfigurationBody,
  maxBytes: limits.configuration_body_bytes,
  bounds: { depth: limits.json_depth, values: limits.configuration_json_values },
  convert: (body, context): ReadConfiguration => {
    const { projects, ...rest } = body
    if (projects) requireNames(Object.keys(projects), context)
    const keys = findFaultyKeys(body, context)
    if (keys) return { kind: 'faulty keys', keys }
    return { kind: 'read', sent: projects ? { ...rest, projects: piecesOf(projects) } : rest }
  },
  buffersOf: (body) => (body.kind === 'read' ? (body.sent.projects ?? []).map(({ buffer }) => buffer) : []),
})
