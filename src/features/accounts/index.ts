/** Accounts and sessions, for other features. */
export { issueKey } from './access-keys.js'
export { type AddressKey, addressKeysOf } from './address-keys.js'
export { checkHost, hostFault } from './check-host.js'
export { DELETED_LOGIN, DELETED_USER } from './deleted-user.js'
export { nextTimezone } from './name-timezone.js'
export { type PersonKey, personKeysOf } from './person-keys.js'
export { lockCaller, readCaller, requireCombinable } from './policies.js'
export {
  listKeys,
  type RevokedKey,
  revokeAllKeysOf,
  revokeKey,
  revokeKeysCreatedBy,
  revokeKeysOfWorkspace,
} from './queries/access-keys.js'
export { LIST_SIGNING_KEYS } from './queries/installation.js'
export { findPersonRepos, listPersonRepos, nameOf } from './queries/person-repos.js'
export { revokeAllTokens } from './queries/sessions.js'
export { lockUser, nameTimezones, type User } from './queries/users.js'
export { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from './remember-repos.js'
export type { MembershipAnswers, MembershipQuestions, Memberships } from './repohost.js'
export { cookieOptionsOf, sessionCookiesOf } from './session.js'
export { secretsFault } from './signing-keys.js'
export { erasures, users } from './tables.js'
export { editorTokenOf } from './tokens.js'
