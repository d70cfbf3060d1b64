import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '../platform/process/operator-error.js'
import { writeWholeFile } from '../platform/process/whole-file.js'

/** Writes an export to a file, or to standard output. @throws {OperatorError} if it can't be written */
export const writeExport = async (
  pieces: AsyncGenerator<string>,
  file: string | undefined,
  signal: AbortSignal,
): Promise<void> => {
  if (file !== undefined) {
    await writeWholeFile(file, (open) => pipeline(pieces, open(), { signal }))
    return
  }
  await pipeline(pieces, toStandardOutput(), { signal })
}

/** Waits for a slow reader, and stays open at the end, unlike the stream itself. */
const toStandardOutput = (): Writable =>
  new Writable({
    decodeStrings: false,
    write: (piece: string, _encoding, done) => {
      process.stdout.write(piece, (error) =>
        done(error ? new OperatorError('The export wasn’t read to the end.') : null),
      )
    },
    final: (done) => {
      process.stdout.write('\n', () => done())
    },
  })
