import { type Static, Type } from '@sinclair/typebox'
import { StringEnum } from './common.js'
import { limits } from './limits.js'

/**
 * The one catalogue of errors: `code` → HTTP status and the default `detail`, which says what to do next.
 * RFC 9457 problem documents are built from it, and the OpenAPI document lists these codes for every route.
 */
export const errorCatalogue = {
  validation_failed: [400, 'The request does not fit the schema; see `errors`.'],
  invalid_json: [400, 'The body is not JSON that this service accepts.'],
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
  signature_invalid: [400, 'The signature of the notification is missing, wrong or too old.'],
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
  admin_required: [403, 'Only an admin of the workspace may do this.'],
  repo_access_denied: [
    403,
    'The token of the repository host is not yours, or gives no access to this repository.',
  ],
  csrf_rejected: [403, 'A cookie-authenticated change must come from a known dashboard origin.'],
  never_synced: [404, 'Nothing was ever pushed for this repository.'],
  workspace_not_found: [404, 'There is no such workspace, or you are not a member of it.'],
  member_not_found: [404, 'Nobody with this login is a member of the workspace.'],
  invite_not_found: [404, 'There is no such invite.'],
  override_not_found: [404, 'This repository has no override in this workspace.'],
  version_not_found: [404, 'This version does not exist or is no longer kept.'],
  route_not_found: [404, 'There is no such route; GET /api/docs lists them all.'],
  request_timeout: [408, 'The request took too long to arrive. Send it again.'],
  workspace_required: [
    409,
    'No workspace of yours matches this repository. Create or extend one with the suggested pattern.',
  ],
  last_admin: [409, 'A workspace keeps at least one admin. Make somebody else admin first.'],
  personal_workspace: [409, 'A personal workspace takes no invites, joins or leaves.'],
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
  payload_too_large: [413, 'The body is larger than this route takes.'],
  settings_too_large: [413, 'The settings are larger than the limit.'],
  workspace_full: [
    413,
    'The overrides and current settings of this workspace take up all of its room. Remove some first.',
  ],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  repo_outside_patterns: [422, 'This repository matches no pattern of the workspace.'],
  rate_limited: [429, 'Too many requests. Wait for the seconds in Retry-After.'],
  headers_too_large: [431, 'The headers of the request are too large. Send fewer or shorter ones.'],
  internal_error: [500, 'Something failed on our side. The request id helps us find it.'],
  upstream_failed: [502, 'Another service that this needs has failed. Try again later.'],
  unavailable: [503, 'The service cannot answer right now. Try again after the seconds in Retry-After.'],
  oauth_not_configured: [
    503,
    'Sign-in through the browser is not configured here; use POST /api/auth/verify.',
  ],
  billing_not_configured: [503, 'Billing is not configured on this installation.'],
  upstream_timeout: [504, 'Another service that this needs did not answer in time. Try again later.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>

export type ErrorCode = keyof typeof errorCatalogue
export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

export const Problem = Type.Object(
  {
    status: Type.Integer({ examples: [409] }),
    title: Type.String({ examples: ['Conflict'] }),
    code: StringEnum(errorCodes, { description: 'The stable part: decide on this.' }),
    detail: Type.String({ description: 'What to do next, for people.' }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({
            description: 'A JSON pointer with the part first: `/body/entries/3/minutes`.',
          }),
          message: Type.String(),
        }),
        { description: 'With `validation_failed`.' },
      ),
    ),
    suggested_pattern: Type.Optional(
      Type.String({ description: 'With `workspace_required`.', examples: ['acme/*'] }),
    ),
    current_version: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'With `version_conflict`; null when nothing is there.',
      }),
    ),
    limit_bytes: Type.Optional(
      Type.Integer({ description: 'With `settings_too_large` and `workspace_full`.' }),
    ),
    actual_bytes: Type.Optional(Type.Integer({ description: 'With `settings_too_large`.' })),
    upstream: Type.Optional(
      StringEnum(['repohost', 'billing-provider', 'assistant-a', 'assistant-b'], {
        description: 'With `upstream_failed` and `upstream_timeout`.',
      }),
    ),
  },
  { $id: 'Problem', additionalProperties: false, description: 'An RFC 9457 problem document.' },
)
export type Problem = Static<typeof Problem>
/** The members of a problem beyond the common ones. */
export type ProblemExtras = Omit<Partial<Problem>, 'status' | 'title' | 'code' | 'request_id'>
