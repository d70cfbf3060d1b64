import { pipeline } from 'node:stream/promises'
import { STANDARD, writeWholeFile } from '../platform/process/whole-file.js'

/** Writes an export to a file, or to standard output. @throws {OperatorError} if it can't be written */
export const writeExport = async (
  pieces: AsyncGenerator<string>,
  file: string,
  signal: AbortSignal,
): Promise<void> => {
  await writeWholeFile(file, (open) => pipeline(pieces, open(), { signal }))
  if (file === STANDARD) process.stdout.write('\n')
}
