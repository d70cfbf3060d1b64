import { type Static, Type } from '@sinclair/typebox'
import { Closed, Named, Nullable, StringEnum, Uuid } from './common.js'
import { scopes } from './keys.js'
import { limits } from './limits.js'

/**
 * The catalogue of errors: `code` → HTTP status and the default `detail`, which says what happened and what to do next.
 * RFC 9457 problem documents are built from it, and the OpenAPI document lists these codes for every route.
 */
export const errorCatalogue = {
  validation_failed: [400, 'The request doesn’t match the schema. Fix the fields listed in `errors`.'],
  invalid_json: [400, 'The body isn’t JSON that the service accepts. Send a single JSON object.'],
  invalid_timezone: [400, 'Send an IANA time zone name, for example Europe/Berlin.'],
  invalid_range: [
    400,
    `\`from\` must not be after \`to\`, and a range can cover at most ${limits.range_days} days.`,
  ],
  repohost_token_required: [400, 'Send a repository host token in the X-Repohost-Token header.'],
  oauth_state_invalid: [
    400,
    'This sign-in didn’t start in this browser, has expired or was already used. Start the sign-in again.',
  ],
  signature_invalid: [
    400,
    'The notification’s signature is missing, wrong or too old. Sign the raw bytes with the current secret; the billing provider also signs the time.',
  ],
  bad_request: [400, 'This isn’t a valid HTTP request.'],
  assistant_key_rejected: [
    400,
    'The model provider rejected this key. Check the key in the provider’s console.',
  ],
  unauthenticated: [401, 'Send `Authorization: Bearer <token>`. POST /api/auth/verify returns a token.'],
  token_invalid: [
    401,
    'This session token or access key isn’t valid. Sign in again, or check that you copied all of the key.',
  ],
  token_expired: [401, 'This session or access key has expired. Sign in again, or create a new key.'],
  token_revoked: [
    401,
    'This session was signed out, or this access key was revoked. Sign in again, or create a new key.',
  ],
  repohost_token_invalid: [401, 'The repository host rejected this token. Create a new token on the host.'],
  admin_key_invalid: [
    401,
    'Send an admin key in the X-Service-Admin-Key header or as the query parameter `key`.',
  ],
  pro_required: [402, 'This requires a Pro subscription. Start one with POST /api/billing/checkout.'],
  not_a_member: [403, 'None of your workspaces matches this repository. Ask an admin for an invite.'],
  admin_required: [403, 'Only workspace admins can do this. Ask an admin.'],
  repo_access_denied: [
    403,
    'The repository host token belongs to another user, or has no access to this repository. Send your own token with access.',
  ],
  organization_access_denied: [
    403,
    'The repository host token belongs to another user, or doesn’t show that you own or administer this organization. Send a token of your own with a scope that shows it: `read:org` at GitHub, `read_api` at GitLab, `read:organization` at Forgejo.',
  ],
  member_detail_hidden: [
    403,
    'The workspace has, or had in this range, the privacy level `team`, so members can see only their own activity. Leave out `member`.',
  ],
  scope_missing: [
    403,
    'This access key lacks the scope in `scope`. If `scope` is null, no access key of this kind can do this: sign in instead.',
  ],
  account_disabled: [
    403,
    'The operator of this service has disabled this account, or the account of the person who created this access key. Contact the operator.',
  ],
  csrf_rejected: [
    403,
    'A change that is authenticated by cookie must come from a known dashboard origin. From other origins, send a Bearer token.',
  ],
  never_synced: [404, 'No settings have been pushed for this repository. Push them first.'],
  workspace_not_found: [
    404,
    'This workspace doesn’t exist, or you aren’t a member of it. Check the id, or ask an admin for an invite.',
  ],
  member_not_found: [404, 'No workspace member has this login. Check the login.'],
  invite_not_found: [404, 'This invite doesn’t exist. Check that you copied all of it.'],
  key_not_found: [404, 'This access key doesn’t exist. List the keys to see their ids.'],
  override_not_found: [404, 'The workspace has no override for this repository. An admin can create one.'],
  version_not_found: [
    404,
    'This version doesn’t exist or is no longer kept. List the versions to see which are available.',
  ],
  schema_not_configured: [
    404,
    'This installation has no settings schema, so any value is accepted. Only its operator can set SETTINGS_SCHEMA.',
  ],
  organization_not_found: [
    404,
    'The workspace follows no organization. Link one with PUT /api/team/workspaces/{id}/organization.',
  ],
  webhook_not_found: [
    404,
    'The workspace has no webhook, or this webhook was deleted. Create one with POST /api/team/workspaces/{id}/webhook.',
  ],
  route_not_found: [404, 'This route doesn’t exist. GET /api/docs lists all routes.'],
  request_timeout: [408, 'The request took too long to arrive. Send it again.'],
  workspace_required: [
    409,
    'None of your workspaces matches this repository. Create a workspace with the suggested pattern, or add the pattern to one.',
  ],
  repo_renamed: [
    409,
    'The repository has another name at the repository host now. Use the name in `renamed_to`, for example in the address of your clone. An admin can take the stored settings along with POST /api/team/workspaces/{id}/repos/move.',
  ],
  repo_taken: [
    409,
    'The workspace already has settings or an override for the new name. Remove them first, or keep them and delete those of the old name.',
  ],
  last_admin: [409, 'A workspace needs at least one admin. Make another member an admin first.'],
  personal_workspace: [
    409,
    'No one can be invited to a personal workspace, join it or leave it. Create another workspace for a team.',
  ],
  subscription_active: [
    409,
    'Your subscription is still running. Cancel it first, on the page that POST /api/billing/portal returns.',
  ],
  no_subscription: [409, 'You have no billing account yet. Create one with POST /api/billing/checkout.'],
  flush_id_reused: [409, 'This flush_id was already used with different content. Use a new one.'],
  workspace_limit: [
    409,
    `You can create at most ${limits.workspaces_created} workspaces, and be in at most ${limits.workspaces_joined} besides those that you joined through an organization. They can have at most ${limits.patterns_per_person} patterns together. The operator can change these limits. Delete or leave one first, or remove patterns.`,
  ],
  key_limit: [
    409,
    `A person or a workspace can have at most ${limits.keys_per_owner} active access keys. Revoke one first.`,
  ],
  invite_expired: [410, 'This invite has expired. Ask for a new one.'],
  invite_exhausted: [410, 'This invite has no uses left. Ask for a new one.'],
  invite_revoked: [410, 'This invite was revoked. Ask for a new one.'],
  version_conflict: [
    412,
    'The stored version doesn’t meet the condition of the request. Get the current version, if there is one, merge your changes, and send them again.',
  ],
  payload_too_large: [413, 'The body is too large for this route. Send less in one request.'],
  settings_too_large: [413, 'The settings exceed the size limit. Shorten or remove some.'],
  workspace_full: [
    413,
    'This workspace’s overrides and current settings would exceed its size limit. Remove some first.',
  ],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  repo_outside_patterns: [
    422,
    'None of the workspace’s patterns matches this repository. Add a pattern that matches it first.',
  ],
  pattern_outside_organization: [
    422,
    'Members join this workspace through an organization, so the owner of every pattern must be that organization, or a subgroup of it. Change the patterns, or link the organization with `join: nobody`.',
  ],
  key_locked: [
    422,
    'The workspace has locked these keys. An override can’t contain them, nor a block for a language of a locked block. Remove these from the override, or ask an admin to unlock them.',
  ],
  rate_limited: [429, 'Too many requests. Wait for the number of seconds in Retry-After.'],
  headers_too_large: [431, 'The request headers are too large. Send fewer or shorter ones.'],
  internal_error: [
    500,
    'The service ran into an error. Try again later. If the error persists, send the request id to the operator.',
  ],
  upstream_failed: [502, 'A service that this request depends on has failed. Try again later.'],
  unavailable: [
    503,
    'The service can’t handle the request right now. Wait for the number of seconds in Retry-After, then try again.',
  ],
  maintenance: [
    503,
    'The service is under maintenance and accepts no changes. Wait for the number of seconds in Retry-After, then try again.',
  ],
  oauth_not_configured: [
    503,
    'Browser sign-in isn’t configured on this installation. Use POST /api/auth/verify.',
  ],
  billing_not_configured: [
    503,
    'Billing isn’t configured on this installation. Only its operator can change that.',
  ],
  webhooks_not_configured: [
    503,
    'Repository webhooks aren’t configured on this installation. Its operator has to set WEBHOOK_KEYS.',
  ],
  upstream_timeout: [504, 'A service that this request depends on didn’t respond in time. Try again later.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>

export type ErrorCode = keyof typeof errorCatalogue
export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

/** The page that shows the catalogue. The `type` of a problem links to the entry for its code. */
export const ERROR_PAGE = '/api/docs/errors'

export const Problem = Type.Object({
  type: Type.String({
    format: 'uri-reference',
    description: `The page that explains the code: \`${ERROR_PAGE}#<code>\`.`,
  }),
  status: Type.Integer(),
  title: Type.String({ description: 'The HTTP name of the status.' }),
  code: StringEnum(errorCodes, { description: 'Stable. Programs can rely on it.' }),
  detail: Type.String({ description: 'Text for people: what happened and what to do next.' }),
  request_id: Type.String({ description: 'The response’s `X-Request-Id`.' }),
  error: Type.Optional(
    Type.String({
      description: 'Only at `/api/wakatime`: `detail` under the name that WakaTime tools expect.',
    }),
  ),
  errors: Type.Optional(
    Type.Array(
      Closed({
        path: Type.String({
          description: 'A JSON pointer that starts with the part of the request: `/body/entries/3/minutes`.',
        }),
        message: Type.String(),
      }),
      { description: 'Each invalid property, and the reason.' },
    ),
  ),
  suggested_pattern: Type.Optional(
    Type.String({ description: 'A pattern that matches all repositories of the owner.' }),
  ),
  renamed_to: Type.Optional(
    Type.String({ description: 'The repository’s present name at the repository host.' }),
  ),
  workspaces: Type.Optional(
    Type.Array(Named('WorkspaceWithoutAdmin', { id: Uuid, name: Type.String({ examples: ['Acme'] }) }), {
      description: 'The workspaces that would have no admin.',
    }),
  ),
  keys: Type.Optional(
    Type.Array(Type.String(), { description: 'The locked keys that the override contains.' }),
  ),
  current_version: Type.Optional(
    Nullable(Type.Integer(), { description: 'The current version. Null: there is none.' }),
  ),
  limit_bytes: Type.Optional(Type.Integer({ description: 'The limit in bytes.' })),
  actual_bytes: Type.Optional(Type.Integer({ description: 'The size in bytes after the request.' })),
  scope: Type.Optional(
    Nullable(StringEnum(scopes), {
      description: 'The scope that the access key lacks. Null: no access key of its kind can do this.',
    }),
  ),
  upstream: Type.Optional(
    StringEnum(['repohost', 'billing-provider', 'assistant-a', 'assistant-b'], {
      description: 'The service that failed or didn’t respond.',
    }),
  ),
})
/** An RFC 9457 problem document. */
export type Problem = Static<typeof Problem>
/** The properties that only some problems have. */
export type ProblemExtras = Omit<
  Partial<Problem>,
  'type' | 'status' | 'title' | 'code' | 'request_id' | 'error'
>

/** Examples of the properties that a code adds to its problems. They always have these, and no others. */
export const problemExtras: Partial<Record<ErrorCode, ProblemExtras>> = {
  validation_failed: { errors: [{ path: '/body/name', message: 'is required' }] },
  last_admin: { workspaces: [{ id: '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', name: 'Acme' }] },
  workspace_required: { suggested_pattern: 'acme/*' },
  repo_renamed: { renamed_to: 'acme/gateway' },
  version_conflict: { current_version: 4 },
  key_locked: { keys: ['ext.theme'] },
  settings_too_large: { limit_bytes: limits.settings_bytes, actual_bytes: 300_000 },
  workspace_full: { limit_bytes: limits.workspace_bytes },
  scope_missing: { scope: 'settings:write' },
  upstream_failed: { upstream: 'repohost' },
  upstream_timeout: { upstream: 'repohost' },
}
