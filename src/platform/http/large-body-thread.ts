/** Reads large bodies in a thread, by the same functions as small ones. */
import { Tinypool } from 'tinypool'
import { failureOf } from './json-body.js'
import type { BodyReader, ThreadResult, ThreadTask } from './large-body.js'

export default async ({ module, context, bytes }: ThreadTask): Promise<ThreadResult<object>> => {
  const { reader }: { reader: BodyReader<object, object> } = await import(module)
  try {
    const read = reader.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), context)
    const moving = {
      [Tinypool.transferableSymbol]: reader.buffersOf?.(read) ?? [],
      [Tinypool.valueSymbol]: { read },
    }
    // The package's types don't know that its symbols can be used.
    return Tinypool.move(moving as never) as never
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
