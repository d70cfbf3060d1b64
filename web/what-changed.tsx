/** Shows what stands out in the selected range, compared with the previous one. */
import { useMemo } from 'preact/hooks'
import { weekdayAndDay } from './format.js'
import { type ComparedDashboard, standoutsOf, wordsOf } from './standouts.js'
import { RepoName, Tip, UpOrDown } from './ui.js'

export const WhatChanged = (props: {
  /** The range's finished days, and the compared ones. Undefined while they load, or if there are none. */
  now: ComparedDashboard | undefined
  before: ComparedDashboard | undefined
  /** Why nothing is compared. */
  lack: string | undefined
  addressOf: (repo: string) => string
  onDay: (day: string) => void
}) => {
  const { now, before, lack } = props
  const standouts = useMemo(() => now && before && standoutsOf(now, before), [now, before])
  return (
    <section class="card" aria-labelledby="changed">
      <header class="row apart">
        <h2 id="changed">What changed</h2>
        <Tip about="what changed">
          A repository stands out if it has at least one and a half times the active time of the weeks before,
          or at most two thirds, and the difference is at least 5 hours. A day stands out if it has that much
          more than the median of the same weekday in both ranges. Weekdays with at most half of the busiest
          one’s median are left out, and so is today. People are never compared. The four largest are shown.
        </Tip>
      </header>
      <ul class="standouts" aria-busy={!standouts && !lack}>
        {standouts?.map((one) => (
          <li key={one.name}>
            <UpOrDown isUp={one.now > one.before} />{' '}
            {one.kind === 'repo' ? (
              <a class="choice" href={props.addressOf(one.name)}>
                <RepoName repo={one.name} />
              </a>
            ) : (
              <button type="button" class="choice" onClick={() => props.onDay(one.name)}>
                {weekdayAndDay(one.name)}
              </button>
            )}{' '}
            {wordsOf(one)}
          </li>
        ))}
        {(lack || standouts?.length === 0) && (
          <li class="muted">{lack ?? 'Nothing stands out against the weeks before.'}</li>
        )}
      </ul>
    </section>
  )
}
