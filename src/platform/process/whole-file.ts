/**
 * Files that commands read and write; `-` is standard input or output. Only their owner can read those they write, and
 * they're either complete or absent.
 */

import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { codeOf } from './code-of.js'
import { OperatorError } from './operator-error.js'

/** Standard input or output, in place of a file's name. */
export const STANDARD = '-'

export const openInput = (file: string): Readable =>
  file === STANDARD ? process.stdin : createReadStream(file)

const fullCodes = ['ENOSPC', 'EDQUOT']
const diskCodes = [...fullCodes, 'EFBIG', 'EIO']

/** Standard output as a stream that waits for a slow reader, counts bytes, and stays open at the end. */
class StandardOutput extends Writable {
  bytes = 0

  override _write(piece: Buffer, _encoding: string, done: (error?: Error | null) => void) {
    this.bytes += piece.length
    process.stdout.write(piece, (error) =>
      done(error ? new OperatorError('Standard output wasn’t read to the end.') : null),
    )
  }
}

/**
 * Writes a file under a temporary name, and renames it once it's on disk. If two commands write one file, the later one
 * replaces the first. Both are complete.
 * @param write ends the stream that it opens
 * @returns the size in bytes
 * @throws {OperatorError} if the file can't be written
 */
export const writeWholeFile = async (
  file: string,
  write: (open: () => Writable) => Promise<unknown>,
): Promise<number> => {
  if (file === STANDARD) {
    const output = new StandardOutput()
    await write(() => output)
    return output.bytes
  }
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  let diskError: Error | undefined
  const openUnfinished = (): WriteStream =>
    createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }).on(
      'error',
      (error: NodeJS.ErrnoException) => {
        // An error in the source ends the stream as well.
        if (diskCodes.includes(error.code ?? '')) diskError ??= error
      },
    )
  try {
    await write(openUnfinished)
    await rename(unfinished, file)
    await flushFolder(dirname(file))
    return (await stat(file)).size
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    // The disk error is the cause: if rows can't be written to the file, the database reports only a closed connection.
    const { code = '', path } = (diskError ?? error) as NodeJS.ErrnoException
    // Only file errors have a path.
    if (diskError === undefined && path === undefined) throw error
    const isFull = fullCodes.includes(code)
    throw new OperatorError(
      `The file ${file} can’t be written${isFull ? ': its disk is full' : ''} (${code}).`,
    )
  }
}

/** Codes of a folder that can't be opened for reading, or of a file system that flushes no folders. */
const unflushableCodes = ['EACCES', 'EINVAL', 'ENOTSUP', 'EPERM']

/**
 * Otherwise the new name could be lost when the machine loses power. The file is complete even if this isn't possible.
 */
const flushFolder = async (folder: string): Promise<void> => {
  try {
    const handle = await open(folder)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!unflushableCodes.includes(codeOf(error) ?? '')) throw error
  }
}
