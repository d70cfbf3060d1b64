import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { Recording } from '../../../schemas/recording.js'
import { ApiError, validationError } from '../../errors.js'
import { anyCaller } from '../../platform/access/access.js'
import { readRecording, writeRecording } from './queries/recordings.js'

export const recordingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me/recording',
    config: { access: anyCaller },
    schema: {
      operationId: 'getRecording',
      tags: ['profile'],
      summary: 'Get the recording preferences',
      description:
        'A client can read the preferences and leave out excluded activity. By default, everything is recorded: `paused` is false, `repos_off` is empty, and `hours` is null.',
      response: { 200: ref(Recording) },
    },
    handler: ({ caller }) => readRecording(app.database.hot, caller.userId),
  })

  app.route({
    method: 'PUT',
    url: '/me/recording',
    config: {
      access: anyCaller,
      validate: ({ body }) => {
        const { hours } = body as Recording
        if (hours && hours.from === hours.to)
          throw validationError('/body/hours/to', 'must not be equal to `from`')
      },
    },
    schema: {
      operationId: 'changeRecording',
      tags: ['profile'],
      summary: 'Change the recording preferences',
      description: `Takes effect with the next flush, on every instance and for every device. No minutes count while \`paused\` is true, or in the repositories in \`repos_off\` (at most ${limits.recording_repos_off}). With \`hours\`, minutes in other hours don’t count. The response to a flush notes such entries as \`recording_off\`. Earlier records stay. Commits and closed issues that an admin uploads aren’t affected.`,
      body: ref(Recording),
      response: { 200: ref(Recording) },
    },
    handler: async ({ caller, body }) => {
      if (!(await writeRecording(app.database.write, caller.userId, body)))
        throw new ApiError('token_invalid')
      return body
    },
  })
}
