import { Type } from '@sinclair/typebox'
import { limits } from './limits.js'

type LimitName = keyof typeof limits
const names = Object.keys(limits) as LimitName[]

export const Limits = Type.Object(
  {
    ...(Object.fromEntries(names.map((name) => [name, Type.Integer({ examples: [limits[name]] })])) as Record<
      LimitName,
      ReturnType<typeof Type.Integer>
    >),
    extension_prefix: Type.String({
      description: 'Settings keys start with this prefix and a dot.',
      examples: ['ext'],
    }),
  },
  { $id: 'Limits', additionalProperties: false },
)
