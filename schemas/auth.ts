import { type Static, Type } from '@sinclair/typebox'
import { AvatarUrl, Login, Named, Resource } from './common.js'
import { limits } from './limits.js'

export const VerifyBody = Named('VerifyBody', {
  repohost_token: Type.String({
    minLength: 1,
    maxLength: limits.repohost_token_length,
    format: 'printable',
    description:
      'A personal access token or OAuth token from the repository host. The service uses it once and doesn’t store it.',
    examples: ['ghp_exampleexampleexampleexampleexample'],
  }),
  cookie: Type.Optional(
    Type.Boolean({
      description:
        'Also set the cookie `svc_token` (over https, also `__Host-svc_token`), as the browser sign-in does. Only pages of a known dashboard or of the service itself can set it.',
    }),
  ),
})
export type VerifyBody = Static<typeof VerifyBody>

export const VerifyResult = Resource('VerifyResult', {
  token: Type.String({
    description: 'The session token (JWT), valid for 30 days.',
    examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'],
  }),
  login: Login,
  avatar_url: AvatarUrl,
  missing_scope: Type.Optional(
    Type.String({
      description:
        'The scope without which the repository host doesn’t tell the service to which organizations the caller belongs. It’s here only if the token lacks it, and a workspace takes in the members of an organization, or one of the caller’s follows one. The sign-in counts all the same, but memberships stay as they are. Sign in again with a token that has this scope.',
      examples: ['read:org'],
    }),
  ),
})
export type VerifyResult = Static<typeof VerifyResult>

export const LoginQuery = Type.Object({
  return_to: Type.Optional(
    Type.String({
      pattern: '^/([^/\\x00-\\x20\\\\][^\\x00-\\x20\\\\]*)?$',
      maxLength: 1_000,
      default: '/',
      description: 'The dashboard’s path to return to. It can’t be the address of another site.',
    }),
  ),
})

export const CallbackQuery = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 1_000 })),
  state: Type.Optional(Type.String({ maxLength: 1_000 })),
  error: Type.Optional(Type.String({ maxLength: 1_000 })),
})

export const LogoutBody = Named('LogoutBody', {
  everywhere: Type.Optional(
    Type.Boolean({ description: 'Also end the caller’s other sessions.', examples: [false] }),
  ),
})
export type LogoutBody = Static<typeof LogoutBody>
