/** Parses and validates JSON bodies, strictly and within bounds. */
import type { ErrorObject } from 'ajv'
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { SettingsKeyRules } from '../../../schemas/settings-keys.js'
import { type Bounds, parseStrictJson, StrictJsonError, TooManyValuesError } from './strict-json.js'
import { validatorCompilerFor } from './validators.js'

const ordinary: Bounds = { depth: limits.json_depth, values: limits.json_values }
/**
 * For bodies that are read on the main thread. 1 MiB of properties takes up to 140 ms of its CPU time without this
 * bound, and up to 50 ms with it (Node 20). A thread wouldn't help, because the main thread rebuilds every value that
 * another one sends.
 */
const small: Bounds = { ...ordinary, properties: limits.json_members }

/** @throws {StrictJsonError} */
export const parseBody = (bytes: Buffer, bounds = small): unknown => parseStrictJson(bytes, bounds)

/** A body that doesn't match its schema. Its properties are those of the framework's own error. */
export class InvalidBody extends Error {
  readonly validationContext = 'body'
  constructor(readonly validation: Partial<ErrorObject>[]) {
    super('The body isn’t valid.')
  }
}

/** For a body that isn't an object at all. */
export const bodyIs = (what: string): InvalidBody => {
  const message = `must be a JSON object, but is ${what}`
  return new InvalidBody([{ keyword: 'type', instancePath: '', params: {}, message }])
}

/** Validators depend on these. */
export interface BodyContext {
  keys: SettingsKeyRules
  kind: RepohostKind
}

/** An empty body counts as an object without properties. @throws {StrictJsonError} {InvalidBody} */
export const readBody = <Body>(
  bytes: Buffer,
  schema: { required?: string[] },
  { keys, kind }: BodyContext,
  bounds = ordinary,
): Body => {
  if (bytes.length === 0 && schema.required?.length) throw bodyIs('missing')
  const body = bytes.length === 0 ? {} : parseBody(bytes, bounds)
  if (body === null) throw bodyIs('null')
  const part = { schema, httpPart: 'body', method: '', url: '' }
  const validate = validatorCompilerFor(keys, kind)(part)
  if (!validate(body)) throw new InvalidBody(validate.errors as ErrorObject[])
  return body as Body
}

/** The same error as plain data. When passed between threads, errors lose their class. */
export type BodyFailure = { json: string } | { values: string } | { invalid: Partial<ErrorObject>[] }

export const failureOf = (error: unknown): BodyFailure => {
  if (error instanceof TooManyValuesError) return { values: error.message }
  if (error instanceof StrictJsonError) return { json: error.message }
  if (error instanceof InvalidBody) return { invalid: error.validation }
  throw error
}

export const errorOf = (failure: BodyFailure): Error => {
  if ('invalid' in failure) return new InvalidBody(failure.invalid)
  return 'values' in failure ? new TooManyValuesError(failure.values) : new StrictJsonError(failure.json)
}
