/** The rules of privacy levels, for other features. `workspaces` stores the levels. */
export {
  firstNamedDay,
  lastPublished,
  type PrivacyRules,
  requireFloor,
  stricterOf,
  type WorkspacePrivacy,
  withFloor,
} from './levels.js'
