/** Time zones of agents' minutes, which are stored as sums of hours. */
import { HOURS } from '../../platform/time/days.js'

/** Minutes in each of the 24 UTC hours, by time zone. */
export type HoursByZone = Map<string, number[]>

const put = (zones: HoursByZone, zone: string, hour: number, minutes: number) => {
  if (minutes === 0) return
  const hours = zones.get(zone) ?? new Array<number>(HOURS).fill(0)
  hours[hour] = (hours[hour] ?? 0) + minutes
  zones.set(zone, hours)
}

/** @param unknown the zone of a row that has none */
export const hoursByZone = (
  {
    hours,
    timezone,
    otherZones,
  }: {
    hours: readonly number[] | null
    timezone: string | null
    otherZones: Record<string, number[]> | null
  },
  unknown: string,
): HoursByZone => {
  const others = Object.entries(otherZones ?? {})
  const zones: HoursByZone = new Map()
  hours?.forEach((minutes, hour) => {
    const elsewhere = others.reduce((sum, [, own]) => sum + (own[hour] ?? 0), 0)
    // The previous version changes the hours alone.
    const isKnown = elsewhere <= minutes
    put(zones, timezone ?? unknown, hour, isKnown ? minutes - elsewhere : minutes)
    if (isKnown) for (const [zone, own] of others) put(zones, zone, hour, own[hour] ?? 0)
  })
  return zones
}

/** Repositories of a day before and after a change. */
interface Change {
  before: HoursByZone
  hours: readonly number[]
}

/**
 * Minutes keep their time zone, even if they move to another repository in the same hour. If an hour has
 * several zones, the last zone's minutes are removed first.
 * @param timezone of new minutes
 */
export const keepZones = (changes: readonly Change[], timezone: string): HoursByZone[] => {
  const kept = changes.map((): HoursByZone => new Map())
  for (let hour = 0; hour < HOURS; hour++) {
    const moving = new Map<string, number>()
    const lacking = changes.map(({ before, hours }, index) => {
      let left = hours[hour] ?? 0
      for (const [zone, own] of before) {
        const had = own[hour] ?? 0
        const stays = Math.min(had, left)
        put(kept[index] as HoursByZone, zone, hour, stays)
        moving.set(zone, (moving.get(zone) ?? 0) + had - stays)
        left -= stays
      }
      return left
    })
    for (const [index, minutes] of lacking.entries()) {
      const zones = kept[index] as HoursByZone
      let left = minutes
      for (const [zone, had] of moving) {
        const moves = Math.min(had, left)
        put(zones, zone, hour, moves)
        moving.set(zone, had - moves)
        left -= moves
      }
      put(zones, timezone, hour, left)
    }
  }
  return kept
}
