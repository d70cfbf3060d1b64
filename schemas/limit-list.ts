import { Type } from '@sinclair/typebox'
import { Resource } from './common.js'
import { limits } from './limits.js'

type LimitName = keyof typeof limits
const names = Object.keys(limits) as LimitName[]

export const Limits = Resource('Limits', {
  ...(Object.fromEntries(names.map((name) => [name, Type.Integer({ examples: [limits[name]] })])) as Record<
    LimitName,
    ReturnType<typeof Type.Integer>
  >),
  extension_prefix: Type.String({
    description: 'Settings keys start with this prefix and a dot.',
    examples: ['ext'],
  }),
})
