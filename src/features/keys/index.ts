/** Access keys, for other features. */
export { AccessKeys, issueKey } from './access-keys.js'
export { canAccessWorkspace, nameOfKey, requireCombinable } from './policies.js'
export {
  authorName,
  listKeys,
  type RevokedKey,
  revokeAllKeysOf,
  revokeKey,
  revokeKeysCreatedBy,
  revokeKeysOfWorkspace,
} from './queries.js'
