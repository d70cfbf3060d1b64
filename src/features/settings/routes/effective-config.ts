import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ConditionalReadHeaders, NotModified, ref } from '../../../../schemas/common.js'
import { EffectiveConfig, EffectiveConfigQuery } from '../../../../schemas/effective-config.js'
import { isObject, type SettingsKeys, settingsIn, settingsKeys } from '../../../../schemas/settings-keys.js'
import { effectiveConfig } from '../access.js'
import { storedWarnings } from '../policies/settings-rules.js'
import { keptMerges, overlaySettings } from '../settings-merge.js'

/** Editors don't get keys that were stored before they, or parts of their values, were denied. */
const withoutDenied = (keys: SettingsKeys, settings: Record<string, unknown>): Record<string, unknown> => {
  for (const { block, key, value } of settingsIn(settings)) {
    const place = block === undefined ? settings : settings[block]
    if (isObject(place) && keys.deniedParts(key, value).length > 0) delete place[key]
  }
  return settings
}

export const effectiveConfigRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const keys = settingsKeys(app.config.settingsKeys)
  app.route({
    method: 'GET',
    url: '/effective-config',
    config: { access: effectiveConfig },
    schema: {
      operationId: 'getEffectiveConfig',
      tags: ['team'],
      summary: "Get a repository's effective settings",
      description:
        "The settings of the best match among the caller's workspaces, merged with its override for the repository. Keys that the workspace has locked keep its value, whatever the override says. For merged keys, the override's list or object is added to the workspace's. The caller can have any role there. Matches are ordered as for pulling settings: workspaces where the caller is admin come first, then exact patterns before wildcards, then longer literal parts, then older workspaces.",
      querystring: EffectiveConfigQuery,
      headers: ConditionalReadHeaders,
      response: { 200: ref(EffectiveConfig), 304: NotModified },
    },
    handler: async (request, reply) => {
      const config = request.granted(effectiveConfig)
      reply.header('ETag', config.etag)
      if (config.settings === null) return reply.code(304).send(undefined)
      const ofWorkspace = withoutDenied(keys, JSON.parse(config.settings))
      const locked = (JSON.parse(config.locked) as string[]).filter((key) => Object.hasOwn(ofWorkspace, key))
      const merged = keptMerges(JSON.parse(config.merged), ofWorkspace, locked)
      const { settings, sources } = overlaySettings(
        ofWorkspace,
        withoutDenied(keys, JSON.parse(config.override ?? '{}')),
        { locked, merged },
      )
      return {
        repo: config.owner === null ? request.query.repo : `${config.owner}/${config.repo}`,
        workspace_id: config.workspaceId,
        matched_pattern: config.pattern,
        idle_window_minutes: config.idleWindowMinutes,
        settings,
        sources,
        locked: locked.filter((key) => Object.hasOwn(settings, key)),
        merged: merged.filter((key) => Object.hasOwn(settings, key)),
        also_matched: config.alsoMatched,
        ...storedWarnings(app.config.settingsRules, settings),
      }
    },
  })
}
