/** `app.moving`: what deliveries say about renamed repositories, for features that don't know settings. */
import fp from 'fastify-plugin'
import type { Db } from '../../platform/database/client.js'
import { moveAtReport, type NotedRename } from './move-settings.js'

declare module 'fastify' {
  interface FastifyInstance {
    moving: {
      /** Part of the caller's transaction. Rows may conflict. */
      atReport(tx: Db, workspaceId: string, renamed: NotedRename): Promise<void>
    }
  }
}

export default fp(
  async (app) => {
    app.decorate('moving', { atReport: moveAtReport })
  },
  { name: 'moving' },
)
