/**
 * The page's words for rejected calls. People can act on them. It imports only types, because what it shared with the first
 * load would be one more file of that.
 */
import type { ApiProblem, fieldOf } from '../client/src/problem.js'
import type { own } from '../schemas/own.js'

interface Tools {
  own: typeof own
  fieldOf: typeof fieldOf
  /** The name of the repository host. */
  host: string
}

export type Text = [title: string, advice: string]

const textsOf = (host: string): Record<string, Text> => ({
  invalid_range: ['Invalid date range', 'Choose at most 366 days. The end must not be before the start.'],
  account_disabled: [
    'Account disabled',
    'The operator of this service disabled your account. Contact the operator.',
  ],
  pro_required: ['This requires a subscription', 'Subscribe under Account.'],
  admin_required: ['Only workspace admins can do this', 'Ask an admin. Admins are listed under People.'],
  workspace_not_found: [
    'Workspace not found',
    'The workspace was deleted, or you aren’t a member. Ask an admin for an invite.',
  ],
  not_a_member: ['None of your workspaces covers this repository', 'Ask an admin to add a matching pattern.'],
  member_detail_hidden: ['This workspace hides each person’s numbers', 'Remove the person filter.'],
  never_synced: ['No settings pushed yet', 'Push the repository’s settings from the editor extension.'],
  repo_taken: [
    'This repository already has settings or an override',
    'Remove them first, or delete those of the previous name.',
  ],
  member_not_found: ['Member not found', 'This person may have left. Reload the page.'],
  invite_not_found: ['Invite not found', 'Check that you copied the whole link, or ask for a new invite.'],
  invite_expired: ['This invite has expired', 'Ask for a new invite.'],
  invite_exhausted: ['This invite has no uses left', 'Ask for a new invite.'],
  invite_revoked: ['This invite was revoked', 'Ask for a new invite.'],
  last_admin: ['A workspace needs at least one admin', 'Make another member an admin first.'],
  personal_workspace: ['This is a personal workspace', 'No one can join or leave it.'],
  version_conflict: ['Another admin saved changes first', 'Compare both versions, then save again.'],
  key_locked: [
    'The workspace has locked some of these keys',
    'Remove them from the override, or unlock them in the workspace settings.',
  ],
  rate_limited: ['Too many requests', 'Wait a moment, then try again. Your input is kept.'],
  maintenance: ['The service is under maintenance', 'Your input is kept. Try again later.'],
  unavailable: ['The service is busy or starting', 'Try again in a moment. Your input is kept.'],
  repohost_token_invalid: [`${host} rejected this token`, 'Copy the token again, or create a new one.'],
  key_limit: ['Too many access keys', 'Revoke a key that is no longer in use.'],
  webhooks_not_configured: ['Repository webhooks aren’t configured', 'Ask the operator to set WEBHOOK_KEYS.'],
  billing_not_configured: ['Billing isn’t configured here', 'You have nothing to pay.'],
  no_subscription: ['You have no subscription', 'Subscribe first.'],
  admin_key_invalid: ['Invalid admin key', 'Use a key from ADMIN_KEYS.'],
  csrf_rejected: [
    'The service rejected this request',
    'Your browser didn’t say which site sent it. Reload the page.',
  ],
  repo_access_denied: [
    `${host} doesn’t confirm your access`,
    'Use a token of your own that can read this repository.',
  ],
  organization_access_denied: [
    `${host} doesn’t confirm that you own it`,
    'Check the name, and use a token of your own with the scope named here.',
  ],
  workspace_limit: [
    'Too many workspaces or patterns',
    'Delete or leave a workspace first, or remove patterns.',
  ],
  payload_too_large: ['That’s too large', 'Send less at once.'],
  settings_too_large: ['The settings are too large', 'Shorten or remove some.'],
  workspace_full: ['This workspace is full', 'Remove overrides or settings first.'],
  repo_outside_patterns: [
    'No pattern matches this repository',
    'Add a matching pattern under General first.',
  ],
  pattern_outside_organization: [
    'These patterns reach outside the organization',
    'People join this workspace through it, so its name must be every pattern’s owner.',
  ],
  upstream_failed: ['A service that this needs has failed', 'Try again later.'],
})

/** Hints for invalid fields, by field name. */
const fields: Record<string, string> = {
  name: 'Enter a name with visible characters.',
  patterns: 'A pattern looks like owner/*, owner/api-* or owner/name.',
  repos_off: 'A repository looks like owner/name, and a pattern like owner/*.',
  hours: 'Choose two different hours, and at least one weekday.',
  repo: 'A repository looks like owner/name.',
  organization: 'Enter the name as it stands in the address.',
  'x-repohost-token': 'Copy the token again, without spaces.',
  repohost_token: 'Copy the token again, without spaces.',
  max_uses: 'Enter a whole number of uses, or leave the field empty.',
  idle_window_minutes: 'Enter a whole number of minutes.',
  from: 'Choose dates that exist.',
  to: 'Choose dates that exist.',
  source: 'A source has letters, digits, hyphens and underscores.',
}

/** The faults of settings name their keys. */
const faultText = ({ path, message }: { path: string; message: string }, { own, fieldOf }: Tools): string => {
  const [, , field = ''] = path.split('/')
  if (field !== 'settings') return own(fields, field) ?? 'Check what you entered.'
  return `${fieldOf(path)} ${message.replace(/`([^`]*)`/g, '“$1”')}.`
}

export const explainProblem = (problem: ApiProblem | undefined, tools: Tools): Text => {
  const {
    code = '',
    status = 0,
    errors = [],
  } = (problem ?? {}) as {
    code?: string
    status?: number
    errors?: { path: string; message: string }[]
  }
  const known = tools.own(textsOf(tools.host), code)
  if (known) return known
  if (code === 'validation_failed')
    return [
      'This can’t be saved',
      [...new Set(errors.map((error) => faultText(error, tools)))].join(' ') || 'Check what you entered.',
    ]
  return status >= 500
    ? [
        'The service ran into an error',
        'Try again later. If it happens again, send the request ID to the operator.',
      ]
    : ['The request failed', 'The page may be out of date. Reload it.']
}
