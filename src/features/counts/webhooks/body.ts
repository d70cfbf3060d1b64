/**
 * How bodies of deliveries are read. Anyone can send one, so nothing is parsed before its signature is verified, few large
 * bodies are in memory at a time, and a body that arrives slowly soon loses its permit.
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { IncomingBody } from '../../../platform/http/incoming-body.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { inTime } from '../../../platform/process/in-time.js'
import { withMemory } from '../../../platform/process/request-memory.js'
import { KeyedSemaphore } from '../../../platform/process/semaphore.js'
import { addressOf } from '../../../platform/rate-limits/payers.js'
import { untilHangUp } from '../uploads/hang-up.js'
import { createReader } from '../uploads/reader.js'
import { type Delivery, type DeliveryContext, readDelivery, type TooMuch } from './delivery.js'
import type { Verification } from './signature.js'

/** Smaller bodies cost less than a thread, and no more memory than connections have anyway. */
const LARGE_BYTES = 131_072
/** What a body needs, in times of its size, measured with `bench/memory`. */
const MEMORY_FACTOR = 4
/** Large bodies in memory: of one address, and of one webhook. The others have arrived in part, and wait. */
const MAX_BODIES_OF_ADDRESS = 2
const MAX_BODIES_OF_WEBHOOK = 1
const WAITING_OF_ONE = 8
/** Hosts give up after 10 s. */
const WAIT_MS = 5_000
const ARRIVAL_MS = 8_000
/** Bodies that are parsed at once. */
const READERS = 1

/** The content of a signed body, or why it cannot be read. */
export type SignedBody = { delivery: Delivery } | { failure: ApiError }

const tooManyCommits = (commits: number) =>
  new ApiError('payload_too_large', {
    detail: `This delivery has ${commits} commits, more than ${limits.webhook_commits}.`,
  })

export interface ExpectedDelivery extends DeliveryContext {
  webhookId: string
  verification: Verification
  /** Runs once the signature holds, before anything is parsed. @throws {ApiError} `rate_limited` */
  admit(): Promise<void>
}

export const createDeliveryReader = () => {
  const busy = () => new ApiError('unavailable')
  const bodiesOfAddress = new KeyedSemaphore(MAX_BODIES_OF_ADDRESS, WAITING_OF_ONE, WAIT_MS, busy)
  const bodiesOfWebhook = new KeyedSemaphore(MAX_BODIES_OF_WEBHOOK, WAITING_OF_ONE, WAIT_MS, busy)
  const read = createReader<Delivery | TooMuch, DeliveryContext>(
    new URL('./worker.js', import.meta.url),
    READERS,
  )

  const inTurn = <T>(
    request: FastifyRequest,
    webhookId: string,
    bytes: number,
    work: () => Promise<T>,
  ): Promise<T> =>
    bodiesOfWebhook.run(webhookId, () =>
      bodiesOfAddress.run(addressOf(request), () =>
        withMemory(bytes, MEMORY_FACTOR, work, Date.now() + WAIT_MS),
      ),
    )

  const parse = async (work: () => Delivery | TooMuch | Promise<Delivery | TooMuch>): Promise<SignedBody> => {
    try {
      const found = await work()
      return 'tooMany' in found ? { failure: tooManyCommits(found.tooMany) } : { delivery: found }
    } catch (error) {
      if (!(error instanceof StrictJsonError)) throw error
      return { failure: new ApiError('invalid_json', { detail: error.message }) }
    }
  }

  /** @throws {ApiError} `signature_invalid`, `payload_too_large`, `request_timeout`, `unavailable`, `bad_request` */
  return async (
    request: FastifyRequest,
    payload: Readable,
    { webhookId, verification, admit, ...context }: ExpectedDelivery,
  ): Promise<SignedBody> => {
    const incoming = new IncomingBody(
      payload,
      request.headers['content-length'],
      limits.webhook_body_bytes,
      (chunk) => verification.add(chunk),
    )
    const requireSignature = async () => {
      if (!verification.holds) throw new ApiError('signature_invalid')
      await admit()
    }
    if (await incoming.receive(LARGE_BYTES)) {
      await incoming.leave()
      await requireSignature()
      return parse(() => readDelivery(incoming.bytes, context))
    }
    return inTurn(request, webhookId, incoming.expectedBytes, async () => {
      await inTime(incoming.receive(), ARRIVAL_MS, () => {
        throw new ApiError('request_timeout')
      })
      await incoming.leave()
      await requireSignature()
      return parse(() => untilHangUp(request, (signal) => read(incoming.bytes, context, signal)))
    })
  }
}

/** A connection whose body was not waited for is of no further use. */
export const closeLateConnections = (app: FastifyInstance): void => {
  app.addHook('onError', async (_request, reply, error) => {
    if (error instanceof ApiError && error.code === 'request_timeout') reply.header('Connection', 'close')
  })
}
