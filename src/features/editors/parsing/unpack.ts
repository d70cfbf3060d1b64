/** Unpacks gzip and ZIP files, recognized by their first bytes. */
import { createGunzip } from 'node:zlib'
import { validationError } from '../../../errors.js'
import { ByteSource } from './byte-source.js'
import { Inflation, PIECE_BYTES } from './inflation.js'
import { isZip, unzipped } from './zip.js'

const GZIP = Buffer.from([0x1f, 0x8b])

const isGzip = (first: Buffer): boolean => first.subarray(0, 2).equals(GZIP)

/**
 * Passes a file on, unpacked. Requests the next chunk once the previous one has been read.
 * @throws {ApiError} `validation_failed` for a broken file, and for a ZIP file without exactly one JSON or CSV file
 */
export async function* unpacked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = new ByteSource(chunks)
  try {
    const first = await source.peek(4)
    if (isGzip(first)) yield* gunzipped(source)
    else if (isZip(first)) yield* unzipped(source)
    else yield* source.rest()
  } finally {
    await source.close()
  }
}

async function* gunzipped(source: ByteSource): AsyncGenerator<Buffer> {
  const inflation = new Inflation(createGunzip(), (reason) =>
    validationError('/body', `isn’t a complete gzip file: ${reason}`),
  )
  try {
    for (;;) {
      const piece = await source.takeSome(PIECE_BYTES)
      if (piece.length === 0) break
      const length = await inflation.write(piece)
      yield* inflation.takeParts()
      // Some tools pad files with zero bytes.
      if (inflation.hasEnded && piece.subarray(length).some((byte) => byte !== 0))
        throw validationError('/body', 'has more after the end of the gzip file')
    }
    await inflation.end()
    yield* inflation.takeParts()
  } finally {
    inflation.destroy()
  }
}
