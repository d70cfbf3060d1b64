/** Translates every failure, ours or the framework's, into one of the codes in the catalogue. */
import type { FastifyError, FastifyRequest } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { limits } from '../../../schemas/limits.js'
import { own } from '../../../schemas/own.js'
import type { Config } from '../../config.js'
import { ApiError, escapePointer, shorten, validationError } from '../../errors.js'
import { isDatabaseUnavailable } from '../database/failures.js'
import { formatsOf } from './formats.js'
import { StrictJsonError, TooManyValuesError } from './strict-json.js'

const frameworkCodes: Record<string, () => ApiError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('payload_too_large'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('invalid_json', { detail: 'The body is shorter or longer than Content-Length.' }),
  FST_ERR_MAX_PARAM_LENGTH: () => validationError('/params', 'a path segment is too long'),
  FST_ERR_BAD_URL: () => validationError('/params', 'the path isn’t correctly percent-encoded'),
}

export const translate = (error: FastifyError, request: FastifyRequest): ApiError => {
  if (error instanceof ApiError) return error
  // A client that disconnects causes the same code as a lost database connection.
  if (error === request.raw.errored)
    return new ApiError('bad_request', {
      detail: 'The request was cut off. Send it again.',
      cause: error,
    })
  if (error instanceof TooManyValuesError) return new ApiError('payload_too_large', { detail: error.message })
  if (error instanceof StrictJsonError) return new ApiError('invalid_json', { detail: error.message })
  if (error.validation) return translateValidation(error, request.server.config)
  const known = own(frameworkCodes, error.code)
  if (known) return known()
  if (isDatabaseUnavailable(error)) return new ApiError('unavailable', { cause: error })
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return validationError('/body', 'couldn’t be read')
  }
  return new ApiError('internal_error', { cause: error })
}

const parts = { body: 'body', querystring: 'query', params: 'params', headers: 'headers' } as const

const translateValidation = (error: FastifyError, { settingsKeys, repohost }: Config): ApiError => {
  const part = own(parts, error.validationContext ?? '') ?? 'body'
  const found = (error.validation ?? []) as (FastifySchemaValidationError & { propertyName?: string })[]
  const formats = formatsOf(settingsKeys, repohost.kind)
  const problems = found.map(({ keyword, instancePath, params, propertyName, message = 'isn’t valid' }) => {
    const named = params.missingProperty ?? params.additionalProperty ?? propertyName
    const path = `/${part}${instancePath}${named === undefined ? '' : `/${escapePointer(shorten(String(named)))}`}`
    return {
      keyword,
      path,
      message: explain(keyword, params, own(formats, String(params.format))?.message ?? message),
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
  if (keyword === 'additionalProperties') return 'isn’t known'
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
  return message
}
