/** Parses ordinary JSON bodies, strictly and within bounds. */
import type { ErrorObject } from 'ajv'
import { limits } from '../../../schemas/limits.js'
import { type Bounds, parseStrictJson } from './strict-json.js'

/** 1 MiB of properties takes up to 140 ms of CPU time without a bound on these, and up to 50 ms with it (Node 20). */
const bounds: Bounds = {
  depth: limits.json_depth,
  values: limits.json_values,
  properties: limits.json_members,
}

/** A body of at most 1 MiB. @throws {StrictJsonError} */
export const parseBody = (bytes: Buffer): unknown => parseStrictJson(bytes, bounds)

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
