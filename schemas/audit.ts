import { type Static, Type } from '@sinclair/typebox'
import { Login, Named, NextCursor, Nullable, Resource, ref, Timestamp, Uuid } from './common.js'

export const AuditEntry = Resource('AuditEntry', {
  id: Uuid,
  at: Timestamp,
  actor: {
    ...Login,
    description: 'The person’s login at the time, `key <name>`, `service` or `operator`.',
  },
  action: Type.String({ description: '`noun.verb`', examples: ['member.removed'] }),
  target: Nullable(
    Type.String({
      description: 'A login, a repository, an invite’s id, or an access key’s name.',
      examples: ['bob'],
    }),
  ),
  details: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'More about the action, such as the role before and after.',
    examples: [{ role: 'member' }],
  }),
})
export type AuditEntry = Static<typeof AuditEntry>

export const AuditPage = Named('AuditPage', { entries: Type.Array(ref(AuditEntry)), next_cursor: NextCursor })
