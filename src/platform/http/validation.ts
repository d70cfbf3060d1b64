/** Reads requests: installs the JSON parser, the validators, and checks that no schema can describe. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../config.js'
import { validationError } from '../../errors.js'
import { bodyIs, parseBody } from './json-body.js'
import { validatorCompilerFor } from './validators.js'

/** Called once, by `buildApp`, before any route exists. */
export const installValidation = (
  app: FastifyInstance,
  { settingsKeys, repohost }: Pick<Config, 'settingsKeys' | 'repohost'>,
) => {
  app.setValidatorCompiler(validatorCompilerFor(settingsKeys, repohost.kind))

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    // An empty body counts as absent.
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : parseBody(bytes)),
  )
}

/** Some clients send a content type with every request. Without a body, it means nothing. */
export const dropNeedlessContentType = ({ headers }: FastifyRequest): void => {
  const length = headers['content-length'] ?? '0'
  if (length === '0' && headers['transfer-encoding'] === undefined) delete headers['content-type']
}

/** Why a request is invalid although its schema may accept it. An empty body becomes an empty object. */
export const faultBesideSchema = (request: FastifyRequest): Error | undefined => {
  const schema = request.routeOptions.schema?.body as { type?: string; required?: string[] } | undefined
  if (schema?.type === 'object') {
    if (request.body === null) return bodyIs('null')
    if (request.body === undefined) {
      if (schema.required?.length) return bodyIs('missing')
      request.body = {}
    }
  }
  // Only a percent-encoded path or query can contain characters that strings mustn't have.
  return request.raw.url?.includes('%') ? unusableText(request) : undefined
}

const unusableText = (request: FastifyRequest): Error | undefined => {
  for (const part of ['params', 'query'] as const) {
    for (const [name, value] of Object.entries(request[part] as object)) {
      if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
        return validationError(`/${part}/${name}`, 'must not contain NUL')
      }
      // The wildcard parameter of a page's address contains slashes, and so does an owner at GitLab.
      const { kind } = request.server.config.repohost
      const canHaveSlash = name === '*' || (name === 'owner' && kind === 'gitlab')
      if (part === 'params' && !canHaveSlash && String(value).includes('/'))
        return validationError(`/params/${name}`, 'must not contain an encoded slash')
    }
  }
  return undefined
}
