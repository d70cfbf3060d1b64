/** Large JSON bodies of known callers. */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import { escapePointer } from '../../errors.js'
import { lazy } from '../process/async.js'
import { yieldIfDue } from '../process/yield-if-due.js'
import { payerOf } from '../rate-limits/payers.js'
import { bodyIs, InvalidBody } from './json-body.js'
import { readJson } from './json-values.js'
import { LargeBody, places } from './large-body.js'
import { beginWork, disableBodyParsing, type Scope } from './own-body.js'
import { validatorCompilerFor } from './validators.js'

export interface LargeJsonKind<Schema extends TObject = TObject> {
  schema: Schema
  /** The property with a long list or map, whose items are validated in turn. */
  longest: keyof Static<Schema> & string
  maxBytes: number
  maxValues: number
}

export interface LargeJson<Body> {
  /**
   * Receives and reads the body, and works on it. The caller's work begins once it has been received. A large body has a
   * turn; small ones that cause much work call `takeTurn`.
   * @throws as `LargeBody`, `readJson` and `beginWork`, and {InvalidBody}
   */
  use<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (body: Body, takeTurn: () => Promise<void>) => Promise<T>,
  ): Promise<T>
}

/**
 * For all bodies in `scope`: its handlers read them, after access and everything else has been checked. The service doesn't
 * boot if a route in the scope takes another body.
 */
export const largeJson = <Schema extends TObject>(
  scope: Scope,
  { schema, longest, maxBytes, maxValues }: LargeJsonKind<Schema>,
): LargeJson<Static<Schema>> => {
  disableBodyParsing(scope, ['application/json'])
  scope.addHook('onRoute', (route) => {
    if (!acceptsBody(route) || (route.config?.readsBody === schema && route.bodyLimit === maxBytes)) return
    throw new Error(`${route.method} ${route.url} doesn’t take the large body of its scope`)
  })
  const requireValid = lazy(() => validatorOf(scope, schema, longest))
  const read = async (bytes: Buffer): Promise<Static<Schema>> => {
    const isEmpty = bytes.length === 0
    if (isEmpty && schema.required?.length) throw bodyIs('missing')
    const body = isEmpty ? {} : await readJson(bytes, { depth: limits.json_depth, values: maxValues })
    if (body === null) throw bodyIs('null')
    await requireValid()(body)
    return body as Static<Schema>
  }
  return {
    use: async (request, reply, work) => {
      const payer = scope.config.rateLimits ? await payerOf(request) : undefined
      const expected = { maxBytes, payer, places: places.ofCallers }
      const incoming = new LargeBody(request, reply, expected)
      try {
        const bytes = await incoming.receive()
        await beginWork(request)
        await incoming.takeTurnIfLarge()
        const body = await read(bytes)
        incoming.forget()
        return await work(body, () => incoming.takeTurn())
      } finally {
        incoming.endWork()
      }
    },
  }
}

/** Validates a body, in pieces. The result throws {InvalidBody}. */
const validatorOf = ({ config }: Scope, schema: TObject, longest: string) => {
  const compiler = validatorCompilerFor(config.settingsKeys, config.repohost.kind)
  const compile = (schema: object) => compiler({ schema, httpPart: 'body', method: '', url: '' })
  const { items, additionalProperties, ...list } = schema.properties[longest] as TSchema
  const { 'x-unique-by': _, ...anyItems } = list
  const validateWhole = compile({ ...schema, properties: { ...schema.properties, [longest]: anyItems } })
  const validateItem = compile(items ?? additionalProperties)
  const validateList = compile(list)
  const require = (validate: ReturnType<typeof compile>, value: unknown, at = '') => {
    if (validate(value)) return
    const errors = validate.errors as ErrorObject[]
    throw new InvalidBody(errors.map((error) => ({ ...error, instancePath: at + error.instancePath })))
  }
  return async (body: unknown): Promise<void> => {
    require(validateWhole, body)
    const value = (body as Record<string, object | undefined>)[longest]
    if (value === undefined) return
    for (const name of Object.keys(value)) {
      require(validateItem, (value as Record<string, unknown>)[name], `/${longest}/${escapePointer(name)}`)
      await yieldIfDue()
    }
    require(validateList, value, `/${longest}`)
  }
}

const acceptsBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((one) => !['GET', 'HEAD', 'DELETE'].includes(one))
