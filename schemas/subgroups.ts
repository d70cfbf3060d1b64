/**
 * At GitLab, an owner is the whole group path (`acme/platform`). Schemas describe owners without slashes, as on every
 * other kind of host. This file widens them.
 */
import type { RepohostKind } from './common.js'
import { limits } from './limits.js'
import { own } from './own.js'
import { groups, shortName } from './owners.js'

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
