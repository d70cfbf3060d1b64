/** How JSON bodies are parsed: strictly, within bounds, and without keeping other requests waiting. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { type Bounds, parseStrictJson, parseStrictJsonInSteps } from './strict-json.js'

const bounds: Bounds = { depth: limits.json_depth, values: limits.json_values }

/** @throws {StrictJsonError} */
export const parseBody = (bytes: Buffer): unknown => parseStrictJson(bytes, bounds)

/** Longer bodies are parsed in steps, and other requests run in between. */
const LONG_BYTES = 65_536

/** @throws {StrictJsonError} */
export const parseBodyInTurns = async (bytes: Buffer, within = bounds): Promise<unknown> => {
  if (bytes.length < LONG_BYTES) return parseStrictJson(bytes, within)
  const steps = parseStrictJsonInSteps(bytes, within)
  let step = steps.next()
  while (!step.done) {
    await nextTurn()
    step = steps.next()
  }
  return step.value
}
