/** Access keys, for other features. */
export { AccessKeys, issueKey } from './access-keys.js'
export { requireCombinable } from './policies.js'
export {
  listKeys,
  type RevokedKey,
  revokeAllKeysOf,
  revokeKey,
  revokeKeysCreatedBy,
  revokeKeysOfWorkspace,
} from './queries.js'
