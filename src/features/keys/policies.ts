/** What access keys may do. */
import type { Scope } from '../../../schemas/keys.js'
import { validationError } from '../../errors.js'

const forEditors: readonly Scope[] = ['activity:write', 'activity:read']

/**
 * An editor's key is stored in plain text in `.wakatime.cfg`, so it can't do anything else.
 * @throws {ApiError} `validation_failed`
 */
export const requireCombinable = (scopes: readonly Scope[]): void => {
  if (scopes.includes('activity:write') && !scopes.every((scope) => forEditors.includes(scope)))
    throw validationError('/body/scopes', '`activity:write` can be combined with `activity:read` only')
}
