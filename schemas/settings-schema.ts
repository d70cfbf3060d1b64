import { type Static, Type } from '@sinclair/typebox'
import { Named, Nullable, Resource, StringEnum } from './common.js'

const property = { type: 'number', default: 14, minimum: 6, description: 'Controls the font size in pixels.' }

export const SettingsSchema = Resource('SettingsSchema', {
  type: Type.Literal('object'),
  properties: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description:
      "The JSON Schema of each setting, with the editor's own properties such as `markdownDescription`, `enumDescriptions`, `order` and `scope`. Texts contain no HTML, and no links except to web pages and to other settings (`#key#`).",
    examples: [{ 'ext.fontSize': property }],
  }),
  additionalProperties: Type.Literal(false),
  'x-groups': Type.Array(
    Named('SettingsGroup', {
      title: Nullable(Type.String({ examples: ['Appearance'] })),
      properties: Type.Array(Type.String({ examples: ['ext.fontSize'] })),
    }),
    { description: 'The groups in which an editor shows the settings. Every setting is in one of them.' },
  ),
  'x-validation': StringEnum(['warn', 'enforce'], {
    description:
      '`warn`: settings that don’t match are stored, with `warnings` in the response. `enforce`: they are rejected with 400 `validation_failed`.',
    examples: ['warn'],
  }),
})
export type SettingsSchema = Static<typeof SettingsSchema>
