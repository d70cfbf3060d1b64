/** Files that commands write. Only their owner can read them, and they're either complete or absent. */
import { randomBytes } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from './operator-error.js'

const fullCodes = ['ENOSPC', 'EDQUOT']
const diskCodes = [...fullCodes, 'EFBIG', 'EIO']

/**
 * Writes a file under a temporary name, and renames it once it's on disk. If two commands write one file, the later one
 * replaces the first. Both are complete.
 * @param write ends the stream that it opens
 * @returns the size in bytes
 * @throws {OperatorError} if the file can't be written
 */
export const writeWholeFile = async (
  file: string,
  write: (open: () => WriteStream) => Promise<unknown>,
): Promise<number> => {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  let diskError: Error | undefined
  const openUnfinished = () =>
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
    // If its rows can't be written, the database may fail as well and report a closed connection.
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
    if (!unflushableCodes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
