/** Minutes as WakaTime writes them. */

const MINUTES = 60
const SECONDS = 60

const unit = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`

/** `3 hrs 12 mins` */
export const textOf = (total: number): string => {
  const [hours, minutes] = [Math.floor(total / MINUTES), total % MINUTES]
  return hours > 0 ? `${unit(hours, 'hr')} ${unit(minutes, 'min')}` : unit(minutes, 'min')
}

export const digitalOf = (total: number): string =>
  `${Math.floor(total / MINUTES)}:${String(total % MINUTES).padStart(2, '0')}`

export const decimalOf = (total: number): string => (total / MINUTES).toFixed(2)

export const durationOf = (total: number) => ({
  text: textOf(total),
  digital: digitalOf(total),
  hours: Math.floor(total / MINUTES),
  minutes: total % MINUTES,
  total_seconds: total * SECONDS,
})

/** A part of a total, with its share of it. */
export const entryOf = (name: string, minutes: number, total: number) => ({
  name,
  ...durationOf(minutes),
  decimal: decimalOf(minutes),
  seconds: 0,
  percent: total === 0 ? 0 : Math.round((minutes / total) * 10_000) / 100,
})

/** The moment without fractions of a second, which some of WakaTime's tools can't read. */
export const momentOf = (moment: number): string => `${new Date(moment).toISOString().slice(0, -5)}Z`
