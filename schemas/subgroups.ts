/**
 * At GitLab, an owner is the whole group path (`acme/platform`). Schemas describe owners without slashes, as on every
 * other kind of host. This file widens them.
 */
import { type RepohostKind, shortName } from './common.js'
import { limits } from './limits.js'
import { own } from './own.js'

const groups = `${shortName}(/${shortName}){0,${limits.owner_groups - 1}}`

const widened: Record<string, object> = {
  owner: { pattern: `^${groups}$`, maxLength: limits.owner_path_length },
  'repo-path': {
    pattern: `^${groups}/${shortName}$`,
    maxLength: limits.owner_path_length + limits.repo_length + 1,
  },
}

const withSubgroups = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withSubgroups)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([name, value]) => [name, withSubgroups(value)] as const)
  const { format } = schema as { format?: unknown }
  return { ...Object.fromEntries(entries), ...(typeof format === 'string' && own(widened, format)) }
}

/** The schema for a kind of host. */
export const schemaAt = <T>(kind: RepohostKind, schema: T): T =>
  kind === 'gitlab' ? (withSubgroups(schema) as T) : schema

const ofKind = { github: undefined, forgejo: undefined, gitlab: new RegExp(`^${groups}$`) }
const plainOwner = new RegExp(`^${shortName}$`)

export const isOwner = (text: string, kind: RepohostKind): boolean =>
  text.length <= limits.owner_path_length && (ofKind[kind] ?? plainOwner).test(text)

/** `owner/repo`, divided at the last slash. */
export const isRepoPath = (text: string, kind: RepohostKind): boolean => {
  const end = text.lastIndexOf('/')
  return end > 0 && isOwner(text.slice(0, end), kind) && plainOwner.test(text.slice(end + 1))
}
