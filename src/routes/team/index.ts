import type { FastifyPluginAsync } from 'fastify'
import { requirePro } from '../../features/billing/policies.js'
import { activityRoutes } from './activity.js'
import { auditRoutes } from './audit.js'
import { dashboardRoutes } from './dashboard.js'
import { effectiveConfigRoutes } from './effective-config.js'
import { inviteRoutes } from './invites.js'
import { joinRoute } from './join.js'
import { memberRoutes } from './members.js'
import { overrideRoutes } from './overrides.js'
import { patternRoutes } from './patterns.js'
import { workspaceSettingsRoutes } from './workspace-settings.js'
import { workspaceRoutes } from './workspaces.js'

/** Everything below `/api/team`. Only joining does not need Pro. */
export const teamRoutes: FastifyPluginAsync = async (app) => {
  await app.register(joinRoute)
  await app.register(async (pro) => {
    pro.addHook('onRoute', (route) => {
      route.config = { ...route.config, pro: true }
    })
    pro.addHook('onRequest', (request) => requirePro(pro.db, pro.config.billing, request.caller.userId))
    await pro.register(workspaceRoutes)
    await pro.register(memberRoutes)
    await pro.register(inviteRoutes)
    await pro.register(patternRoutes)
    await pro.register(workspaceSettingsRoutes)
    await pro.register(overrideRoutes)
    await pro.register(effectiveConfigRoutes)
    await pro.register(auditRoutes)
    await pro.register(activityRoutes)
    await pro.register(dashboardRoutes)
  })
}
