/** What access keys may do. */

import type { Scope } from '../../../schemas/keys.js'
import { validationError } from '../../errors.js'
import type { KeyInUse } from '../../platform/access/caller.js'

const forEditors: readonly Scope[] = ['activity:write', 'activity:read']

/**
 * An editor's key is stored in plain text in `.wakatime.cfg`, so it can't do anything else.
 * @throws {ApiError} `validation_failed`
 */
export const requireCombinable = (scopes: readonly Scope[]): void => {
  if (scopes.includes('activity:write') && !scopes.every((scope) => forEditors.includes(scope)))
    throw validationError('/body/scopes', '`activity:write` can be combined with `activity:read` only')
}

/** A workspace key reaches only that workspace. A personal key reaches all of the person's workspaces. */
export const canAccessWorkspace = ({ workspaceId }: KeyInUse, wanted: string): boolean =>
  workspaceId === null || workspaceId === wanted

/** How records name a workspace key, which doesn't act for a person. */
export const nameOfKey = ({ name }: { name: string }): string => `key ${name}`
