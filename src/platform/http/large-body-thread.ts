/** Reads one large body in a thread, by the same function as a small one. */
import { parentPort, workerData } from 'node:worker_threads'
import { failureOf } from './json-body.js'
import type { BodyReader, ThreadResult } from './large-body.js'

interface Data {
  module: string
  context: object
  bytes: Uint8Array<ArrayBuffer>
}

const { module, context, bytes }: Data = workerData
const { reader }: { reader: BodyReader<object, object> } = await import(module)

const run = (): ThreadResult<object> => {
  try {
    return { read: reader.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), context) }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

const result = run()
parentPort?.postMessage(result, 'read' in result && result.read ? reader.buffersOf?.(result.read) : [])
