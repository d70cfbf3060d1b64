import { parsePatterns } from '../../../../schemas/repo-pattern.js'
import { ApiError } from '../../../errors.js'

/**
 * An organization may make people members only of a workspace that records its own repositories, or those of its subgroups.
 * @throws {ApiError} `pattern_outside_organization`
 */
export const requireInsideOrganization = (organization: string, patterns: string[]): void => {
  const key = organization.toLowerCase()
  const isInside = ({ ownerKey }: { ownerKey: string }) => `${ownerKey}/`.startsWith(`${key}/`)
  if (!parsePatterns(patterns).every(isInside)) throw new ApiError('pattern_outside_organization')
}
