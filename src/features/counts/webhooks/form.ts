/** Finds the payload in a form-encoded delivery, at no more cost than the same bytes as JSON. Other requests run meanwhile. */
import { yieldIfDue } from '../../../platform/process/yield-if-due.js'

const codeOf = (char: string) => char.charCodeAt(0)
const AND = codeOf('&')
const EQUALS = codeOf('=')
const PERCENT = codeOf('%')
const PLUS = codeOf('+')
const BLANK = codeOf(' ')
const ZERO = codeOf('0')
const NINE = codeOf('9')
const LOWER_A = codeOf('a')
const LOWER_F = codeOf('f')
/** The bit that makes an ASCII letter lower case. */
const LOWER = 0x20

const NAME = Buffer.from('payload')
/** How many bytes to read between two checks of the clock. */
const PIECE_BYTES = 65_536

/**
 * The value of the form's first field `payload`, decoded. Empty if there's none. A form of 24 MiB can have 12 million
 * fields, so nothing is created for the others. The value is decoded in place, because the form isn't needed afterwards.
 */
export const readPayload = async (form: Buffer): Promise<Buffer> => {
  let yieldAt = PIECE_BYTES
  for (let start = 0; start < form.length; start++) {
    if (start >= yieldAt) {
      await yieldIfDue()
      yieldAt = start + PIECE_BYTES
    }
    const valueStart = skipName(form, start)
    // The scan also finds the end of the value.
    while (start < form.length && form[start] !== AND) start++
    if (valueStart !== undefined) return decode(form.subarray(Math.min(valueStart, start), start))
  }
  return Buffer.alloc(0)
}

/** Where the value begins, if the field at `start` has the name. Each of its characters may be encoded. */
const skipName = (form: Buffer, start: number): number | undefined => {
  let at = start
  for (const char of NAME) {
    if (form[at] === char) at++
    else if (encodedByte(form, at) === char) at += 3
    else return undefined
  }
  const next = form[at]
  return next === undefined || next === AND || next === EQUALS ? at + 1 : undefined
}

/** Text that isn't an encoded byte stays as it is. */
const decode = async (text: Buffer): Promise<Buffer> => {
  let length = 0
  let yieldAt = PIECE_BYTES
  for (let at = 0; at < text.length; at++) {
    if (at >= yieldAt) {
      await yieldIfDue()
      yieldAt = at + PIECE_BYTES
    }
    const byte = text[at] as number
    const encoded = encodedByte(text, at)
    if (encoded >= 0) at += 2
    text[length++] = encoded >= 0 ? encoded : byte === PLUS ? BLANK : byte
  }
  return text.subarray(0, length)
}

/** The byte that `%xx` stands for, or -1 for anything else. */
const encodedByte = (text: Buffer, at: number): number =>
  text[at] === PERCENT && isHex(text[at + 1]) && isHex(text[at + 2])
    ? valueOfHex(text[at + 1]) * 16 + valueOfHex(text[at + 2])
    : -1

const isHex = (byte = 0) =>
  (byte >= ZERO && byte <= NINE) || ((byte | LOWER) >= LOWER_A && (byte | LOWER) <= LOWER_F)

const valueOfHex = (byte = 0) => (byte <= NINE ? byte - ZERO : (byte | LOWER) - LOWER_A + 10)
