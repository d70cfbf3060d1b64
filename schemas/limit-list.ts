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
    description: 'The first of `settings_prefixes`.',
    examples: ['ext'],
  }),
  settings_prefixes: Type.Array(Type.String({ examples: ['ext'] }), {
    description:
      "Settings keys start with one of these prefixes and a dot. The first belongs to the team's own extension. `*` as the last one allows every other prefix.",
    examples: [['ext', 'editor']],
  }),
  settings_denied: Type.Array(Type.String({ examples: ['terminal.*'] }), {
    description:
      'Settings that no one may store, except under the first prefix. `*` stands for any text, and case doesn’t matter. A pattern denies values that have a text in them; with a leading `!`, any value.',
    examples: [['!terminal.*', '*path']],
  }),
  settings_allowed: Type.Array(Type.String({ examples: ['terminal.integrated.font*'] }), {
    description: 'Settings that may be stored although a pattern in `settings_denied` denies them.',
    examples: [['terminal.integrated.font*', '*.trace.server']],
  }),
  settings_restricted: Type.Array(Type.String({ examples: ['eslint.nodePath'] }), {
    description:
      'Keys that extensions restrict to trusted folders. They are also in `settings_denied`, and `settings_allowed` doesn’t lift them.',
    examples: [['eslint.nodePath']],
  }),
})
