/** Adds up numbers of a dashboard, some of which may be hidden (null). */
import { perCount } from '../../../schemas/counts.js'
import type { Dashboard } from '../../../schemas/dashboard.js'

import { listDays } from '../../platform/time/days.js'

export type Totals = Dashboard['totals']
export type Sums = Omit<Totals, 'active_members'>

export const ZERO_SUMS = { active_minutes: 0, ...perCount(() => 0), active_members: 0 }
export const hiddenSums = { active_minutes: null, ...perCount(() => null), active_members: null }

/** The sum, not counting hidden (null) numbers. Null if all are hidden. */
const add = (one: number | null, other: number | null): number | null =>
  one === null ? other : one + (other ?? 0)

export const larger = (one: number | null, other: number | null): number | null =>
  one === null ? other : Math.max(one, other ?? 0)

export const addUp = (parts: Sums[]): Sums =>
  parts.reduce<Sums>(
    (total, part) => ({
      active_minutes: add(total.active_minutes, part.active_minutes),
      ...perCount((count) => add(total[count], part[count])),
    }),
    hiddenSums,
  )

/** People aren't added up, because the same person may be in both. */
export const addUpTotals = (parts: Totals[]): Totals => ({
  ...addUp(parts),
  active_members: parts.map(({ active_members }) => active_members).reduce(larger, null),
})

/** Every day of a range. Days without a row have the given sums. */
export const everyDay = (
  { from, to }: { from: string; to: string },
  rows: readonly (Totals & { day: string })[],
  missing: Totals,
): (Totals & { day: string })[] => {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return listDays(from, to).map((day) => byDay.get(day) ?? { day, ...missing })
}
