import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../../../../schemas/common.js'
import { Privacy } from '../../../../schemas/privacy.js'
import { anyone } from '../../../platform/access/access.js'
import { notRecorded, privacyRecords, privacyViews } from '../privacy-facts.js'

export const privacyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { activityDetailDays, privacy } = app.config
  const response: Privacy = {
    activity_privacy_floor: privacy.floor,
    activity_min_group: privacy.minGroup,
    activity_detail_days: activityDetailDays,
    records: privacyRecords({ detailDays: activityDetailDays }),
    not_recorded: notRecorded,
    shown: privacyViews(privacy),
  }

  app.route({
    method: 'GET',
    url: '/privacy',
    config: { access: anyone, usesDatabase: false },
    schema: {
      operationId: 'getPrivacy',
      tags: ['service'],
      summary: 'List what is recorded about people, and who sees it',
      description:
        'Lists what the service stores about people, why and for how long, and who sees it at each privacy level. The response contains this installation’s configuration.',
      response: { 200: ref(Privacy) },
    },
    handler: async () => response,
  })
}
