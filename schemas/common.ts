import { type ObjectOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { limits } from './limits.js'
import { shortName } from './owners.js'

export { type RepohostKind, repohostKinds } from './owners.js'

/** A plain `enum` of strings, which is shorter in the document than TypeBox's union of literals. */
export const StringEnum = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options })

/** `T | null` in OpenAPI 3.1 notation: `type: ['string', 'null']`. `T` must have a plain `type`. */
export const Nullable = <T extends TSchema>(schema: T, options: object = {}) => {
  const values = schema.enum as unknown[] | undefined
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [schema.type, 'null'],
    ...(values && { enum: [...values, null] }),
    ...options,
  })
}

/** A reference to a resource, which becomes a component of the document. */
export const ref = <T extends TSchema>(schema: T) => {
  if (schema.$id === undefined) throw new Error('Only a schema with an `$id` can be referred to')
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
}

/** A closed object: requests with unknown properties are rejected, and responses never contain any. */
export const Closed: typeof Type.Object = (properties, options) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** A closed object with a name in the document. Use `Resource` for objects that others refer to. */
export const Named = <T extends TProperties>(title: string, properties: T) => Closed(properties, { title })

const resources = new Map<string, TSchema & { $id: string }>()

/** A closed object that others refer to (`ref`): a component of the document. */
export const Resource = <T extends TProperties>($id: string, properties: T, options?: ObjectOptions) => {
  const resource = Object.assign(Closed(properties, options), { $id })
  resources.set($id, resource)
  return resource
}

/** The resources of the modules loaded so far. */
export const listResources = () => [...resources.values()].sort((a, b) => (a.$id < b.$id ? -1 : 1))

export const Uuid = Type.String({ format: 'uuid', examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] })
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] })
export const Day = Type.String({ format: 'date', examples: ['2026-11-21'] })
export const Login = Type.String({ examples: ['ada'] })
/** The author of something that workspace keys can also write. */
export const Author = Type.String({
  description: 'A login, or `key <name>` for a workspace key.',
  examples: ['ada'],
})
export const AvatarUrl = Type.String({ examples: ['https://avatars.example.com/ada'] })

/**
 * Every name except `.` and `..`. Generators for Go and Rust don't support lookahead, so these are three alternatives.
 */
const nameOfRepohost = {
  pattern: '^([A-Za-z0-9_-][A-Za-z0-9_.-]*|\\.[A-Za-z0-9_-][A-Za-z0-9_.-]*|\\.\\.[A-Za-z0-9_.-]+)$',
  minLength: 1,
}
/** At GitLab, the group path (`subgroups.ts`). */
export const Owner = Type.String({
  ...nameOfRepohost,
  format: 'owner',
  maxLength: limits.owner_length,
  description: 'At GitLab, the group path as one segment: `acme%2Fplatform`.',
  examples: ['acme'],
})
export const Repo = Type.String({
  ...nameOfRepohost,
  maxLength: limits.repo_length,
  examples: ['api-gateway'],
})
/** `owner/repo` in one string. */
export const RepoPath = Type.String({
  format: 'repo-path',
  pattern: `^${shortName}/${shortName}$`,
  maxLength: limits.owner_length + limits.repo_length + 1,
  examples: ['acme/api-gateway'],
})

export const Role = StringEnum(['admin', 'member'], { examples: ['member'] })
export type Role = Static<typeof Role>

/** The levels, from the loosest to the strictest. */
export const privacyLevels = ['named', 'team'] as const
export const PrivacyLevel = StringEnum(privacyLevels, {
  description:
    '`named`: admins see each member’s activity. `team`: members see only their own activity. Admins see only the team’s published weeks, with enough people behind every number.',
  examples: ['named'],
})
export type PrivacyLevel = Static<typeof PrivacyLevel>

/** The effective level, which every member can see. */
export const privacy = {
  activity_privacy: PrivacyLevel,
  activity_privacy_since: Type.String({
    format: 'date-time',
    description: 'When this level took effect.',
    examples: ['2026-11-21T09:30:00.000Z'],
  }),
}

/** `<ext>.…`. The format checks the configured prefixes. */
export const settingsKey = { format: 'settings-key', maxLength: limits.settings_key_length }
/** The rules of settings objects. */
const settingsRules = {
  type: 'object',
  additionalProperties: true,
  propertyNames: { type: 'string', ...settingsKey },
  examples: [{ 'ext.theme': 'dark', 'ext.fontSize': 14 }],
}
/** Settings in a request. Too many bytes are 413 `settings_too_large`. */
export const SettingsInput = Type.Unsafe<Record<string, unknown>>({
  title: 'SettingsInput',
  ...settingsRules,
  'x-settings-bytes': limits.settings_bytes,
  description: `Keys start with \`ext.\` or another prefix of the server, are one of the other prefixes, or are a language block such as \`[typescript]\`, whose value is an object of such keys. They have at most ${limits.settings_key_length} characters. \`GET /api/limits\` lists the prefixes, and the keys that are denied under every prefix except the first. The JSON text has at most ${limits.settings_bytes} bytes of UTF-8.`,
})
/** Settings to merge. Their size is checked without the keys they remove, and again after the merge. */
export const SettingsPatch = Type.Unsafe<Record<string, unknown>>({
  title: 'SettingsPatch',
  ...settingsRules,
  'x-patch-bytes': limits.settings_bytes,
  description: `A JSON Merge Patch (RFC 7396) of the first level of keys. \`null\` removes a key, any other value replaces it in place, and new keys go last. The merged JSON text has at most ${limits.settings_bytes} bytes of UTF-8.`,
})
export const Settings = Type.Unsafe<Record<string, unknown>>({
  title: 'Settings',
  type: 'object',
  additionalProperties: true,
  examples: settingsRules.examples,
})

export const warningCodes = ['invalid', 'unknown', 'not_applied', 'deprecated', 'secret'] as const
export type WarningCode = (typeof warningCodes)[number]
export const WarningCode = StringEnum(warningCodes, {
  description:
    '`invalid`: the value doesn’t match the settings schema. `unknown`: the schema has no such setting. `not_applied`: the editor restricts this setting, or keeps it for the application or the machine, so the extension never writes it. `deprecated`: the schema says so. `secret`: it looks like a password or a token.',
  examples: ['invalid'],
})

/** What people should know about stored values. */
export const Warnings = Type.Optional(
  Type.Array(
    Named('SettingsWarning', {
      path: Type.String({
        description:
          'A JSON pointer that starts with the part of the request, or in a response that only reads, with its `settings`.',
        examples: ['/body/settings/ext.fontSize'],
      }),
      code: WarningCode,
      message: Type.String({ examples: ['must be a number'] }),
    }),
    {
      description: 'At most 100 warnings. The settings are stored anyway. Absent if there are none.',
      examples: [[{ path: '/body/settings/ext.fontSize', code: 'invalid', message: 'must be a number' }]],
    },
  ),
)
export type Warnings = Static<typeof Warnings>

const REASON_DESCRIPTION = 'Why the change is made. The history and the audit trail show it.'
/** A reason in a request. */
export const Reason = Type.Optional(
  Type.String({
    maxLength: limits.reason_length,
    description: REASON_DESCRIPTION,
    examples: ['Use the dark theme'],
  }),
)
/** A reason in a list of versions. */
export const GivenReason = Nullable(
  Type.String({
    description: 'Why the change was made. Null: no reason was given.',
    examples: ['Use the dark theme'],
  }),
)

export const LockedKeys = Type.Array(Type.String({ examples: ['ext.theme'] }), {
  description: 'Keys that no override can change.',
  examples: [['ext.theme']],
})

export const MergedKeys = Type.Array(Type.String({ examples: ['ext.words'] }), {
  description:
    'Keys whose lists and objects are combined: an override’s list is appended to the workspace’s, without items that are already there, and an override’s object is merged by its names, where null takes one away. Other values replace the workspace’s.',
  examples: [['ext.words']],
})

export const Ok = Resource('Ok', { ok: Type.Literal(true) }, { examples: [{ ok: true }] })

/** For operations without a body: nothing, or an empty object. */
export const NoBody = Closed({}, { title: 'NoBody', description: 'No body, or `{}`.' })

/** The first sentence about an operation that returns a page. */
export const PAGED = `Returns the first page, with at most ${limits.page_size_default} rows unless you send \`limit\`: send \`next_cursor\` as \`cursor\` to get the next one.`

export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.page_size_max,
      default: limits.page_size_default,
      description: 'Rows per page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'The `next_cursor` of the previous page.' }),
  ),
})
export const NextCursor = Nullable(
  Type.String({
    description: 'Send it as `cursor` to get the next page. Null on the last page.',
    examples: [null],
  }),
)

export const RepohostToken = Type.String({
  minLength: 1,
  maxLength: limits.repohost_token_length,
  format: 'printable',
  description:
    "The caller's own repository host token. The service checks it with the host and never stores it.",
  examples: ['ghp_exampleexampleexampleexampleexample'],
})

export const WorkspaceParams = Type.Object({ id: Uuid })
export const RepoParams = Type.Object({ owner: Owner, repo: Repo })
export const WorkspaceChoice = Type.Optional(
  Type.String({ format: 'uuid', description: 'Use this workspace instead of the best match.' }),
)

export const ConditionalReadHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'An `ETag`. The response is 304 while this version is current.' }),
  ),
})
const onlyOnto =
  'Change only the version with this `ETag`, one of several, or any (`*`). Otherwise the response is 412.'
const onlyIfNothing = '`*`: change only if there is nothing yet. Otherwise the response is 412.'
export const ConditionalWriteHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: onlyOnto })),
  'if-none-match': Type.Optional(Type.String({ description: onlyIfNothing })),
})
/**
 * The same in the query, for pages on other origins, which can’t send these headers. If both are sent, both must hold.
 */
export const ConditionalWriteQuery = {
  if_match: Type.Optional(
    Type.String({ maxLength: 1_000, description: `The same as the header \`If-Match\`. ${onlyOnto}` }),
  ),
  if_none_match: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: `The same as the header \`If-None-Match\`. ${onlyIfNothing}`,
    }),
  ),
}

/** Declares a 304 for the document; it has no body. */
export const NotModified = Type.Unsafe<undefined>({
  type: 'null',
  description: 'Not modified. The version in `If-None-Match` is current.',
})
