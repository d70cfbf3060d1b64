import { type Static, Type } from '@sinclair/typebox'
import { Closed, Named, StringEnum, Uuid } from './common.js'
import { limits } from './limits.js'

/**
 * The one catalogue of errors: `code` → HTTP status and the default `detail`, which says what to do next.
 * RFC 9457 problem documents are built from it, and the OpenAPI document lists these codes for every route.
 */
export const errorCatalogue = {
  validation_failed: [400, 'The request does not fit the schema. Mend what `errors` names.'],
  invalid_json: [400, 'The body is not JSON that this service accepts. Send one JSON object.'],
  invalid_timezone: [400, 'Send an IANA time zone name, for example Europe/Berlin.'],
  invalid_range: [
    400,
    `\`from\` must not be after \`to\`, and a range has at most ${limits.range_days} days.`,
  ],
  repohost_token_required: [400, 'Send a token of the repository host in the header X-Repohost-Token.'],
  oauth_state_invalid: [
    400,
    'This login was not started here, has expired or was already used. Start it again.',
  ],
  signature_invalid: [
    400,
    'The signature of the notification is missing, wrong or too old. Sign its raw bytes and the time of sending.',
  ],
  bad_request: [400, 'This is not a valid HTTP request.'],
  assistant_key_rejected: [400, 'The model provider refuses this key. Check it in its console.'],
  unauthenticated: [401, 'Send `Authorization: Bearer <token>`; POST /api/auth/verify gives you one.'],
  token_invalid: [401, 'This session token is not valid. Sign in again.'],
  token_expired: [401, 'This session has expired. Sign in again.'],
  token_revoked: [401, 'This session was signed out. Sign in again.'],
  repohost_token_invalid: [401, 'The repository host refuses this token. Create a new one there.'],
  admin_key_invalid: [401, 'Send an admin key in X-Service-Admin-Key or as query `key`.'],
  pro_required: [402, 'This needs a Pro subscription; POST /api/billing/checkout starts one.'],
  not_a_member: [403, 'No workspace of yours matches this repository. Ask an admin for an invite.'],
  admin_required: [403, 'Only an admin of the workspace may do this. Ask one of them.'],
  repo_access_denied: [
    403,
    'The token of the repository host is not yours, or gives no access to this repository. Use one that does.',
  ],
  member_detail_hidden: [
    403,
    'What a single member did is shown to nobody but them here: the workspace has, or had in this range, the privacy level `team`. Ask without `member`.',
  ],
  csrf_rejected: [
    403,
    'A cookie-authenticated change must come from a known dashboard origin. From elsewhere send a Bearer token.',
  ],
  never_synced: [404, 'Nothing was ever pushed for this repository. Push its settings first.'],
  workspace_not_found: [
    404,
    'There is no such workspace, or you are not a member of it. Check the id, or ask an admin for an invite.',
  ],
  member_not_found: [404, 'Nobody with this login is a member of the workspace. Check the login.'],
  invite_not_found: [404, 'There is no such invite. Check that it was copied whole.'],
  override_not_found: [404, 'This repository has no override in this workspace. There is nothing to remove.'],
  version_not_found: [
    404,
    'This version does not exist or is no longer kept. List the versions to see which are.',
  ],
  route_not_found: [404, 'There is no such route; GET /api/docs lists them all.'],
  request_timeout: [408, 'The request took too long to arrive. Send it again.'],
  workspace_required: [
    409,
    'No workspace of yours matches this repository. Create or extend one with the suggested pattern.',
  ],
  last_admin: [409, 'A workspace keeps at least one admin. Make somebody else admin first.'],
  personal_workspace: [
    409,
    'A personal workspace takes no invites, joins or leaves. Create another one for a team.',
  ],
  subscription_active: [
    409,
    'Your subscription is still running. End it first; POST /api/billing/portal leads there.',
  ],
  no_subscription: [409, 'You have no billing account yet; POST /api/billing/checkout creates one.'],
  flush_id_reused: [409, 'This flush_id was already used with other content. Use a new one.'],
  workspace_limit: [
    409,
    `A user is in at most ${limits.workspaces_per_user} workspaces. Leave or delete one first.`,
  ],
  invite_expired: [410, 'This invite has expired. Ask for a new one.'],
  invite_exhausted: [410, 'This invite has no uses left. Ask for a new one.'],
  invite_revoked: [410, 'This invite was revoked. Ask for a new one.'],
  version_conflict: [412, 'Somebody changed it meanwhile. Pull, merge and push again.'],
  payload_too_large: [413, 'The body is larger than this route takes. Send less at once.'],
  settings_too_large: [413, 'The settings are larger than the limit. Shorten or remove some.'],
  workspace_full: [
    413,
    'The overrides and current settings of this workspace take up all of its room. Remove some first.',
  ],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  repo_outside_patterns: [
    422,
    'This repository matches no pattern of the workspace. Add a pattern that matches it first.',
  ],
  rate_limited: [429, 'Too many requests. Wait for the seconds in Retry-After.'],
  headers_too_large: [431, 'The headers of the request are too large. Send fewer or shorter ones.'],
  internal_error: [500, 'Something failed on our side. Try again later; the request id helps us find it.'],
  upstream_failed: [502, 'Another service that this needs has failed. Try again later.'],
  unavailable: [503, 'The service cannot answer right now. Try again after the seconds in Retry-After.'],
  oauth_not_configured: [
    503,
    'Sign-in through the browser is not configured here; use POST /api/auth/verify.',
  ],
  billing_not_configured: [
    503,
    'Billing is not configured on this installation. Only its operator can change that.',
  ],
  upstream_timeout: [504, 'Another service that this needs did not answer in time. Try again later.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>

export type ErrorCode = keyof typeof errorCatalogue
export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

/** Where the catalogue is read; the `type` of a problem leads to the entry of its code there. */
export const ERROR_PAGE = '/api/docs/errors'

export const Problem = Type.Object({
  type: Type.String({
    format: 'uri-reference',
    description: `Where the code is explained: \`${ERROR_PAGE}#<code>\`.`,
  }),
  status: Type.Integer(),
  title: Type.String({ description: 'What HTTP calls the status.' }),
  code: StringEnum(errorCodes, { description: 'The stable part: decide on this.' }),
  detail: Type.String({ description: 'What to do next, for people.' }),
  request_id: Type.String({ description: 'The `X-Request-Id` of the answer.' }),
  errors: Type.Optional(
    Type.Array(
      Closed({
        path: Type.String({
          description: 'A JSON pointer with the part first: `/body/entries/3/minutes`.',
        }),
        message: Type.String(),
      }),
      { description: 'What does not fit, and where.' },
    ),
  ),
  suggested_pattern: Type.Optional(
    Type.String({ description: 'A pattern that matches the repository and all others of its owner.' }),
  ),
  workspaces: Type.Optional(
    Type.Array(Named('WorkspaceWithoutAdmin', { id: Uuid, name: Type.String({ examples: ['Acme'] }) }), {
      description: 'Those that would have no admin.',
    }),
  ),
  current_version: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'The version that is there; null when nothing is.',
    }),
  ),
  limit_bytes: Type.Optional(Type.Integer({ description: 'How many bytes there may be.' })),
  actual_bytes: Type.Optional(Type.Integer({ description: 'How many bytes there would be.' })),
  upstream: Type.Optional(
    StringEnum(['repohost', 'billing-provider', 'assistant-a', 'assistant-b'], {
      description: 'Which other service it was.',
    }),
  ),
})
/** An RFC 9457 problem document. */
export type Problem = Static<typeof Problem>
/** The members of a problem beyond the common ones. */
export type ProblemExtras = Omit<Partial<Problem>, 'type' | 'status' | 'title' | 'code' | 'request_id'>

/** Examples of the further members of a code's problems. They always have these, and no others. */
export const problemExtras: Partial<Record<ErrorCode, ProblemExtras>> = {
  validation_failed: { errors: [{ path: '/body/name', message: 'is required' }] },
  last_admin: { workspaces: [{ id: '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', name: 'Acme' }] },
  workspace_required: { suggested_pattern: 'acme/*' },
  version_conflict: { current_version: 4 },
  settings_too_large: { limit_bytes: limits.settings_bytes, actual_bytes: 300_000 },
  workspace_full: { limit_bytes: limits.workspace_bytes },
  upstream_failed: { upstream: 'repohost' },
  upstream_timeout: { upstream: 'repohost' },
}
