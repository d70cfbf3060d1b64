/** A workspace's whole configuration as one resource, for files in Git. The privacy level is never part of it. */
import { type Static, Type } from '@sinclair/typebox'
import {
  ConditionalWriteQuery,
  LockedKeys,
  MergedKeys,
  Named,
  Reason,
  Resource,
  Settings,
  SettingsInput,
  WarningCode,
} from './common.js'
import { IdleWindow, LockedKeysInput, MergedKeysInput } from './workspace-settings.js'
import { PatternList } from './workspaces.js'

const examples = [{ 'acme/api-gateway': { settings: { 'ext.fontSize': 16 } } }]

/** Repository names are checked one by one (`configuration-reader.ts`), as they depend on the host. */
const projects = (settings: typeof Settings) =>
  Type.Unsafe<Record<string, { settings: Record<string, unknown> }>>({
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { settings },
      required: ['settings'],
      additionalProperties: false,
    },
    description: 'The overrides by repository, `owner/repo`.',
    examples,
  })

export const Configuration = Resource('Configuration', {
  settings: Settings,
  locked: LockedKeys,
  merged: MergedKeys,
  idle_window_minutes: IdleWindow,
  patterns: Type.Array(Type.String({ examples: ['acme/*'] })),
  projects: projects(Settings),
})
export type Configuration = Static<typeof Configuration>

export const ConfigurationBody = Named('ConfigurationBody', {
  settings: Type.Optional(SettingsInput),
  locked: Type.Optional(LockedKeysInput),
  merged: Type.Optional(MergedKeysInput),
  idle_window_minutes: Type.Optional(IdleWindow),
  patterns: Type.Optional(PatternList),
  projects: Type.Optional(projects(SettingsInput)),
  reason: Reason,
})
export type ConfigurationBody = Static<typeof ConfigurationBody>

export const ConfigurationQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Change nothing, and return what would change.' }),
  ),
  ...ConditionalWriteQuery,
})

const value = (description: string, example: unknown) =>
  Type.Unsafe<unknown>({ description, examples: [example] })

export const ConfigurationResult = Resource('ConfigurationResult', {
  changes: Type.Array(
    Named('ConfigurationChange', {
      scope: Type.String({ description: '`workspace`, or the repository.', examples: ['workspace'] }),
      key: Type.String({
        description:
          'A key of the settings, or `locked`, `merged`, `idle_window_minutes` or `patterns`. `settings`: an override without keys appears or disappears.',
        examples: ['ext.theme'],
      }),
      before: value('Null means no value, unless `hides` says otherwise.', 'light'),
      after: value('Null means no value, unless `hides` says otherwise.', 'dark'),
      hides: Type.Optional(
        Type.Unsafe<'before' | 'after'>({
          type: 'string',
          enum: ['before', 'after'],
          description:
            'On this side, null means that the override unsets the workspace’s key. Without this property, null means that there is no value.',
          examples: ['after'],
        }),
      ),
    }),
  ),
  warnings: Type.Array(
    Named('ConfigurationWarning', {
      path: Type.String({ examples: ['/body/settings/ext.fontSize'] }),
      code: WarningCode,
      message: Type.String({ examples: ['must be a number'] }),
    }),
    {
      description: 'Warnings about new and changed values: at most 100. They are stored anyway.',
    },
  ),
  affected: Named('ConfigurationEffect', {
    repositories: Type.Integer({
      description: 'Known repositories whose configuration changes, or that patterns start or stop matching.',
      examples: [12],
    }),
    people: Type.Integer({ description: 'Members of the workspace. 0: nothing changes.', examples: [25] }),
  }),
  etag: Type.String({
    description: 'The `ETag` of the configuration after the change, or the current one for a dry run.',
    examples: ['"Zm9vYmFyYmF6"'],
  }),
})
export type ConfigurationChange = Static<typeof ConfigurationResult>['changes'][number]
export type ConfigurationEffect = Static<typeof ConfigurationResult>['affected']
