/** The week by hour. */
import { DAYS_OF_WEEK, HOURS, weekdayOf } from '../../platform/time/days.js'

export interface HeatmapCell {
  /** ISO: 1 is Monday. */
  weekday: number
  hour: number
  minutes: number
}

/** Minutes by weekday and hour. */
export class Heatmap {
  /** Monday 0:00 first. */
  private readonly minutes = new Array<number>(DAYS_OF_WEEK * HOURS).fill(0)

  addCell({ weekday, hour, minutes }: HeatmapCell): void {
    const cell = (weekday - 1) * HOURS + hour
    this.minutes[cell] = (this.minutes[cell] ?? 0) + minutes
  }

  /** Adds an hour of a local day. */
  addHour({ day, hour, minutes }: { day: string; hour: number; minutes: number }): void {
    this.addCell({ weekday: weekdayOf(day), hour, minutes })
  }

  /** All 168, Monday 0:00 first. */
  toCells(): HeatmapCell[] {
    return this.minutes.map((minutes, index) => ({
      weekday: Math.floor(index / HOURS) + 1,
      hour: index % HOURS,
      minutes,
    }))
  }
}
