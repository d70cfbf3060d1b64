/** Recognizes what kind of file was sent, and passes its text on as UTF-8. */
import { validationError } from '../../../errors.js'
import { ByteSource } from './byte-source.js'

/** Files that hold others, or aren't text, by bytes near their beginning. */
const UNREADABLE: { name: string; at?: number; bytes: string }[] = [
  { name: 'packed twice', bytes: '\x1f\x8b\x08' },
  { name: 'packed twice', bytes: 'PK\x03\x04' },
  { name: 'a 7z archive', bytes: '7z\xbc\xaf\x27\x1c' },
  { name: 'a RAR archive', bytes: 'Rar!\x1a\x07' },
  { name: 'a bzip2 file', at: 4, bytes: '1AY&SY' },
  { name: 'an xz file', bytes: '\xfd7zXZ\0' },
  { name: 'a Zstandard file', bytes: '\x28\xb5\x2f\xfd' },
  { name: 'a tar archive', at: 257, bytes: 'ustar' },
  { name: 'a PDF document', bytes: '%PDF-' },
  { name: 'an Office document', bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' },
  { name: 'a Parquet file', bytes: 'PAR1' },
  { name: 'an SQLite database', bytes: 'SQLite format 3\0' },
]
const FIRST_BYTES = 512

const nameOf = (first: string): string | undefined =>
  UNREADABLE.find(({ at = 0, bytes }) => first.startsWith(bytes, at))?.name ??
  (/^(\xef\xbb\xbf)?\s*</.test(first) ? 'a web page or XML' : undefined)

/** The encodings that a byte order mark can name. */
const encodingOf = (first: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  const mark = first.length < 2 ? 0 : first.readUInt16BE(0)
  if (mark === 0xfffe) return 'utf-16le'
  return mark === 0xfeff ? 'utf-16be' : undefined
}

/** @param chunks an unpacked file @throws {ApiError} `validation_failed` with the name of a file that holds others, or isn't text */
export async function* utf8Of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = new ByteSource(chunks)
  try {
    const first = await source.peek(FIRST_BYTES)
    const name = nameOf(first.toString('latin1'))
    if (name !== undefined)
      throw validationError(
        '/body',
        `is ${name}: send JSON or CSV, as it is, or packed once with gzip or ZIP`,
      )
    const encoding = encodingOf(first)
    if (encoding === undefined) {
      yield* source.rest()
      return
    }
    const decoder = new TextDecoder(encoding)
    for await (const piece of source.rest()) yield Buffer.from(decoder.decode(piece, { stream: true }))
    yield Buffer.from(decoder.decode())
  } finally {
    await source.close()
  }
}
