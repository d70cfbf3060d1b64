/** Collects what is wrong with settings, and limits the work of the check. */
import type { WarningCode } from '../../../schemas/common.js'
import { escapePointer } from '../../errors.js'

/** A place in settings: a key, and the places that lead there. */
export interface ValuePath {
  parent: ValuePath | undefined
  key: string | number
}

export interface Fault {
  /** A JSON pointer that starts at the settings. */
  path: string
  code: WarningCode
  message: string
}

/** The maximum length of a list of faults. */
const MAX_FAULTS = 100
/** Total characters of all paths and messages, not counting the first fault. */
const MAX_TEXT = 65_536
/**
 * How much work a check may do. A unit takes 15 to 35 ns, and up to 70 ns in the first check of a process, so that
 * no settings take more than 50 ms. Settings of normal size don't come close.
 */
const MAX_WORK = 600_000

/** Thrown when a check has done its maximum work, or found the maximum number of faults. */
export class CheckEnds extends Error {}

const pointerOf = (place: ValuePath | undefined): string => {
  let pointer = ''
  for (let at = place; at; at = at.parent) {
    pointer = `/${escapePointer(String(at.key))}${pointer}`
  }
  return pointer
}

/** A settings check: its findings, and how much work it may still do. */
export class Run {
  /** The number of faults, including those that aren't noted. */
  count = 0
  readonly faults: Fault[] = []
  private work = MAX_WORK
  private text = 0
  private trials = 0

  /** @throws {CheckEnds} if there was too much work */
  spend(units: number): void {
    this.work -= units
    if (this.work < 0) throw new CheckEnds()
  }

  /** @throws {CheckEnds} when the list is full */
  note(place: ValuePath | undefined, message: string, code: WarningCode = 'invalid'): void {
    this.count++
    if (this.trials > 0) return
    const path = pointerOf(place)
    this.faults.push({ path, code, message })
    this.text += path.length + message.length
    if (this.faults.length >= MAX_FAULTS || this.text > MAX_TEXT) throw new CheckEnds()
  }

  /** Notes that the check ended early, unless it has found enough. */
  end(place: ValuePath | undefined): void {
    if (this.work >= 0) return
    this.faults.push({ path: pointerOf(place), code: 'invalid', message: 'is too large to be checked' })
  }

  /** Whether `check` finds nothing. Its findings aren't noted. */
  passes(check: () => void): boolean {
    const before = this.count
    this.trials++
    check()
    this.trials--
    const passed = this.count === before
    this.count = before
    return passed
  }
}
