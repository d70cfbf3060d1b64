/** Filters and ranges in the query of the address, so that people can share what they see. */
import { useLocation } from 'preact-iso/router'
import { addDays, daysBetween, mondayOf, today } from './format.js'

/** The query of the address, and a function that changes parts of it. `undefined` removes a part. */
export const useUrlQuery = () => {
  const { path, query, route } = useLocation()
  const change = (parts: Record<string, string | undefined>) => {
    const next = new URLSearchParams(query as Record<string, string>)
    for (const [name, value] of Object.entries(parts)) {
      if (value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    }
    const text = next.toString()
    route(text ? `${path}?${text}` : path)
  }
  return { query: query as Record<string, string | undefined>, change }
}

export type Range = { from: string; to: string }

export const lastDays = (count: number): Range => ({ from: addDays(today(), 1 - count), to: today() })

const firstOfMonth = (year: number, month: number) =>
  new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)

/** Named ranges, in addition to the last N days. */
export const namedRanges = (): [name: string, range: Range][] => {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const quarter = month - (month % 3)
  return [
    ['This week', { from: mondayOf(today()), to: today() }],
    ['This month', { from: firstOfMonth(year, month), to: today() }],
    ['Last month', { from: firstOfMonth(year, month - 1), to: addDays(firstOfMonth(year, month), -1) }],
    ['This quarter', { from: firstOfMonth(year, quarter), to: today() }],
    ['Last quarter', { from: firstOfMonth(year, quarter - 3), to: addDays(firstOfMonth(year, quarter), -1) }],
  ]
}

/**
 * The range to compare with: the same number of days just before. A month or quarter, whole or so far, is compared with the
 * same part of the previous one.
 */
export const previousRange = ({ from, to }: Range): Range => {
  const length = daysBetween(from, to) + 1
  const [year = 0, month = 0] = from.split('-').map(Number)
  const first = month - 1
  for (const months of first % 3 === 0 ? [1, 3] : [1]) {
    const last = addDays(firstOfMonth(year, first + months), -1)
    if (from !== firstOfMonth(year, first) || to > last) continue
    const [start, end] = [firstOfMonth(year, first - months), addDays(from, -1)]
    const sameLength = addDays(start, length - 1)
    return { from: start, to: to === last || sameLength > end ? end : sameLength }
  }
  return { from: addDays(from, -length), to: addDays(from, -1) }
}

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/** The range of the address, or the last 30 days. */
export const rangeOf = (query: Record<string, string | undefined>): Range => {
  const { from, to } = query
  if (from && to && isDay(from) && isDay(to)) return { from, to }
  return lastDays(30)
}
