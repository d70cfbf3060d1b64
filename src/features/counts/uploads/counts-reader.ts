import type { ErrorObject } from 'ajv'
import type { RepohostKind } from '../../../../schemas/common.js'
import type { SettingsKeyRules } from '../../../../schemas/settings-keys.js'
import type { CountBatches } from '../count-batches.js'
import { createReader } from './reader.js'

export type CountsRead = { batches: CountBatches } | { invalid: ErrorObject[] }

export interface CountsContext {
  keys: SettingsKeyRules
  kind: RepohostKind
}

/** Bodies that are read at the same time. */
const READERS = 2

export const createCountsReader = (options?: { readMs?: number }) =>
  createReader<CountsRead, CountsContext>(new URL('./worker.js', import.meta.url), READERS, options)
