import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Ok, ref, WorkspaceParams } from '../../../../schemas/common.js'
import { MoveBody, MoveHeaders } from '../../../../schemas/moves.js'
import { validationError } from '../../../errors.js'
import { checkMoveAccess } from '../../../platform/hosts/repohost.js'
import { chargeHostToken } from '../../../platform/rate-limits/rate-limit.js'
import { readCaller } from '../../accounts/index.js'
import { adminOf } from '../../workspaces/index.js'
import { moveOf, moveSettings, requireMovable } from '../move-settings.js'

const adminAccess = adminOf('params.id')

export const moveRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { clients, database } = app

  app.route({
    method: 'POST',
    url: '/workspaces/:id/repos/move',
    config: {
      access: adminAccess,
      limit: 'refused_host_tokens',
      validate: ({ body }) => {
        const { from, to } = body as MoveBody
        if (from.toLowerCase() === to.toLowerCase())
          throw validationError('/body/to', 'must differ from `from` by more than upper and lower case')
      },
      errors: [
        'repohost_token_required',
        'repohost_token_invalid',
        'repo_access_denied',
        'repo_outside_patterns',
        'never_synced',
        'repo_taken',
        'upstream_failed',
        'upstream_timeout',
      ],
    },
    schema: {
      operationId: 'moveSettings',
      tags: ['team'],
      summary: 'Move the settings of a renamed repository',
      description:
        'Moves the pushed settings, the override and the histories of both to the new name, in this workspace alone. Versions and their numbers stay. The token must show that the old name leads to the new one at the repository host, or that you see only the new one. Activity keeps the name it was recorded under. With GitHub, a webhook with the event *Repositories* tells admins of a rename.',
      params: WorkspaceParams,
      headers: MoveHeaders,
      body: MoveBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      const membership = request.granted(adminAccess)
      const { body, caller, trace } = request
      const token = request.headers['x-repohost-token']
      const renamed = moveOf(body)
      const { repohostId } = await readCaller(database.read, caller.userId)
      // Before the host is asked, and once more with the workspace locked.
      await requireMovable(database.read, membership.workspaceId, renamed)
      const charge = await chargeHostToken(request)
      const shown = { token, userId: repohostId, trace }
      const host = await checkMoveAccess(clients.repohost, shown, renamed.from, renamed.to)
      await charge.settle(host.outcome)
      if (host.outcome !== 'granted') throw host.error
      await moveSettings(database, membership, renamed)
      return { ok: true } as const
    },
  })
}
