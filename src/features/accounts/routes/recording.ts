import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { Recording } from '../../../../schemas/recording.js'
import { ApiError, invalid } from '../../../errors.js'
import { anyCaller } from '../../../platform/access/access.js'
import { readRecording, writeRecording } from '../queries/recordings.js'

export const recordingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'GET',
    url: '/me/recording',
    config: { access: anyCaller },
    schema: {
      operationId: 'getRecording',
      tags: ['profile'],
      summary: 'What the caller lets be recorded',
      description:
        'A client that asks need not even send what is off. Who never chose has everything recorded: `paused` false, no `repos_off`, `hours` null.',
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
        if (hours && hours.from === hours.to) throw invalid('/body/hours/to', 'must not be equal to `from`')
      },
    },
    schema: {
      operationId: 'changeRecording',
      tags: ['profile'],
      summary: 'Choose what is recorded',
      description: `Holds from the next flush on, in whatever process and from whatever device. While \`paused\`, and in \`repos_off\` (at most ${limits.recording_repos_off}), no minutes count; with \`hours\`, minutes of other hours do not. What was flushed is noted \`recording_off\`. What was recorded before stays, and the commits and closed issues that an admin uploads are not touched.`,
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
