/** What stands out in the selected range, against the range before. */
import { useMemo } from 'preact/hooks'
import { compact, today, weekdayAndDay } from './format.js'
import { type Numbers, type Standout, standoutsOf } from './standouts.js'
import { RepoName, Tip, UpOrDown } from './ui.js'

export const WhatChanged = (props: {
  data: Numbers
  /** The compared range. undefined while it loads, and if there is none. */
  before: Numbers | undefined
  /** Whether there is none, which is known before it would load. */
  isAlone: boolean
  onRepo: (repo: string) => void
  onDay: (day: string) => void
}) => {
  const { data, before, isAlone } = props
  const standouts = useMemo(() => before && standoutsOf(data, before, today()), [data, before])
  return (
    <section class="card" aria-labelledby="changed">
      <header class="row apart">
        <h2 id="changed">What changed</h2>
        <Tip about="what changed">
          A repository stands out if its mean week has at least one and a half times the active time of the
          compared range, or at most two thirds, and the range differs by at least 5 hours. A day stands out
          in the same way against the median of the same weekday in both ranges. Days that aren’t over, and
          people, are not compared. Shown are the four largest differences.
        </Tip>
      </header>
      <ul class="standouts" aria-busy={!standouts && !isAlone}>
        {standouts?.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              class="choice"
              title={one.kind === 'repo' ? `Show only ${one.name}` : 'Show only this day'}
              onClick={() => (one.kind === 'repo' ? props.onRepo(one.name) : props.onDay(one.name))}
            >
              {one.kind === 'repo' ? <RepoName repo={one.name} /> : weekdayAndDay(one.name)}
            </button>
            <span class="small muted">
              <UpOrDown isUp={one.now > one.before} /> {textOf(one)}
            </span>
          </li>
        ))}
        {standouts?.length === 0 && <li class="muted">Nothing stands out against the compared range.</li>}
        {isAlone && <li class="muted">There is no range to compare with.</li>}
      </ul>
    </section>
  )
}

/** Both numbers, so that the reader judges the difference. */
const textOf = ({ kind, now, before }: Standout): string => {
  if (kind === 'day') return `${compact(now)}, usually ${compact(before)}`
  if (before === 0) return `${compact(now)} a week, none before`
  return now === 0
    ? `none, before ${compact(before)} a week`
    : `${compact(now)} a week, before ${compact(before)}`
}
