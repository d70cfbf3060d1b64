/** How bodies of deliveries are read. Anyone can send one, so nothing is parsed before its signature is verified. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { LargeBody, places } from '../../../platform/http/large-body.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { addressOf } from '../../../platform/rate-limits/payers.js'
import { type Delivery, type DeliveryContext, readDelivery } from './delivery.js'
import type { Verification } from './signature.js'

/** A signed body's content, or why it can't be read. Undefined: the event has no effect, so the body isn't read. */
export type SignedBody = { delivery: Delivery } | { failure: ApiError } | undefined

const tooManyCommits = (commits: number) =>
  new ApiError('payload_too_large', {
    detail: `This delivery has ${commits} commits, more than ${limits.webhook_commits}.`,
  })

export interface ExpectedDelivery extends DeliveryContext {
  webhookId: string
  verification: Verification
  /** Whether the event can have an effect. */
  canMatter: boolean
  /** Call it once the signature holds, before anything is parsed. @throws {ApiError} `rate_limited` */
  admit(): Promise<void>
}

/** @throws {ApiError} `signature_invalid`, and what `LargeBody` throws */
export const readSignedBody = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { webhookId, verification, canMatter, admit, kind, hostname, event, isForm }: ExpectedDelivery,
): Promise<SignedBody> => {
  // Until the signature is verified, only the address is known.
  const body = new LargeBody(request, reply, {
    maxBytes: limits.webhook_body_bytes,
    payer: `${addressOf(request)} ${webhookId}`,
    places: places.ofDeliveries,
  })
  try {
    const bytes = await body.receive((chunk) => verification.add(chunk))
    if (!verification.holds) throw new ApiError('signature_invalid')
    if (!canMatter) return undefined
    await admit()
    await body.takeTurnIfLarge()
    const found = await readDelivery(bytes, { kind, hostname, event, isForm })
    return 'tooMany' in found ? { failure: tooManyCommits(found.tooMany) } : { delivery: found }
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    return { failure: new ApiError('invalid_json', { detail: error.message }) }
  } finally {
    body.close()
  }
}
