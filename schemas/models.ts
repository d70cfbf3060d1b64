import { type Static, Type } from '@sinclair/typebox'
import { Named, Nullable, Resource, ref, Timestamp } from './common.js'
import { limits } from './limits.js'

export const ModelsQuery = Type.Object({
  apiKey: Type.String({
    minLength: 1,
    maxLength: limits.assistant_key_length,
    format: 'printable',
    description:
      "The caller's own key at the provider. The service sends it only to the provider, and doesn’t store it.",
    examples: ['sk-example'],
  }),
})

export const Model = Resource('Model', {
  id: Type.String({ examples: ['model-1'] }),
  name: Type.String({
    description: 'The display name, or the id if the provider has no name.',
    examples: ['Model 1'],
  }),
  created_at: Nullable(
    Type.String({
      ...Timestamp,
      description: 'Null: the provider doesn’t say.',
    }),
  ),
})
export type Model = Static<typeof Model>

export const ModelList = Named('ModelList', { models: Type.Array(ref(Model)) })
