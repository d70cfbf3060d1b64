import { type Static, Type } from '@sinclair/typebox'
import {
  Day,
  Login,
  Named,
  Nullable,
  Resource,
  ref,
  StringEnum,
  Timestamp,
  Uuid,
  WorkspaceParams,
} from './common.js'
import { limits } from './limits.js'

/** The rights that an access key can have. A route names the scopes that admit a key. */
export const scopes = [
  'activity:write',
  'activity:read',
  'settings:read',
  'settings:write',
  'counts:write',
  'dashboard:read',
] as const
export type Scope = (typeof scopes)[number]

/** The scopes that a workspace key can have: activity belongs to people. */
export const workspaceScopes = [
  'settings:read',
  'settings:write',
  'counts:write',
  'dashboard:read',
] as const satisfies Scope[]

const name = Type.String({ minLength: 1, maxLength: limits.key_name_length, examples: ['nightly build'] })

const scopesOf = <const T extends readonly Scope[]>(allowed: T, description: string) =>
  Type.Array(StringEnum(allowed), {
    minItems: 1,
    maxItems: allowed.length,
    uniqueItems: true,
    description,
    examples: [['settings:read']],
  })

const keyBody = <const T extends readonly Scope[]>(title: string, allowed: T, description: string) =>
  Named(title, {
    name: Type.String({ ...name, pattern: '\\S' }),
    scopes: scopesOf(allowed, description),
    expires_in_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.key_days_max,
        default: limits.key_days_default,
        examples: [90],
      }),
    ),
  })

export const CreateKeyBody = keyBody(
  'CreateKeyBody',
  scopes,
  '`activity:write` can be combined only with `activity:read`.',
)
export const CreateWorkspaceKeyBody = keyBody(
  'CreateWorkspaceKeyBody',
  workspaceScopes,
  'A workspace key can’t have activity scopes, because it doesn’t act for a person.',
)
export type CreateKeyBody = Static<typeof CreateKeyBody>

const properties = {
  id: Uuid,
  name,
  scopes: Type.Array(StringEnum(scopes), { examples: [['settings:read']] }),
  created_by: Login,
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_day: Nullable({
    ...Day,
    description: 'The UTC day on which the key was last used. Null: it was never used.',
  }),
}

/** Without its secret, which the service doesn't store. */
export const AccessKey = Resource('AccessKey', properties)
export type AccessKey = Static<typeof AccessKey>

export const CreatedAccessKey = Resource('CreatedAccessKey', {
  ...properties,
  secret: Type.String({
    description: 'Send it as `Authorization: Bearer <secret>`. It is shown only here.',
    examples: ['svc_5f0c8a3e-9d1b-4c67-8a42-7e1d0b9f3c25'],
  }),
})
export type CreatedAccessKey = Static<typeof CreatedAccessKey>

export const AccessKeyList = Named('AccessKeyList', {
  keys: Type.Array(ref(AccessKey), { description: 'The keys that still work, newest first.' }),
})

export const KeyParams = Type.Object({ key: Uuid })
export const WorkspaceKeyParams = Type.Object({ ...WorkspaceParams.properties, ...KeyParams.properties })
