/** Files that commands write: for their owner alone, and complete or not there at all. */
import { randomBytes } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { OperatorError } from './operator-error.js'

/**
 * Writes a file under another name, and renames it at the end. If two commands write one file, the later one replaces the
 * first. Both are complete.
 * @param write ends the stream that it opens
 * @returns the size in bytes
 * @throws {OperatorError} if the file cannot be written
 */
export const writeWholeFile = async (
  file: string,
  write: (open: () => WriteStream) => Promise<unknown>,
): Promise<number> => {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  try {
    await write(() => createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await rename(unfinished, file)
    return (await stat(file)).size
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    // Files alone name a path in what they throw; a full disk has only its code.
    const { code, path } = error as NodeJS.ErrnoException
    if (path === undefined && code !== 'ENOSPC') throw error
    throw new OperatorError(`The file ${file} cannot be written (${code}).`)
  }
}
