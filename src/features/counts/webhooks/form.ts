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
 * Decodes the value of a form's first field `payload`, piece by piece. A form of 24 MiB can have 12 million fields, so
 * nothing is created for the others. Text that isn't an encoded byte stays as it is.
 */
export class FormPayload {
  private place: 'name' | 'value' | 'other field' | 'end' = 'name'
  /** How many characters of the name have matched, or -1. */
  private matched = 0
  /** How many characters of `%xx` have arrived, and the first digit. */
  private begun = 0
  private firstDigit = 0

  /**
   * @param into receives the value's bytes. It may overlap with this piece and earlier ones
   * @returns the decoded bytes of the value in this piece
   */
  push(piece: Buffer, into: Buffer = Buffer.allocUnsafe(piece.length + 2)): Buffer {
    let length = 0
    const add = (byte: number) => {
      if (this.place === 'value') into[length++] = byte
      else if (this.place === 'name') this.matched = byte === NAME[this.matched] ? this.matched + 1 : -1
    }
    for (let at = 0; at < piece.length && this.place !== 'end'; at++) {
      const byte = piece[at] as number
      if (this.begun > 0 && isHex(byte)) {
        if (this.begun === 2) add(valueOfHex(this.firstDigit) * 16 + valueOfHex(byte))
        this.firstDigit = byte
        this.begun = this.begun === 1 ? 2 : 0
        continue
      }
      if (this.begun > 0) this.addUndecoded(add)
      if (byte === PERCENT) this.begun = 1
      else if (byte === AND) this.endField()
      else if (byte === EQUALS && this.place === 'name') this.place = this.isPayload ? 'value' : 'other field'
      else add(byte === PLUS ? BLANK : byte)
    }
    return into.subarray(0, length)
  }

  /** The last bytes of the value. */
  end(): Buffer {
    const bytes: number[] = []
    if (this.place === 'value' && this.begun > 0) this.addUndecoded((byte) => bytes.push(byte))
    return Buffer.from(bytes)
  }

  private get isPayload(): boolean {
    return this.matched === NAME.length
  }

  private endField() {
    this.place = this.place === 'value' || (this.place === 'name' && this.isPayload) ? 'end' : 'name'
    this.matched = 0
  }

  /** Adds the characters of what looked like an encoded byte. */
  private addUndecoded(add: (byte: number) => void) {
    add(PERCENT)
    if (this.begun === 2) add(this.firstDigit)
    this.begun = 0
  }
}

/** The payload in a form. It's decoded in place, because the form isn't needed afterwards. Empty if there's none. */
export const readPayload = async (form: Buffer): Promise<Buffer> => {
  const payload = new FormPayload()
  let length = 0
  for (let start = 0; start < form.length; start += PIECE_BYTES) {
    await yieldIfDue()
    const piece = form.subarray(start, start + PIECE_BYTES)
    // What's decoded is never longer than what was read.
    length += payload.push(piece, form.subarray(length)).length
  }
  const end = payload.end()
  end.copy(form, length)
  return form.subarray(0, length + end.length)
}

const isHex = (byte = 0) =>
  (byte >= ZERO && byte <= NINE) || ((byte | LOWER) >= LOWER_A && (byte | LOWER) <= LOWER_F)

const valueOfHex = (byte = 0) => (byte <= NINE ? byte - ZERO : (byte | LOWER) - LOWER_A + 10)
