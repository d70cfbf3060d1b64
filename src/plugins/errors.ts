/** Every failure, ours or the framework's, comes out as one problem document. */
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import { isDatabaseUnavailable } from '../db/failures.js'
import { formatsOf } from '../domain/formats.js'
import { StrictJsonError, TooManyValuesError } from '../domain/strict-json.js'
import { ApiError, invalid, toProblem } from '../errors.js'
import type { AnswerHeaders } from './headers.js'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

export default fp(async (app) => {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const failure = translate(error, request)
    if (failure.status >= 500)
      request.log.error({ err: failure.code === 'internal_error' ? error : failure }, failure.code)
    return send(failure, request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    // What such a path meant to name cannot be known: it is refused before anybody interprets it.
    if (/%(2f|00)/i.test(request.raw.url?.split('?')[0] ?? '')) {
      throw invalid('/params', 'a path segment must not contain an encoded slash or NUL')
    }
    return send(new ApiError('route_not_found'), request, reply)
  })
})

const send = (failure: ApiError, request: FastifyRequest, reply: FastifyReply) => {
  if (failure.retryAfter !== undefined) reply.header('Retry-After', failure.retryAfter)
  if (failure.limit !== undefined) {
    reply.header('RateLimit-Limit', failure.limit)
    reply.header('RateLimit-Remaining', 0)
    reply.header('RateLimit-Reset', failure.retryAfter)
  }
  reply.removeHeader('ETag')
  reply.removeHeader('Content-Disposition')
  const isRefused = failure.code === 'payload_too_large' || request.raw.readableDidRead
  if (isRefused && !request.raw.complete) discard(request.raw, reply)
  return reply
    .code(failure.status)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(toProblem(failure, request.id)))
}

/** The most of a refused body that is still read, and for how long. */
const DISCARDED_BYTES = 64 * 2 ** 20
const DISCARD_MS = 10_000

/**
 * Takes what a client is still sending, so that it comes to read the answer: were the connection closed at once, most
 * clients would tell of a broken pipe instead. The framework would close it; Node reads on where it stays open.
 */
const discard = (request: IncomingMessage, reply: FastifyReply) => {
  reply.removeHeader('Connection')
  let left = DISCARDED_BYTES
  const end = () => request.destroy()
  const timer = setTimeout(end, DISCARD_MS).unref()
  request.on('close', () => clearTimeout(timer))
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) end()
  })
  request.resume()
}

/** Answers a request whose path cannot be read: no hook runs for it. */
export const answerUnroutable =
  (headersOf: AnswerHeaders) => (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...headersOf(request.id, request.headers.origin), 'Cache-Control': 'no-store' })
    send(translate(error, request), request, reply)
  }

const frameworkCodes: Record<string, () => ApiError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('payload_too_large'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('invalid_json', { detail: 'The body is not as long as Content-Length says.' }),
  FST_ERR_MAX_PARAM_LENGTH: () => invalid('/params', 'a path segment is too long'),
  FST_ERR_BAD_URL: () => invalid('/params', 'the path is not correctly percent-encoded'),
}

export const translate = (error: FastifyError, request: FastifyRequest): ApiError => {
  if (error instanceof ApiError) return error
  // The client has hung up; its error looks like one of a connection to the database.
  if (error === request.raw.errored)
    return new ApiError('bad_request', {
      detail: 'The request ended before all of it was here.',
      cause: error,
    })
  if (error instanceof TooManyValuesError) return new ApiError('payload_too_large', { detail: error.message })
  if (error instanceof StrictJsonError) return new ApiError('invalid_json', { detail: error.message })
  if (error.validation) return translateValidation(error, request.server.config.extensionPrefix)
  const known = frameworkCodes[error.code]
  if (known) return known()
  if (isDatabaseUnavailable(error)) return new ApiError('unavailable', { cause: error })
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return invalid('/body', 'could not be read')
  }
  return new ApiError('internal_error', { cause: error })
}

const parts = { body: 'body', querystring: 'query', params: 'params', headers: 'headers' } as const

const translateValidation = (error: FastifyError, extensionPrefix: string): ApiError => {
  const part = parts[error.validationContext as keyof typeof parts] ?? 'body'
  const found = (
    (error.validation ?? []) as (FastifySchemaValidationError & { propertyName?: string })[]
  ).filter(({ keyword }) => keyword !== 'propertyNames') // What is wrong with the name comes as an error of its own.
  const formats = formatsOf(extensionPrefix)
  const problems = found.map(({ keyword, instancePath, params, propertyName, message = 'is not valid' }) => {
    const named = params.missingProperty ?? params.additionalProperty ?? propertyName
    const path = `/${part}${instancePath}${named === undefined ? '' : `/${escapePointer(shorten(String(named)))}`}`
    return {
      keyword,
      path,
      message: explain(keyword, params, formats[params.format as string]?.message ?? message),
    }
  })
  const missingToken = problems.find(
    ({ path, keyword }) =>
      path === '/headers/x-repohost-token' && ['required', 'minLength'].includes(keyword),
  )
  if (missingToken) return new ApiError('repohost_token_required')
  const tooLarge = found.find(({ keyword }) => keyword === 'x-settings-bytes')
  if (tooLarge) {
    return new ApiError('settings_too_large', {
      limit_bytes: limits.settings_bytes,
      actual_bytes: Number(tooLarge.params.actual),
    })
  }
  return new ApiError('validation_failed', {
    errors: problems.map(({ path, message }) => ({ path, message })),
  })
}

const explain = (keyword: string, params: Record<string, unknown>, message: string): string => {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not known'
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
  return message
}

/** A name that the caller made up can be as long as the body. */
const shorten = (name: string) => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH)}…` : name)
const NAME_LENGTH = 300

const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
