import type { FastifyPluginAsync } from 'fastify'
import { requirePro } from './features/billing/policies.js'
import { countsRoutes } from './features/counts/routes/counts.js'
import { webhookRoutes } from './features/counts/routes/webhooks.js'
import { readLastActiveDays } from './features/dashboard/queries/members.js'
import { dashboardRoutes } from './features/dashboard/routes/dashboard.js'
import { minutesRoutes } from './features/minutes/routes/minutes.js'
import { configurationRoutes } from './features/settings/routes/configuration.js'
import { effectiveConfigRoutes } from './features/settings/routes/effective-config.js'
import { moveRoutes } from './features/settings/routes/moves.js'
import { overrideRoutes } from './features/settings/routes/overrides.js'
import { workspaceSettingsRoutes } from './features/settings/routes/workspace-settings.js'
import { auditRoutes } from './features/workspaces/routes/audit.js'
import { inviteRoutes, joinRoute } from './features/workspaces/routes/invites.js'
import { workspaceKeyRoutes } from './features/workspaces/routes/keys.js'
import { memberRoutes } from './features/workspaces/routes/members.js'
import { organizationRoutes } from './features/workspaces/routes/organization.js'
import { patternRoutes } from './features/workspaces/routes/patterns.js'
import { workspaceRoutes } from './features/workspaces/routes/workspaces.js'

/** Everything below `/api/team`. Only joining works without Pro. */
export const teamRoutes: FastifyPluginAsync = async (app) => {
  await app.register(joinRoute)
  await app.register(async (pro) => {
    pro.addHook('onRoute', (route) => {
      route.config = { ...route.config, pro: true }
    })
    pro.addHook('onRequest', (request) => requirePro(pro.db, pro.config.billing, request.memberId))
    await pro.register(workspaceRoutes)
    await pro.register(memberRoutes, { lastActiveDays: readLastActiveDays })
    await pro.register(inviteRoutes)
    await pro.register(workspaceKeyRoutes)
    await pro.register(patternRoutes)
    await pro.register(organizationRoutes)
    await pro.register(workspaceSettingsRoutes, { afterLevelChange: () => pro.jobs.publishedWeeks.run() })
    await pro.register(overrideRoutes)
    await pro.register(moveRoutes)
    await pro.register(configurationRoutes)
    await pro.register(effectiveConfigRoutes)
    await pro.register(auditRoutes)
    await pro.register(minutesRoutes)
    await pro.register(countsRoutes)
    await pro.register(dashboardRoutes)
    await pro.register(webhookRoutes)
  })
}
