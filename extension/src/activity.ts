/** Decides what counts as activity, and which minutes count. This file doesn't depend on the editor. */

export const MINUTE = 60_000
/**
 * `TextEditorSelectionChangeKind`: the cause of a cursor move. Programs move the cursor with a command, or leave out
 * the kind.
 */
const [KEYBOARD, MOUSE] = [1, 2]

/**
 * Typing moves the cursor. Edits by programs, and output that scrolls a panel, move it too, but not by keyboard or
 * mouse.
 */
export const isTyping = (kind: number | undefined, scheme: string): boolean =>
  (kind === KEYBOARD || kind === MOUSE) && scheme !== 'output'

export interface Moment {
  now: number
  /** The person's last activity in this window. */
  lastSign: number
  /** The last minute that any window of this editor has counted. */
  lastCounted: number
  idleMinutes: number
  isFocused: boolean
}

/** Whether this minute counts. The windows of an editor tick at different seconds, and share each minute. */
export const countsNow = ({ now, lastSign, lastCounted, idleMinutes, isFocused }: Moment): boolean =>
  isFocused && now - lastSign < idleMinutes * MINUTE && Math.abs(now - lastCounted) >= 0.75 * MINUTE

/** A day's minutes, by the person's local date. */
export interface Counted {
  at: number
  day: string
  minutes: number
}
export const NONE: Counted = { at: 0, day: '', minutes: 0 }

const dayOf = (at: number) => new Date(at).toDateString()
export const minutesOn = (at: number, { day, minutes }: Counted): number => (day === dayOf(at) ? minutes : 0)
export const addMinute = (at: number, counted: Counted): Counted => ({
  at,
  day: dayOf(at),
  minutes: minutesOn(at, counted) + 1,
})
