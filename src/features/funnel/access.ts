/** Access for the operator: one of the configured admin keys, in the query or the header. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import type { Access } from '../../platform/access/access.js'

export const adminKey: Access = {
  callers: 'the operator, with an admin key',
  credential: 'adminKey',
  usesSession: true,
  errors: ['admin_key_invalid'],
  admit: (request) =>
    hasAdminKey(request, request.server.config.adminKeys) ? undefined : new ApiError('admin_key_invalid'),
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares digests, so that timing reveals neither a key nor its length. */
const hasAdminKey = (request: FastifyRequest, keys: string[]): boolean => {
  const given = request.headers['x-service-admin-key'] ?? (request.query as { key?: unknown }).key
  if (typeof given !== 'string' || given === '') return false
  const candidate = digest(given)
  return keys.filter((key) => timingSafeEqual(digest(key), candidate)).length > 0
}
