import { CountsBody } from '../../../schemas/activity.js'
import { type BodyContext, readBody } from '../../platform/http/json-body.js'
import type { BodyReader } from '../../platform/http/large-body.js'
import { buffersOf, type CountBatches, toCountBatches } from './count-batches.js'

export const reader: BodyReader<CountBatches, BodyContext> = {
  module: import.meta.url,
  read: (bytes, context) => {
    const body = readBody<CountsBody>(bytes, CountsBody, context)
    return body && toCountBatches(body)
  },
  buffersOf,
}
