/** The errors in the document: a schema and an example per code, and the codes of every operation. */
import type { RouteOptions } from 'fastify'
import {
  type ErrorCode,
  errorCatalogue,
  errorCodes,
  Problem,
  problemExtras,
} from '../../../schemas/errors.js'
import { ApiError, toProblem } from '../../errors.js'
import { groupBy } from '../process/maps.js'

/** Every code that a route can return: what follows from its access and schema, and what it declares itself. */
export const errorCodesOf = ({ method, config }: RouteOptions): ErrorCode[] => {
  const access = config?.access
  const codes: ErrorCode[] = ['validation_failed', 'internal_error']
  if (config?.usesDatabase !== false) codes.push('unavailable')
  if (config?.limit !== 'none') codes.push('rate_limited')
  // A body is parsed whenever the method allows one, even if the route ignores it.
  if (method !== 'GET') codes.push('invalid_json', 'payload_too_large', 'maintenance')
  // The billing provider and editors may send a body of any type, which is also why editors' cookies aren't accepted.
  const isEditor = access?.tokenOf !== undefined
  if (method !== 'GET' && access?.credential !== 'signature' && !isEditor)
    codes.push('unsupported_media_type')
  if (access?.credential === 'session') {
    codes.push('unauthenticated', 'token_invalid', 'token_expired', 'token_revoked')
    codes.push('account_disabled', 'scope_missing')
    if (method !== 'GET' && !isEditor) codes.push('csrf_rejected')
    if (config?.pro) codes.push('pro_required')
  }
  codes.push(...(access?.errors ?? []))
  return [...new Set([...codes, ...(config?.errors ?? [])])]
}

const REQUEST_ID = '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'

/** `workspace_required` is `ProblemWorkspaceRequired`. */
const componentOf = (code: ErrorCode) =>
  `Problem${code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`

/** A response with the code, as the error handler makes it. */
export const exampleOf = (code: ErrorCode) =>
  toProblem(new ApiError(code, { ...problemExtras[code] }), REQUEST_ID)

/** A code's problems. Properties that never vary are constants, and there are no others. */
const schemaOf = (code: ErrorCode) => {
  const example = exampleOf(code)
  const names = Object.keys(example) as (keyof typeof example)[]
  const fixed = ['type', 'status', 'title', 'code']
  return {
    type: 'object',
    description: errorCatalogue[code][1],
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries([
      ...names.map((name) => {
        const { type, format, description } = Problem.properties[name]
        return [
          name,
          fixed.includes(name)
            ? { type, ...(format && { format }), ...(description && { description }), const: example[name] }
            : Problem.properties[name],
        ]
      }),
      ['error', Problem.properties.error],
    ]),
  }
}

/** The shared components. Those that no operation uses are removed later. */
export const problemComponents = () => ({
  schemas: Object.fromEntries(errorCodes.map((code) => [componentOf(code), schemaOf(code)])),
  examples: Object.fromEntries(
    errorCodes.map((code) => [
      componentOf(code),
      { summary: errorCatalogue[code][1], value: exampleOf(code) },
    ]),
  ),
})

/** The responses with these codes, by status. */
export const errorResponsesOf = (codes: ErrorCode[]) => {
  const byStatus = groupBy(codes, (code) => errorCatalogue[code][0])
  return Object.fromEntries([...byStatus].map(([status, ofStatus]) => [String(status), responseOf(ofStatus)]))
}

const responseOf = (codes: ErrorCode[]) => {
  const refOf = (code: ErrorCode) => `#/components/schemas/${componentOf(code)}`
  const [only, ...others] = codes
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code][1]}`).join('\n\n'),
    content: {
      'application/problem+json': {
        schema:
          only && others.length === 0
            ? { $ref: refOf(only) }
            : {
                oneOf: codes.map((code) => ({ $ref: refOf(code) })),
                discriminator: {
                  propertyName: 'code',
                  mapping: Object.fromEntries(codes.map((code) => [code, refOf(code)])),
                },
              },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${componentOf(code)}` }]),
        ),
      },
    },
  }
}
