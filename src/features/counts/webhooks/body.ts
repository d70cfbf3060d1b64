/** How bodies of deliveries are read. Anyone can send one, so nothing is parsed before its signature is verified. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { readLargeBody } from '../../../platform/http/large-body.js'
import { RequestMemory } from '../../../platform/http/request-memory.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { addressOf } from '../../../platform/rate-limits/payers.js'
import { type Delivery, type DeliveryContext, reader } from './delivery.js'
import type { Verification } from './signature.js'

/** A signed body's content, or why it can't be read. */
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

/** @throws {ApiError} `signature_invalid`, and what `readLargeBody` throws */
export const readSignedBody = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { webhookId, verification, admit, kind, hostname, event, isForm }: ExpectedDelivery,
): Promise<SignedBody> => {
  const address = addressOf(request)
  try {
    const found = await readLargeBody(request, {
      reader,
      context: { kind, hostname, event, isForm },
      maxBytes: limits.webhook_body_bytes,
      // Until the signature is verified, only the address is known.
      memory: new RequestMemory(request, reply, address),
      place: `${address} ${webhookId}`,
      inspect: (chunk) => verification.add(chunk),
      admit: async () => {
        if (!verification.holds) throw new ApiError('signature_invalid')
        await admit()
      },
    })
    return 'tooMany' in found ? { failure: tooManyCommits(found.tooMany) } : { delivery: found }
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    return { failure: new ApiError('invalid_json', { detail: error.message }) }
  }
}
