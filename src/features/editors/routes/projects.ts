/** Editors' project names, for their owner. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Ok, ref } from '../../../../schemas/common.js'
import { EditorProjectBody, EditorProjectList } from '../../../../schemas/editors.js'
import { limits } from '../../../../schemas/limits.js'
import { anyCaller } from '../../../platform/access/access.js'
import { assignProject, listEditorProjects } from '../assign-project.js'
import { projectHostOf } from '../project-names.js'

export const editorProjectRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const host = projectHostOf(config.repohost)

  app.route({
    method: 'GET',
    url: '/editor-projects',
    config: { access: anyCaller },
    schema: {
      operationId: 'listEditorProjects',
      tags: ['editors'],
      summary: 'List editor project names',
      description: `Names in heartbeats that aren’t repositories, newest first. A name is matched automatically if it is the name of exactly one repository that the caller has pushed settings for, or has sent by its full address in a flush or a heartbeat. Admins can’t match names. Otherwise it waits for an assignment. The service keeps at most ${limits.editor_projects_waiting} waiting names, for ${limits.heartbeat_days} days, and shows them only to the caller. When there are more, the name whose newest heartbeat is the oldest makes room.`,
      response: { 200: EditorProjectList },
    },
    handler: (request) => listEditorProjects(app.db, request.caller.userId),
  })

  app.route({
    method: 'PUT',
    url: '/editor-projects',
    config: { access: anyCaller },
    schema: {
      operationId: 'assignEditorProject',
      tags: ['editors'],
      summary: 'Assign a repository to a project name',
      description:
        'From then on, heartbeats with this name count for the repository. The minutes that are still stored for the name also count, except for days (UTC) before the caller joined the workspace. Minutes that already counted stay where they are. With `repo` null, the service ignores the name.',
      body: EditorProjectBody,
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await assignProject(database, request.caller.userId, request.body, host)
      return { ok: true } as const
    },
  })
}
