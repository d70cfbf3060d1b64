/** Parses, checks and arranges one large body, by the same rules as every other body. */
import { parentPort, workerData } from 'node:worker_threads'
import { CountsBody } from '../../../../schemas/activity.js'
import { schemaAt } from '../../../../schemas/subgroups.js'
import { parseBody } from '../../../platform/http/json-body.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { createBodyAjv } from '../../../platform/http/validators.js'
import { buffersOf, toCountBatches } from '../count-batches.js'
import type { CountsContext, CountsRead } from './counts-reader.js'
import type { WorkerAnswer } from './reader.js'

/** `body.ts` turns the result into the same answer as without a thread. */
const read = ({ bytes, keys, kind }: CountsContext & { bytes: Uint8Array }): WorkerAnswer<CountsRead> => {
  try {
    const body = parseBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const validate = createBodyAjv(keys, kind).compile<CountsBody>(schemaAt(kind, CountsBody))
    return validate(body) ? { batches: toCountBatches(body) } : { invalid: validate.errors ?? [] }
  } catch (error) {
    if (error instanceof StrictJsonError) return { rejected: error.message }
    throw error
  }
}

const answer = read(workerData)
parentPort?.postMessage(answer, 'batches' in answer ? buffersOf(answer.batches) : [])
