/** `app.moving`: what deliveries say about renamed repositories, for features that don't know settings. */
import fp from 'fastify-plugin'
import { moveAtReport, type NotedRename } from './move-settings.js'

declare module 'fastify' {
  interface FastifyInstance {
    moving: {
      atReport(workspaceId: string, renamed: NotedRename): Promise<void>
    }
  }
}

export default fp(
  async (app) => {
    app.decorate('moving', {
      atReport: (workspaceId, renamed) => moveAtReport(app.database, workspaceId, renamed),
    })
  },
  { name: 'moving' },
)
