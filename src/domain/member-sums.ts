/**
 * What each member did in some days, packed: a dashboard adds up a year of a large team from a few dozen of these, where
 * rows of a table would be tens of thousands. Per member 24 bytes, big-endian: commits and closed issues as doubles, the
 * member's ordinal in four bytes, minutes in two, days with minutes and the day of the month of the last of those (0:
 * none) in one each.
 */

const ENTRY = 24

export interface MemberSums {
  active_minutes: number
  commits: number
  closed_issues: number
  active_days: number
  last_active_day: string | null
}

const nothing = (): MemberSums => ({
  active_minutes: 0,
  commits: 0,
  closed_issues: 0,
  active_days: 0,
  last_active_day: null,
})

/** Sums of different days. */
export const addSums = (parts: (MemberSums | undefined)[]): MemberSums => {
  const total = nothing()
  for (const part of parts) {
    if (!part) continue
    total.active_minutes += part.active_minutes
    total.commits += part.commits
    total.closed_issues += part.closed_issues
    total.active_days += part.active_days
    const last = part.last_active_day
    if (last !== null && (total.last_active_day ?? '') < last) total.last_active_day = last
  }
  return total
}

/** Sums by the ordinals of members. */
export class PackedSums {
  private readonly sums: (MemberSums | undefined)[] = []

  /** @param day any day of the month that all of `bytes` are of */
  add(bytes: Uint8Array, day: string): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const month = day.slice(0, 8)
    for (let at = 0; at < bytes.length; at += ENTRY) {
      const ordinal = view.getInt32(at + 16)
      let known = this.sums[ordinal]
      if (!known) {
        known = nothing()
        this.sums[ordinal] = known
      }
      known.commits += view.getFloat64(at)
      known.closed_issues += view.getFloat64(at + 8)
      known.active_minutes += view.getUint16(at + 20)
      known.active_days += view.getUint8(at + 22)
      const last = view.getUint8(at + 23)
      if (last === 0) continue
      const lastDay = last < 10 ? `${month}0${last}` : `${month}${last}`
      if (known.last_active_day === null || known.last_active_day < lastDay) known.last_active_day = lastDay
    }
  }

  /** Undefined for who has nothing. */
  of(ordinal: number): MemberSums | undefined {
    return this.sums[ordinal]
  }

  /** Packed again, if all were of one month. */
  toBytes(): Buffer {
    const people = [...this.sums.entries()].filter((person): person is [number, MemberSums] => !!person[1])
    const bytes = Buffer.alloc(people.length * ENTRY)
    people.forEach(([ordinal, sums], index) => {
      const at = index * ENTRY
      bytes.writeDoubleBE(sums.commits, at)
      bytes.writeDoubleBE(sums.closed_issues, at + 8)
      bytes.writeInt32BE(ordinal, at + 16)
      bytes.writeUInt16BE(sums.active_minutes, at + 20)
      bytes.writeUInt8(sums.active_days, at + 22)
      bytes.writeUInt8(sums.last_active_day === null ? 0 : Number(sums.last_active_day.slice(-2)), at + 23)
    })
    return bytes
  }
}
