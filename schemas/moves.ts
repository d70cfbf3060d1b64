import { type Static, Type } from '@sinclair/typebox'
import { Named, RepohostToken, RepoPath } from './common.js'

/** The caller's own token. */
export const MoveHeaders = Type.Object({ 'x-repohost-token': RepohostToken })

export const MoveBody = Named('MoveBody', {
  from: Type.Unsafe<string>({
    ...RepoPath,
    description: 'The old name, which the settings are stored under.',
    examples: ['acme/api-gateway'],
  }),
  to: Type.Unsafe<string>({
    ...RepoPath,
    description: 'The present name at the repository host.',
    examples: ['acme/gateway'],
  }),
})
export type MoveBody = Static<typeof MoveBody>
