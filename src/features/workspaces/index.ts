/** What other features may use of workspaces, their members and rights. */
export { adminOf, memberOf } from './access.js'
export { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
export { lastPublished, type PrivacyRules } from './policies/privacy-levels.js'
export { requireRole } from './policies/roles.js'
export { insertAuditEntry, theService } from './queries/audit.js'
export { revokeAllInvitesOf } from './queries/invites.js'
export {
  findMatches,
  MATCH_ORDER,
  patternMatches,
  type RepoMatch,
  type RepoQuestion,
  repoParameters,
  WITH_BEST_PATTERN,
  WITH_EVERY_PATTERN,
} from './queries/matches.js'
export { countWorkspacesOf, insertMember, lockRole, readRole } from './queries/members.js'
export { raisePrivacy, type WorkspacePrivacy } from './queries/privacy-levels.js'
export { keepRemovals } from './queries/removals.js'
export {
  countPatterns,
  hideWorkspace,
  insertPatterns,
  insertWorkspace,
  lockWorkspace,
  readPersonalWorkspace,
  readWorkspaceHead,
} from './queries/workspaces.js'
export { overlaySettings } from './settings-merge.js'
export { ABOUT_PEOPLE, auditEntries, members } from './tables.js'
