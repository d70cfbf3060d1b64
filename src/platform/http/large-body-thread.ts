/** Reads large bodies in a thread, by the same functions as small ones. */
import { kTransferable, kValue, Tinypool, type Transferable } from 'tinypool'
import type { BodyReader } from './body-reader.js'
import { failureOf } from './json-body.js'
import type { ThreadResult, ThreadTask } from './read-in-thread.js'

export default async ({
  module,
  context,
  bytes,
}: ThreadTask): Promise<ThreadResult<object> | ReturnType<typeof Tinypool.move>> => {
  const { reader }: { reader: BodyReader<object, object> } = await import(module)
  try {
    const read = reader.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), context)
    const moving: Transferable = {
      [kTransferable]: reader.buffersOf?.(read) ?? [],
      [kValue]: { read },
    }
    return Tinypool.move(moving)
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
