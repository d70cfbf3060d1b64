/**
 * Numbers, days and times as text. The page is English, so the names of weekdays and months are too. Separators of
 * numbers, the order of day and month, and the clock are the viewer's.
 */

/** Each is made at its first use: the browser's first one takes a tenth of a second on a phone. */
const lazily = <Format>(make: () => Format) => {
  let made: Format | undefined
  return () => (made ??= make())
}
const numbers = (options?: Intl.NumberFormatOptions) =>
  lazily(() => new Intl.NumberFormat(numberLocale(), options))
const dates = (options: Intl.DateTimeFormatOptions) =>
  lazily(() => new Intl.DateTimeFormat(dateLocale(), options))
const viewer = lazily(
  () => new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: 'numeric' }),
)
const isEnglish = (locale: string) => /^en\b/.test(locale)
const RIGHT_TO_LEFT = /^(?:Arab|Hebr|Syrc|Thaa|Nkoo|Adlm|Rohg)$/
/** Digits and signs in right-to-left scripts would reorder an English sentence. */
const numberLocale = (): string => {
  const { locale } = viewer().resolvedOptions()
  return RIGHT_TO_LEFT.test(new Intl.Locale(locale).maximize().script ?? '') ? 'en' : locale
}
/** English in the viewer's order. British English would write 03:48 pm. */
const dateLocale = (): string => {
  const { locale } = viewer().resolvedOptions()
  if (isEnglish(locale)) return locale
  const order = viewer()
    .formatToParts(0)
    .map(({ type }) => type)
  return order.indexOf('month') < order.indexOf('day') ? 'en-US' : 'en-AU'
}
const UTC = { timeZone: 'UTC' } as const
const DAY = { ...UTC, day: 'numeric', month: 'short' } as const
const number = numbers()
const wholePercent = numbers({ style: 'percent', maximumFractionDigits: 0 })
const signedPercent = numbers({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' })
const shortNumber = lazily(
  () => new Intl.NumberFormat(dateLocale(), { notation: 'compact', maximumFractionDigits: 1 }),
)
const monthOnly = dates({ ...UTC, month: 'short' })
const weekdayDay = dates({ ...DAY, weekday: 'short' })
const shortDay = dates(DAY)
const shortDayOfYear = dates({ ...DAY, year: 'numeric' })
const longDay = dates({ ...DAY, weekday: 'short', year: 'numeric' })
const moment = lazily(
  () =>
    new Intl.DateTimeFormat(dateLocale(), {
      dateStyle: 'medium',
      timeStyle: 'short',
      hourCycle: viewer().resolvedOptions().hourCycle ?? 'h23',
    }),
)

/** Shown in place of a hidden number. */
export const HIDDEN = '–'

type Maybe = number | null | undefined

export const count = (value: Maybe): string => (value == null ? HIDDEN : number().format(value))

/** For a chart's axis: at most five characters. */
export const short = (value: number): string => (value < 10_000 ? count(value) : shortNumber().format(value))

export const people = (value: number): string => (value === 1 ? '1 person' : `${count(value)} people`)

/** A number with a noun whose plural ends in s. */
export const counted = (value: Maybe, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** Minutes as hours and minutes. Above 100 hours, only hours. */
export const duration = (minutes: Maybe): string => {
  if (minutes == null) return HIDDEN
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  if (hours >= 100 || rest === 0) return `${number().format(Math.round(minutes / 60))} h`
  return `${hours} h ${rest} min`
}

export const percent = (share: number): string => wholePercent().format(share)

/** Such as `−11%`, or `new` if there was nothing before. For large changes, exact digits are meaningless. */
export const changeText = (share: number): string => {
  if (share === Number.POSITIVE_INFINITY) return 'new'
  return share < 10 ? signedPercent().format(share) : `>${signedPercent().format(9.99)}`
}

const asDate = (day: string) => new Date(`${day}T00:00:00Z`)

export const day = (text: string): string => shortDay().format(asDate(text))
export const month = (text: string): string => monthOnly().format(asDate(text))
/** Such as `Wed 18 Nov`. */
export const weekdayAndDay = (text: string): string => weekdayDay().format(asDate(text))
export const fullDay = (text: string): string => longDay().format(asDate(text))
export const time = (text: string): string => moment().format(new Date(text))
export const days = (from: string, to: string): string => `${fullDay(from)} to ${fullDay(to)}`

/** Such as `26 Oct – 24 Nov`, with the year if it isn't the current one. */
export const shortDays = (from: string, to: string): string => {
  const year = today().slice(0, 4)
  const format = from.startsWith(year) && to.startsWith(year) ? shortDay() : shortDayOfYear()
  return format.formatRange(asDate(from), asDate(to))
}

export const capitalized = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

/** A name that can be seen and clicked, even if it has only invisible characters. */
export const visible = (name: string): string =>
  /[^\p{C}\p{Z}\p{M}]/u.test(name) ? name : '(no visible name)'

export const bytes = (value: number): string => {
  if (value < 1_024) return `${number().format(value)} bytes`
  const kilobytes = Math.round(value / 1_024)
  return kilobytes < 1_024
    ? `${number().format(kilobytes)} KB`
    : `${number().format(Math.round(kilobytes / 1_024))} MB`
}

/** 1 is Monday. 2024 began on a Monday. */
const weekdayNames = (weekday: 'short' | 'long') =>
  lazily(() => {
    const format = new Intl.DateTimeFormat('en', { ...UTC, weekday })
    return Array.from({ length: 7 }, (_, index) => format.format(Date.UTC(2024, 0, 1 + index)))
  })
export const weekdays = weekdayNames('short')
export const longWeekdays = weekdayNames('long')

const DAY_MS = 86_400_000
export const addDays = (text: string, delta: number): string =>
  utcDay(asDate(text).getTime() + delta * DAY_MS)
export const daysBetween = (from: string, to: string): number =>
  (asDate(to).getTime() - asDate(from).getTime()) / DAY_MS
/** The date on the viewer's clock. */
const localDay = (moment: number): string => utcDay(moment - new Date(moment).getTimezoneOffset() * 60_000)
export const today = (): string => localDay(Date.now())
/** The day of a moment on the viewer's clock. */
export const dayOf = (moment: string | number): string => fullDay(localDay(+new Date(moment)))
/** Dates that the service sets are in UTC. */
export const utcDay = (moment = Date.now()): string => new Date(moment).toISOString().slice(0, 10)
/** ISO: 1 is Monday. */
export const weekdayOf = (text: string): number => asDate(text).getUTCDay() || 7
export const mondayOf = (text: string): string => addDays(text, 1 - weekdayOf(text))
