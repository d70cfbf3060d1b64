/** Unpacks gzip files, recognized by their first bytes. */
import { once } from 'node:events'
import { createGunzip } from 'node:zlib'
import { validationError } from '../../../errors.js'

const MAGIC = [0x1f, 0x8b]
/** This many bytes unpack to at most 4 MiB. */
const PIECE_BYTES = 4_096

/**
 * Passes a file on, unpacked. Requests the next chunk once the previous one has been read.
 * @throws {ApiError} `validation_failed` for a broken gzip file
 */
export async function* unpacked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  let parts: Buffer[] = []
  gunzip.on('data', (part: Buffer) => parts.push(part))
  // After an error, the callbacks of `write` and `end` may never be called.
  const failed = once(gunzip, 'error').then(([error]): never => {
    throw validationError('/body', `isn’t a complete gzip file: ${error.message}`)
  })
  failed.catch(() => {})
  // The end can come during any `write`, whose callback is then never called either.
  const ended = new Promise<void>((resolve) => gunzip.once('end', resolve))
  let written = 0
  const write = async (piece: Buffer) => {
    if (!gunzip.readableEnded)
      await Promise.race([
        failed,
        ended,
        new Promise<void>((resolve) => gunzip.write(piece, () => resolve())),
      ])
    // Some tools pad files with zero bytes.
    const padding = gunzip.readableEnded ? piece.subarray(Math.max(0, gunzip.bytesWritten - written)) : []
    if (padding.some((byte) => byte !== 0))
      throw validationError('/body', 'has more after the end of the gzip file')
    written += piece.length
  }
  const takeParts = () => {
    const taken = parts
    parts = []
    return taken
  }
  try {
    let first = Buffer.alloc(0)
    let isGzip: boolean | undefined
    for await (const chunk of chunks) {
      let piece = chunk
      if (isGzip === undefined) {
        first = Buffer.concat([first, chunk])
        if (first.length < MAGIC.length) continue
        isGzip = MAGIC.every((byte, index) => first[index] === byte)
        piece = first
      }
      if (!isGzip) {
        yield piece
        continue
      }
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        await write(piece.subarray(at, at + PIECE_BYTES))
        yield* takeParts()
      }
    }
    if (isGzip) {
      gunzip.end()
      await Promise.race([failed, ended])
      yield* takeParts()
    } else if (isGzip === undefined && first.length > 0) yield first
  } finally {
    gunzip.destroy()
  }
}
