/** Workspaces, members and rights, for other features. */
export {
  adminOf,
  adminOfNamedWorkspace,
  adminOrDryRunOf,
  memberIfWorkspaceGiven,
  memberOf,
  requireAdminIn,
} from './access.js'
export { type Change, changeWorkspace, previewChange, type WorkspaceCall } from './change-workspace.js'
export { followAtPush, followAtSignIn, handleLeaveReport, readPushCheck } from './follow-organization.js'
export { leaveAllWorkspaces } from './leave-all-workspaces.js'
export { openPersonalWorkspace, type PersonalRules } from './open-personal-workspace.js'
export { requirePersonalQuota, workspaceRequired } from './policies/personal-workspace.js'
export { lockAdmin, type WorkspaceQuota } from './policies/rights.js'
export {
  type Actor,
  type Author,
  insertAuditEntry,
  listAuditEntries,
  SERVICE_ACTOR,
} from './queries/audit.js'
export {
  FIRST_COUNTED_DAY,
  payerOfWorkspace,
  readRole,
  shareLockRoles,
} from './queries/members.js'
export { patternMatches } from './queries/patterns.js'
export { insertPrivacyLevel, readFirstNamedDay } from './queries/privacy-levels.js'
export { insertSettingsVersion } from './queries/settings-versions.js'
export {
  listPatterns,
  lockWorkspace,
  readWorkspaceSummary,
} from './queries/workspaces.js'
export { requirePatterns, requirePatternsToPreview, setPatterns } from './replace-patterns.js'
export {
  ABOUT_PEOPLE,
  auditEntries,
  authorName,
  workspaceSettingsVersions,
  workspaces,
} from './tables.js'
