/** Workspaces, members and rights, for other features. */
export { adminOf, adminOfNamed, memberIfWorkspaceGiven, memberOf, requireAdminIn } from './access.js'
export { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'
export { openPersonalWorkspace, type PersonalRules } from './open-personal-workspace.js'
export { requirePersonalQuota, workspaceRequired } from './policies/personal-workspace.js'
export {
  firstNamedDay,
  lastPublished,
  type PrivacyRules,
  requireFloor,
  stricterOf,
} from './policies/privacy-levels.js'
export { requireRole, type WorkspaceQuota } from './policies/rights.js'
export {
  type Actor,
  type Author,
  insertAuditEntries,
  insertAuditEntry,
  listAuditEntries,
  SERVICE_ACTOR,
} from './queries/audit.js'
export { revokeInvitesOf } from './queries/invites.js'
export {
  FIRST_COUNTED_DAY,
  holdRoles,
  lockRole,
  lockRoles,
  payerOfWorkspace,
  readRole,
} from './queries/members.js'
export { patternMatches } from './queries/patterns.js'
export {
  insertPrivacyLevel,
  readPrivacy,
  type WorkspacePrivacy,
} from './queries/privacy-levels.js'
export { preserveRemovals } from './queries/removals.js'
export { keepSettingsVersion } from './queries/settings-versions.js'
export {
  listPatterns,
  lockAdministration,
  lockWorkspace,
  markWorkspaceDeleted,
  readWorkspaceSummary,
} from './queries/workspaces.js'
export { requirePatterns, setPatterns } from './replace-patterns.js'
export {
  ABOUT_PEOPLE,
  auditEntries,
  authorName,
  members,
  workspaceSettingsVersions,
  workspaces,
} from './tables.js'
