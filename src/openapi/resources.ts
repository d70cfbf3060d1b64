/** What the document is made of: the resources that its operations refer to, and the tags that group them. */
import { CountsResult, FlushResult, MinutesOfDay, MinutesOfRange } from '../../schemas/activity.js'
import { AuditEntry } from '../../schemas/audit.js'
import { VerifyResult } from '../../schemas/auth.js'
import { BillingEvent, BillingUrl } from '../../schemas/billing.js'
import { Ok } from '../../schemas/common.js'
import { Dashboard } from '../../schemas/dashboard.js'
import { EffectiveConfig } from '../../schemas/effective-config.js'
import { Funnel } from '../../schemas/funnel.js'
import { Invite } from '../../schemas/invites.js'
import { Limits } from '../../schemas/limits.js'
import { Member } from '../../schemas/members.js'
import { Model } from '../../schemas/models.js'
import { Override } from '../../schemas/overrides.js'
import { Profile } from '../../schemas/profile.js'
import { PushResult, Snapshot } from '../../schemas/settings.js'
import { WorkspaceSettings } from '../../schemas/workspace-settings.js'
import { Workspace } from '../../schemas/workspaces.js'

/** Schemas with an `$id`: components of the document. */
export const resources = [
  Ok,
  VerifyResult,
  Profile,
  Snapshot,
  PushResult,
  Workspace,
  Invite,
  Member,
  WorkspaceSettings,
  Override,
  EffectiveConfig,
  AuditEntry,
  BillingUrl,
  BillingEvent,
  Model,
  Funnel,
  Limits,
  FlushResult,
  MinutesOfDay,
  MinutesOfRange,
  CountsResult,
  Dashboard,
]

export const tags = [
  { name: 'auth', description: 'Sign in and out.' },
  { name: 'profile', description: 'Who the caller is.' },
  { name: 'settings', description: 'One settings snapshot per repository, with its history.' },
  { name: 'team', description: 'Workspaces: members, roles, invites, patterns, settings, overrides.' },
  { name: 'billing', description: 'Subscriptions at the billing provider.' },
  { name: 'models', description: "Model lists of two providers, with the caller's own keys." },
  { name: 'funnel', description: 'Activation events, and how far users come.' },
  { name: 'activity', description: 'Active minutes, daily counts, and the dashboard made of them.' },
  { name: 'service', description: 'The service itself.' },
]
