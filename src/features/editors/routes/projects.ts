/** Editors' project names, and the removal of minutes, for their owner. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RemovedMinutes, RemovedMinutesQuery } from '../../../../schemas/activity.js'
import { ref } from '../../../../schemas/common.js'
import { EditorProjectBody, EditorProjectList, EditorProjectResult } from '../../../../schemas/editors.js'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { anyCaller } from '../../../platform/access/access.js'
import { countDays } from '../../../platform/time/days.js'
import { assignProject, listEditorProjects } from '../assign-project.js'
import { projectHostOf } from '../project-names.js'
import { removeMinutes } from '../remove-minutes.js'

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
      description: `Names in heartbeats that aren’t repositories, and repositories in heartbeats that no workspace of the caller counts, newest first. A name is matched automatically if it is the name of exactly one repository that the caller has pushed settings for, or has sent by its full address in a flush or a heartbeat, or if it is an address with an SSH alias that the caller has assigned. Admins can’t match names. Otherwise it waits for an assignment. The service keeps at most ${limits.editor_projects_waiting} waiting names, for ${limits.heartbeat_days} days, and shows them only to the caller. When there are more, the name whose newest heartbeat is the oldest makes room.`,
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
        'The name can be an address, also at another host (`git@github.com-work:acme/web.git`), or a repository that counts nowhere (`me/web`). Assigning an address to the owner and name in it assigns its SSH alias: other addresses with the alias count for the repositories in them. From then on, heartbeats with this name count for the repository. The minutes that are still stored for the name also count, except for days (UTC) before the caller joined the workspace. Minutes that already counted stay where they are. `counted` says how many counted now in each workspace. With `repo` null, the service ignores the name.',
      body: EditorProjectBody,
      response: { 200: EditorProjectResult },
    },
    handler: async (request) => {
      const counted = await assignProject(database, request.caller.userId, request.body, host)
      return { ok: true as const, counted }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/active-minutes',
    config: { access: anyCaller, errors: ['invalid_range'] },
    schema: {
      operationId: 'removeActiveMinutes',
      tags: ['activity'],
      summary: "Remove the caller's minutes",
      description:
        'Removes the caller’s minutes of one or more local days from all workspaces, also from those that the caller has left, and from the caller’s own time: minutes of flushes, heartbeats, imports, agents and names that wait for a repository. Commits and issues stay, and so do published weeks. A flush that’s sent again with the same `flush_id` is a duplicate. Heartbeats of these minutes count again if they’re sent again, and so does an import. No audit trail lists it. It can’t be undone.',
      querystring: RemovedMinutesQuery,
      response: { 200: ref(RemovedMinutes) },
    },
    handler: async (request) => {
      const { day, to = day, repo } = request.query
      const length = countDays(day, to)
      if (length < 1 || length > limits.removed_minutes_days)
        throw new ApiError('invalid_range', {
          detail: `\`to\` must not be before \`day\`, and you can remove at most ${limits.removed_minutes_days} days at once.`,
        })
      const { userId } = request.caller
      const removed = { userId, from: day, to, repoKey: repo?.toLowerCase() ?? null }
      return { removed_minutes: await removeMinutes(database, removed) }
    },
  })
}
