import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Ok, ref } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import { DeliveryHeaders, DeliveryParams, DeliveryPayload } from '../../../../schemas/webhooks.js'
import { ApiError } from '../../../errors.js'
import { hostKinds } from '../../../platform/hosts/index.js'
import { isUuid } from '../../../platform/http/formats.js'
import type { LargeBody } from '../../../platform/http/large-body.js'
import { disableBodyParsing, requireTimelyBody } from '../../../platform/http/own-body.js'
import { Semaphore } from '../../../platform/process/semaphore.js'
import { type Payers, payersOfWorkspace } from '../../../platform/rate-limits/payers.js'
import { addressKeysOf } from '../../accounts/index.js'
import { proposeMove } from '../../settings/index.js'
import { handleLeaveReport } from '../../workspaces/index.js'
import { type DeliveryHead, lockWebhook, processDelivery, recordFailure } from '../process-delivery.js'
import { findWebhook } from '../queries/webhooks.js'
import { openDelivery, readSigned, receiveSigned } from '../webhooks/body.js'
import type { DeliveryContext } from '../webhooks/delivery.js'
import { Verification, webhookSecret } from '../webhooks/signature.js'

interface AnnouncedDelivery extends DeliveryHead, DeliveryContext {
  payers: Payers
  /** Whether the event can have an effect. */
  canMatter: boolean
  verification: Verification
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The delivery described by the headers, on the delivery route. */
    delivery: AnnouncedDelivery | null
  }
}

/** Deliveries use at most one in this many connections, because they share the database with all callers. */
const CONNECTIONS_PER_DELIVERY = 4
const MAX_WAITING = 512
/** Hosts give up after 10 s. */
const WAIT_MS = 8_000

const EVENT = /^[A-Za-z0-9_. -]{1,100}$/
const DELIVERY_ID = /^[\x21-\x7e]{1,100}$/

export const deliveryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { config, database } = app
  const host = hostKinds[config.repohost.kind]
  const { hostname } = new URL(config.repohost.url)
  const context = { database, addressKeys: addressKeysOf(config.jwtSecrets) }
  const maxConcurrent = Math.max(1, Math.floor(config.databasePoolSize / CONNECTIONS_PER_DELIVERY))
  const semaphore = new Semaphore(maxConcurrent, MAX_WAITING, WAIT_MS, () => new ApiError('unavailable'))
  app.decorateRequest('delivery', null)

  /** Only wrong signatures are limited, because the host sends as many deliveries as there are events. */
  const reject = async (request: FastifyRequest, error: ApiError): Promise<never> => {
    await app.rateLimits.admit(request, 'wrong_signatures')
    throw error
  }

  // Runs before the body is read.
  app.addHook('onRequest', async (request) => {
    if (config.webhookKeys.length === 0) throw new ApiError('webhooks_not_configured')
    const { headers } = request
    const proof = host.readProof(headers)
    if (!proof) return reject(request, new ApiError('signature_invalid'))
    const id = (request.params as { id: string }).id.toLowerCase()
    const webhook = isUuid(id) ? await findWebhook(database.hot, id) : undefined
    // The payer is an admin. A workspace without an admin has no webhook.
    if (!webhook || webhook.payerId === null) return reject(request, new ApiError('webhook_not_found'))
    const secrets = { id, generations: webhook.generations }
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
    const signsPayload = isForm && host.signsPayloadOfForm
    const verification = new Verification(config.webhookKeys, secrets, proof, signsPayload)
    if (verification.hasFailed) return reject(request, new ApiError('signature_invalid'))
    const [event = '', deliveryId = ''] = [host.readEvent(headers), host.readDeliveryId(headers)]
    const payers = await payersOfWorkspace(request, webhook.workspaceId, webhook.payerId)
    const canMatter = host.events.has(event)
    if (canMatter) await app.rateLimits.admit(request, 'deliveries', { payers, amount: 0 })
    request.delivery = {
      payers,
      canMatter,
      webhookId: id,
      workspaceId: webhook.workspaceId,
      event: EVENT.test(event) ? event : 'unknown',
      deliveryId: DELIVERY_ID.test(deliveryId) ? deliveryId : undefined,
      kind: config.repohost.kind,
      hostname,
      isForm,
      verification,
    }
  })

  const deliveryOf = ({ delivery }: FastifyRequest) => {
    if (!delivery) throw new Error('A delivery is announced before its body is read')
    return delivery
  }
  const receive = async (request: FastifyRequest, body: LargeBody): Promise<Buffer> => {
    try {
      return await receiveSigned(body, deliveryOf(request).verification)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'signature_invalid') return reject(request, error)
      throw error
    }
  }
  /** Charges the payers before anything is parsed. Undefined: the event has no effect, so the body isn't read. */
  const readBody = async (request: FastifyRequest, reply: FastifyReply) => {
    const { webhookId, canMatter, payers, ...context } = deliveryOf(request)
    const body = openDelivery(request, reply, webhookId)
    try {
      const bytes = await receive(request, body)
      if (!canMatter) return undefined
      const charge = await app.rateLimits.admit(request, 'deliveries', { payers })
      request.work = await app.rateLimits.beginWork(payers.map((payer) => `deliveries, ${payer}`))
      return { charge, ...(await readSigned(body, bytes, context)) }
    } finally {
      body.close()
    }
  }
  /** Processes an admitted delivery. @param rows how many rows it may store */
  const withPermits = async (request: FastifyRequest, rows: number, work: () => Promise<void>) => {
    const { payers } = deliveryOf(request)
    await app.rateLimits.admit(request, 'delivered_rows', { payers, amount: rows })
    // A person's deliveries run one at a time, so that different people's webhooks take turns.
    request.work?.pause()
    const release = await app.rateLimits.acquirePermit(request, 'turns_of_delivery', payers.slice(-1))
    request.work?.resume()
    try {
      await semaphore.run(work)
    } finally {
      release()
    }
  }
  disableBodyParsing(app, ['application/json', 'application/x-www-form-urlencoded'])

  app.route({
    method: 'POST',
    url: '/webhook/:id',
    bodyLimit: limits.webhook_body_bytes,
    // The id is checked with the proof.
    validatorCompiler: () => () => true,
    config: {
      access: webhookSecret,
      limit: 'none',
      readsBody: ref(DeliveryPayload),
      errors: ['invalid_json', 'payload_too_large'],
    },
    schema: {
      operationId: 'receiveDelivery',
      tags: ['activity'],
      summary: 'Receive a webhook delivery',
      description: `For the repository host only, and only with the headers of the configured kind of host. Each new commit pushed to the default branch counts for its author, on the date that its timestamp shows. A timestamp in UTC (\`Z\`) counts on that day of the author’s time zone. A closed issue counts for the person who closed it, on that day of the person’s time zone. Both count for members only, in repositories that match a pattern, and up to ${limits.webhook_days} days back. An uploaded count replaces what was reported. GitHub’s \`repository\` event with the action \`renamed\` gives admins a notice, and moves nothing. Other events have no effect, aren’t listed, and count towards no limit. Deliveries can be repeated and can come in any order. The body is JSON, or form-encoded with the JSON text in \`payload\`.`,
      params: DeliveryParams,
      headers: DeliveryHeaders,
      response: { 200: ref(Ok) },
    },
    handler: async (request, reply) => {
      const head = deliveryOf(request)
      const body = await readBody(request, reply)
      requireTimelyBody(request)
      if (!body) return { ok: true } as const
      if ('failure' in body) {
        await withPermits(request, 1, () => recordFailure(database, head, body.failure))
        throw body.failure
      }
      const { delivery } = body
      if (!delivery.isListed) {
        await body.charge.refund()
        return { ok: true } as const
      }
      const rows = 1 + delivery.commits.length + (delivery.issue ? 1 : 0)
      await withPermits(request, rows, async () => {
        const { left, renamed } = delivery
        const { proof } = head.verification
        if (left)
          await handleLeaveReport(app, head.workspaceId, left, {
            deliveryId: head.deliveryId,
            proof: 'hmac' in proof ? proof.hmac : undefined,
          })
        if (renamed)
          await database.transaction(
            async (tx) => {
              await lockWebhook(tx, head)
              await proposeMove(tx, head.workspaceId, renamed)
            },
            { rowsCanConflict: true },
          )
        const outcome = await processDelivery(context, head, delivery)
        // The outcome contains no names, repositories or addresses.
        request.log.debug({ delivery: outcome }, 'a delivery was counted')
      })
      return { ok: true } as const
    },
  })
}
