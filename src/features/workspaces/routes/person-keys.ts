import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NoBody, Ok, ref } from '../../../../schemas/common.js'
import { AccessKeyList, CreatedAccessKey, CreateKeyBody, KeyParams } from '../../../../schemas/keys.js'
import { limits } from '../../../../schemas/limits.js'
import { anyCaller } from '../../../platform/access/access.js'
import { listKeys, requireCombinable } from '../../keys/index.js'
import { createPersonKey, revokePersonKey } from '../change-keys.js'

export const personKeyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions, database, meter } = app

  app.route({
    method: 'GET',
    url: '',
    config: { access: anyCaller },
    schema: {
      operationId: 'listKeys',
      tags: ['profile'],
      summary: "List the caller's access keys",
      description: 'The keys that still work, newest first. The service doesn’t store their secrets.',
      response: { 200: AccessKeyList },
    },
    handler: async ({ caller }) => ({ keys: await listKeys(app.db, caller) }),
  })

  app.route({
    method: 'POST',
    url: '',
    config: {
      access: anyCaller,
      errors: ['key_limit'],
      validate: ({ body }) => requireCombinable((body as CreateKeyBody).scopes),
    },
    schema: {
      operationId: 'createKey',
      tags: ['profile'],
      summary: 'Create an access key',
      description: `The key acts for the caller, within its scopes. For workspace scopes, the caller’s current role is checked on every request. The secret is shown only in this response. It starts with \`waka_\` if the scopes include \`activity:write\`, and with \`svc_\` otherwise. A person can have ${limits.keys_per_owner} keys. It is recorded in the audit trail of the caller's personal workspace, and of every other workspace where the caller is admin, if the key can change it, upload counts or read its dashboard. See the guide [Access keys](/api/docs/access-keys).`,
      body: CreateKeyBody,
      response: { 201: ref(CreatedAccessKey) },
    },
    handler: async ({ caller: { userId }, body }, reply) => {
      const created = await createPersonKey(database, userId, body)
      meter.count('team_settings_access_keys_total', { owner: 'person', change: 'created' })
      reply.code(201)
      return created
    },
  })

  app.route({
    method: 'DELETE',
    url: '/:key',
    config: { access: anyCaller, errors: ['key_not_found'] },
    schema: {
      operationId: 'revokeKey',
      tags: ['profile'],
      summary: 'Revoke an access key',
      description:
        'The key stops working within 5 seconds on every instance. Revoking it again changes nothing.',
      params: KeyParams,
      body: NoBody,
      response: { 200: ref(Ok) },
    },
    handler: async ({ caller: { userId }, params }) => {
      const revoked = await revokePersonKey(database, userId, params.key)
      if (revoked) {
        sessions.accessKeys.forget(({ keyId }) => keyId === revoked.id)
        meter.count('team_settings_access_keys_total', { owner: 'person', change: 'revoked' })
      }
      return { ok: true } as const
    },
  })
}
