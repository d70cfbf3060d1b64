/**
 * Files that commands read and write; `-` is standard input or output. Only their owner can read those they write, and
 * they're either complete or absent.
 */

import { randomBytes } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  type WriteStream,
  writeSync,
} from 'node:fs'
import { access, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
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

  constructor(private readonly isFile: boolean) {
    super()
  }

  override _write(piece: Buffer, _encoding: string, done: (error?: Error | null) => void) {
    this.bytes += piece.length
    if (this.isFile) return done(writeAll(piece))
    process.stdout.write(piece, (error) =>
      done(
        error && !diskCodes.includes(codeOf(error) ?? '')
          ? new OperatorError('Standard output wasn’t read to the end.')
          : error,
      ),
    )
  }
}

/** A full disk can take a part of a piece, which `process.stdout` doesn't notice. @returns why not all was written */
const writeAll = (piece: Buffer): Error | undefined => {
  try {
    for (let at = 0; at < piece.length; ) at += writeSync(process.stdout.fd, piece, at)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/**
 * Writes a file under a temporary name, and gives it its own once it's on disk. An incomplete file on standard output is
 * emptied.
 * @param write ends the stream that it opens
 * @param options.replace whether the file may replace another one, which is complete until then
 * @returns the size in bytes
 * @throws {OperatorError} if the file can't be written
 */
export const writeWholeFile = async (
  file: string,
  write: (open: () => Writable) => Promise<unknown>,
  { replace = true } = {},
): Promise<number> => {
  if (file === STANDARD) {
    const before = fstatSync(process.stdout.fd)
    const output = new StandardOutput(before.isFile())
    try {
      await write(() => output)
      if (before.isFile()) fsyncSync(process.stdout.fd)
      return output.bytes
    } catch (error) {
      // The shell gave the file its name before it was complete. It stays as it was, so that no part is taken for a whole.
      if (before.isFile()) ftruncateSync(process.stdout.fd, before.size)
      const code = codeOf(output.errored ?? error) ?? ''
      if (!diskCodes.includes(code)) throw error
      throw new OperatorError(
        `Standard output can’t be written${fullCodes.includes(code) ? ': the disk of its file is full' : ''} (${code}).`,
      )
    }
  }
  if (
    !replace &&
    (await access(file).then(
      () => true,
      () => false,
    ))
  )
    throw existing(file)
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
    await (replace ? rename : renameNew)(unfinished, file)
    await flushFolder(dirname(file))
    return (await stat(file)).size
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    // The disk error is the cause: if rows can't be written to the file, the database reports only a closed connection.
    if (!replace && codeOf(error) === 'EEXIST') throw existing(file)
    const { code = '', path } = (diskError ?? error) as NodeJS.ErrnoException
    // Only file errors have a path.
    if (diskError === undefined && path === undefined) throw error
    const isFull = fullCodes.includes(code)
    throw new OperatorError(
      `The file ${file} can’t be written${isFull ? `: the disk of ${dirname(resolve(file))} is full` : ''} (${code}).`,
    )
  }
}

const existing = (file: string) =>
  new OperatorError(
    `The file ${file} already exists, and stays as it is. Name another one, or add --force to replace it.`,
  )

/** Codes of file systems without hard links, such as those of USB sticks and some network drives. */
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Fails if there's already a file with the new name. @throws with the code EEXIST */
const renameNew = async (file: string, name: string): Promise<void> => {
  try {
    await link(file, name)
    await rm(file)
  } catch (error) {
    if (!withoutLinks.includes(codeOf(error) ?? '')) throw error
    // Only another program that creates the same name at the same moment could lose its file here.
    await (await open(name, 'wx')).close()
    await rename(file, name)
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
