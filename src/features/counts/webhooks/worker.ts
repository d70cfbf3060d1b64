/** Reads one large delivery, by the same rules as a small one. */
import { parentPort, workerData } from 'node:worker_threads'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import type { WorkerAnswer } from '../uploads/reader.js'
import { type Delivery, type DeliveryContext, readDelivery, type TooMuch } from './delivery.js'

const read = ({
  bytes,
  ...context
}: DeliveryContext & { bytes: Uint8Array }): WorkerAnswer<Delivery | TooMuch> => {
  try {
    return readDelivery(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), context)
  } catch (error) {
    if (error instanceof StrictJsonError) return { rejected: error.message }
    throw error
  }
}

parentPort?.postMessage(read(workerData))
