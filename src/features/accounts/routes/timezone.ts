import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../../schemas/common.js'
import { TimezoneChoice, TimezoneOfPerson } from '../../../../schemas/profile.js'
import { ApiError } from '../../../errors.js'
import { anyPersonWith } from '../../../platform/access/access.js'
import { isTimezone } from '../../../platform/time/zones.js'
import { chooseTimezone } from '../queries/users.js'

export const timezoneRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: 'PUT',
    url: '/me/timezone',
    config: { access: anyPersonWith('activity:write'), errors: ['invalid_timezone'] },
    schema: {
      operationId: 'chooseTimezone',
      tags: ['profile'],
      summary: 'Choose the time zone',
      description:
        'A chosen time zone holds, whatever clients send. With null, the last one that a client names applies again, and until then the present one stays. It decides on which day and in which hour minutes are recorded, and it applies to the recording hours, to commits and closed issues that webhooks report, and to the default range of your own dashboard. What is recorded stays.',
      body: TimezoneChoice,
      response: { 200: ref(TimezoneOfPerson) },
    },
    handler: async ({ caller, body: { timezone } }) => {
      if (timezone !== null && !isTimezone(timezone)) throw new ApiError('invalid_timezone')
      const stored = await chooseTimezone(app.database.write, caller.userId, timezone)
      if (!stored) throw new ApiError('token_invalid')
      return { timezone: stored.timezone, timezone_chosen: stored.timezoneChosen }
    },
  })
}
