/**
 * Reads the JSON or CSV file in a ZIP file as it arrives. Packages either need the whole file, or look for the end of a
 * packed file by its bytes, which can also be in the middle of it.
 */
import { createInflateRaw } from 'node:zlib'
import { limits } from '../../../../schemas/limits.js'
import { ApiError, validationError } from '../../../errors.js'
import type { ByteSource } from './byte-source.js'
import { Inflation, PIECE_BYTES } from './inflation.js'

const FILE = 0x04034b50
const DIRECTORY = 0x02014b50
const EMPTY = 0x06054b50
const HEADER_BYTES = 30
const MAX_FILES = 1_000
const MAX_NAME = 1_024

const ENCRYPTED = 1
/** The size stands after the file, in a descriptor of up to six numbers. */
const SIZE_FOLLOWS = 8
const DESCRIPTOR_NUMBERS = 6
const STORED = 0
const DEFLATED = 8
/** The size is in the extra field instead, because it's larger than 4 GiB. */
const LARGE = 0xffffffff

export const isZip = (first: Buffer): boolean =>
  first.length === 4 && [FILE, EMPTY].includes(first.readUInt32LE(0))

const incomplete = (reason: string) => validationError('/body', `isn’t a complete ZIP file: ${reason}`)

interface Entry {
  name: string
  flags: number
  method: number
  size: number
}

/** Undefined: only the directory of the ZIP file follows. */
const readEntry = async (source: ByteSource): Promise<Entry | undefined> => {
  const start = await source.peek(4)
  if (start.length === 4 && [DIRECTORY, EMPTY].includes(start.readUInt32LE(0))) return undefined
  const header = await source.take(HEADER_BYTES)
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== FILE)
    throw incomplete('a file has no header')
  const nameLength = header.readUInt16LE(26)
  if (nameLength > MAX_NAME) throw validationError('/body', 'is a ZIP file with names that are too long')
  const name = (await source.take(nameLength)).toString()
  await skip(source, header.readUInt16LE(28))
  return {
    name,
    flags: header.readUInt16LE(6),
    method: header.readUInt16LE(8),
    size: header.readUInt32LE(18),
  }
}

/** Whether it's a JSON or CSV file, other than the hidden ones that macOS adds. */
const isReadable = ({ name }: Entry): boolean =>
  /(^|\/)[^/.][^/]*\.(json|csv|tsv)$/i.test(name) && !name.startsWith('__MACOSX/')

/** @throws {ApiError} `validation_failed` unless it has exactly one JSON or CSV file */
export async function* unzipped(source: ByteSource): AsyncGenerator<Buffer> {
  const names: string[] = []
  let readable = 0
  let skippedBytes = 0
  for (let entry = await readEntry(source); entry; entry = await readEntry(source)) {
    if (names.push(entry.name) > MAX_FILES)
      throw validationError('/body', `is a ZIP file with more than ${MAX_FILES} files`)
    const isRead = isReadable(entry)
    if (isRead && ++readable > 1)
      throw validationError('/body', 'is a ZIP file with several JSON or CSV files: send one of them')
    for await (const part of contentOf(source, entry, isRead)) {
      if (isRead) yield part
      else skippedBytes += part.length
      if (skippedBytes > limits.import_unpacked_bytes) throw new ApiError('payload_too_large')
    }
  }
  if (readable === 0) throw validationError('/body', describeUnreadable(names))
  // The directory is of no use by now.
  for await (const _ of source.rest());
}

const describeUnreadable = (names: string[]): string => {
  if (names.some((name) => name.startsWith('xl/')))
    return 'is an Excel workbook: save it as CSV, or send the original export'
  if (names[0] === 'mimetype')
    return 'is a document of an office program: save it as CSV, or send the original export'
  return 'is a ZIP file without a JSON or CSV file'
}

/** An entry's bytes, unpacked. The source is then after the entry. */
async function* contentOf(
  source: ByteSource,
  { flags, method, size }: Entry,
  isRead: boolean,
): AsyncGenerator<Buffer> {
  const sizeFollows = (flags & SIZE_FOLLOWS) !== 0
  const isSizeKnown = !sizeFollows && size !== LARGE
  if (isRead && flags & ENCRYPTED)
    throw validationError('/body', 'is an encrypted ZIP file: send it without a password')
  if (!isRead && isSizeKnown) {
    await skip(source, size)
    return
  }
  // Folders of some tools have a size that follows, and is 0.
  const isEmpty = method === STORED && sizeFollows && size === 0 && !isRead
  if (method === DEFLATED && !(flags & ENCRYPTED)) yield* inflated(source)
  else if (method === STORED && isSizeKnown) yield* stored(source, size)
  else if (!isEmpty)
    throw validationError(
      '/body',
      'is a ZIP file that can’t be read: pack it with another program, or send the file in it',
    )
  if (sizeFollows) await skipDescriptor(source)
}

async function* inflated(source: ByteSource): AsyncGenerator<Buffer> {
  const inflation = new Inflation(createInflateRaw(), incomplete)
  try {
    while (!inflation.hasEnded) {
      const piece = await source.takeSome(PIECE_BYTES)
      if (piece.length === 0) throw incomplete('unexpected end of file')
      const length = await inflation.write(piece)
      yield* inflation.takeParts()
      if (inflation.hasEnded) source.giveBack(piece.subarray(length))
    }
  } finally {
    inflation.destroy()
  }
}

async function* stored(source: ByteSource, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    const piece = await source.takeSome(left)
    if (piece.length === 0) throw incomplete('unexpected end of file')
    left -= piece.length
    yield piece
  }
}

const skip = async (source: ByteSource, size: number): Promise<void> => {
  for await (const _ of stored(source, size));
}

/** It has three to six numbers, depending on the program that packed the file. */
const skipDescriptor = async (source: ByteSource): Promise<void> => {
  for (let numbers = 0; numbers <= DESCRIPTOR_NUMBERS; numbers++) {
    const next = await source.peek(4)
    if (next.length === 4 && [FILE, DIRECTORY].includes(next.readUInt32LE(0))) return
    await source.take(4)
  }
  throw incomplete('a file has no end')
}
