import type { FastifyPluginAsync } from 'fastify'
import { requirePro } from '../../policies/pro.js'
import { activityRoutes } from './activity.js'
import { dashboardRoutes } from './dashboard.js'
import { joinRoute } from './join.js'
import { workspaceRoutes } from './workspaces.js'

/** Everything below `/api/team`. Joining is open to everybody; the rest needs Pro. */
export const teamRoutes: FastifyPluginAsync = async (app) => {
  await app.register(joinRoute)
  await app.register(async (pro) => {
    pro.addHook('onRoute', (route) => {
      route.config = { ...route.config, pro: true }
    })
    pro.addHook('onRequest', requirePro)
    await pro.register(workspaceRoutes)
    await pro.register(activityRoutes)
    await pro.register(dashboardRoutes)
  })
}
