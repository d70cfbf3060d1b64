/** Reads the body with the whole configuration. Its overrides stay text, which needs a tenth of the memory of objects. */
import type { RepohostKind } from '../../../schemas/common.js'
import { ConfigurationBody } from '../../../schemas/configuration.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/subgroups.js'
import { type BodyContext, InvalidBody, readBody } from '../../platform/http/json-body.js'
import type { BodyReader } from '../../platform/http/large-body.js'

/** Overrides by name, each with its settings as JSON text. */
export type SentOverrides = [name: string, settings: string][]

export interface SentConfiguration extends Omit<ConfigurationBody, 'projects'> {
  /** `SentOverrides` as JSON in pieces, each of which takes a few milliseconds to parse. */
  projects?: Uint8Array<ArrayBuffer>[]
}

const bounds = { depth: limits.json_depth, values: limits.configuration_json_values }
const PIECE_LENGTH = 262_144

const encoder = new TextEncoder()

/** What the schema cannot say. @throws {InvalidBody} */
const check = ({ settings = {}, projects = {} }: ConfigurationBody, kind: RepohostKind): void => {
  const fail = (instancePath: string, propertyName: string, message: string) =>
    new InvalidBody([{ keyword: 'name', instancePath, propertyName, message, params: {} }])
  for (const key of Object.keys(settings))
    if (settings[key] === null) throw fail('/settings', key, 'must not be null: leave the key out')
  const names = new Set<string>()
  for (const name of Object.keys(projects)) {
    if (!isRepoPath(name, kind)) throw fail('/projects', name, 'must be `owner/repo`')
    if (names.has(name.toLowerCase())) throw fail('/projects', name, 'must not appear twice (ignoring case)')
    names.add(name.toLowerCase())
  }
}

const piecesOf = (projects: NonNullable<ConfigurationBody['projects']>): Uint8Array<ArrayBuffer>[] => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let overrides: SentOverrides = []
  let length = 0
  const end = () => {
    pieces.push(encoder.encode(JSON.stringify(overrides)))
    overrides = []
    length = 0
  }
  for (const name of Object.keys(projects)) {
    const text = JSON.stringify((projects[name] as { settings: object }).settings)
    overrides.push([name, text])
    length += name.length + text.length
    if (length >= PIECE_LENGTH) end()
  }
  end()
  return pieces
}

export const reader: BodyReader<SentConfiguration, BodyContext> = {
  module: import.meta.url,
  read: (bytes, context) => {
    const body = readBody<ConfigurationBody>(bytes, ConfigurationBody, context, bounds)
    if (!body) return null
    check(body, context.kind)
    const { projects, ...rest } = body
    return projects ? { ...rest, projects: piecesOf(projects) } : rest
  },
  buffersOf: ({ projects = [] }) => projects.map(({ buffer }) => buffer),
}
