/** How bodies of deliveries are read. Anyone can send one, so nothing is parsed before its signature is verified. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { LargeBody, places } from '../../../platform/http/large-body.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { addressOf } from '../../../platform/rate-limits/payers.js'
import { type Delivery, type DeliveryContext, readDelivery } from './delivery.js'
import type { Verification } from './signature.js'

/** A signed body's content, or why it can't be read. */
export type SignedBody = { delivery: Delivery } | { failure: ApiError }

const tooManyCommits = (commits: number) =>
  new ApiError('payload_too_large', {
    detail: `This delivery has ${commits} commits, more than ${limits.webhook_commits}.`,
  })

/** Close it once it's read. Until the signature is verified, only the address is known. */
export const openDelivery = (request: FastifyRequest, reply: FastifyReply, webhookId: string): LargeBody =>
  new LargeBody(request, reply, {
    maxBytes: limits.webhook_body_bytes,
    payer: `${addressOf(request)} ${webhookId}`,
    places: places.ofDeliveries,
  })

/** @throws {ApiError} `signature_invalid`, and what `LargeBody` throws */
export const receiveSigned = async (body: LargeBody, verification: Verification): Promise<Buffer> => {
  const bytes = await body.receive((chunk) => verification.add(chunk))
  if (!verification.holds) throw new ApiError('signature_invalid')
  return bytes
}

/** Reads a body whose signature holds. @throws {ApiError} what `LargeBody` throws */
export const readSigned = async (
  body: LargeBody,
  bytes: Buffer,
  context: DeliveryContext,
): Promise<SignedBody> => {
  try {
    await body.takeTurnIfLarge()
    const found = await readDelivery(bytes, context)
    return 'tooMany' in found ? { failure: tooManyCommits(found.tooMany) } : { delivery: found }
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    return { failure: new ApiError('invalid_json', { detail: error.message }) }
  }
}
