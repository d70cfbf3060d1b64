import { useEffect, useMemo, useState } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import type { AnswerOf } from '../../client/src/operations.js'
import { splitRepoPath } from '../../client/src/pattern.js'
import { repoAddress } from '../addresses.js'
import { announce } from '../announce.js'
import { call, refresh, useAction, useRead } from '../api.js'
import { Calendar, Heatmap } from '../charts.js'
import { consent } from '../consent.js'
import { addDays, count, counted, duration, longWeekdays, mondayOf, today, weekdayOf } from '../format.js'
import { useWorkspace } from '../me.js'
import { rangeOf, selectedRange, titleOf, useComparison, useUrlQuery } from '../query.js'
import { RangeChoice, RangeProblem } from '../range.js'
import { rest } from '../rest.js'
import { sum, weekdayCounts } from '../spark.js'
import { readStored, store } from '../storage.js'
import { useTitle } from '../title.js'
import {
  Change,
  Choices,
  FailureNote,
  FailureOf,
  Filters,
  NumbersSkeleton,
  Skeleton,
  SkipLinks,
  SortedTable,
  Tip,
} from '../ui.js'
import { type Listing, listedRepos, metrics, numbersOf, repoColumn, TrendCard, useSummary } from './team.js'

const FirstMinute = lazy(() => rest().then(({ FirstMinute }) => FirstMinute))
const DeleteDay = lazy(() => rest().then(({ DeleteDay }) => DeleteDay))

type Own = AnswerOf<'GET /api/team/dashboard/mine'>

/** The caller's own numbers in a workspace, or in all of them together with time that no workspace counts. */
export const MyActivity = () => {
  const workspace = useWorkspace()
  const { query, change: set } = useUrlQuery()
  const chosen = rangeOf(query)
  const { range } = chosen
  const scope = query.scope ?? readStored(SCOPE) ?? 'workspace'
  const isOfAll = scope === 'all'
  const of = isOfAll ? {} : { workspace: workspace.id }
  const filter = { ...of, ...(query.repo && { repo: query.repo }) }
  useTitle(`My activity in ${isOfAll ? 'all workspaces' : workspace.name}`)
  const response = useRead(
    'GET /api/team/dashboard/mine',
    chosen.problem ? undefined : { query: { ...filter, ...range, trends: true } },
  )
  useSummary(response, `My activity${query.repo ? ` in ${query.repo}` : ''}`)
  // Fetched after the selected range, which matters most.
  const year = useRead(
    'GET /api/team/dashboard/mine',
    response.data && { query: { ...of, ...calendarRange() } },
  )
  // Loaded before the numbers are shown, because the note about it would move them.
  const names = useRead('GET /api/me/editor-projects', {})
  const recording = useRead('GET /api/me/recording', {})
  const waiting = (names.data?.projects ?? []).filter(
    ({ state, minutes }) => state === 'waiting' && minutes > 0,
  )
  // Someone without any minutes in a year is new here.
  const isNew = year.data?.daily.every(({ active_minutes }) => !active_minutes) ?? false
  // Empty figures and charts aren't shown.
  const isEmpty = isNew && metrics.every(({ name }) => !response.data?.totals[name])
  const [wasNew, remember] = useState(false)
  const [deleting, askToDelete] = useState(false)
  useEffect(() => {
    if (isNew) remember(true)
    else if (wasNew) refresh()
  }, [isNew])
  // Without activity, the year decides what comes first.
  const isReady =
    response.data &&
    (response.data.totals.active_minutes !== 0 || year.data || year.failure) &&
    (names.data || names.failure) &&
    (recording.data || recording.failure)
  const compared = useComparison('GET /api/team/dashboard/mine', response.data, query.compare, filter)
  const { before: previous } = compared
  const squares = useMemo(
    () => year.data?.daily.map(({ day, active_minutes }) => ({ day, minutes: active_minutes ?? 0 })),
    [year.data],
  )
  return (
    <>
      <div class="row apart">
        <h1>My activity</h1>
        <div class="row">
          <Choices
            label="Workspaces"
            options={SCOPES}
            value={isOfAll ? 'all' : 'workspace'}
            onChoose={(value) => {
              store(SCOPE, value)
              set({ scope: value })
            }}
          />
          <RangeChoice chosen={selectedRange(chosen, response)} />
          <SkipLinks to={[['repos', 'Skip to my repositories']]} />
        </div>
      </div>
      <Filters on={[[query.repo, () => set({ repo: undefined })]]}>
        {query.repo && !isOfAll && (
          <a href={repoAddress(workspace.id, splitRepoPath(query.repo))}>Open repository page</a>
        )}
      </Filters>
      {chosen.problem && <RangeProblem chosen={chosen} />}
      <FailureOf response={[response, year, ...compared.response]} />
      {chosen.problem ? null : response.data && isReady ? (
        <div class={response.stale ? 'stack stale' : 'stack'} aria-busy={response.stale}>
          {recording.data?.paused && <Paused recording={recording.data} again={recording.again} />}
          {waiting[0] && (
            <p>
              {duration(sum(waiting.map(({ minutes }) => minutes)))} in “<bdi>{waiting[0].name}</bdi>”
              {waiting.length > 1 && ` and ${counted(waiting.length - 1, 'other name')}`} have no repository
              yet. <a href="/account/editors#projects">Choose one</a>
            </p>
          )}
          {(isNew || wasNew) && (
            <FirstMinute hasArrived={!isNew} again={year.again} onClose={() => remember(false)} />
          )}
          {!isEmpty && (
            <>
              <Summary
                daily={year.data?.daily}
                range={response.data.range}
                totals={response.data.totals}
                now={compared.now?.totals}
                previous={previous?.totals}
              />
              <div class="lead">
                <TrendCard
                  name="My active time"
                  data={response.data}
                  metric={metrics[0]}
                  compared={compared}
                  earlier={previous}
                />
                {response.data.heatmap?.some(({ minutes }) => minutes) && (
                  <section class="card" aria-labelledby="hours">
                    <header class="row apart">
                      <h2 id="hours">My working hours</h2>
                      <Tip about="my working hours">
                        Active minutes by weekday and hour, in the time zone in which they were recorded. From
                        two weeks on, they are averages per week. Minutes that were reported without an hour,
                        and hours past their retention period, aren’t included. No one else gets this chart.{' '}
                        {consent[workspace.activity_privacy]}
                      </Tip>
                    </header>
                    <Heatmap
                      cells={response.data.heatmap}
                      counts={weekdayCounts(response.data.range)}
                      label="My active time by weekday and hour"
                    />
                  </section>
                )}
              </div>
              <section class="card" aria-labelledby="calendar">
                <header class="row apart">
                  <h2 id="calendar">My year</h2>
                  <button type="button" class="plain" onClick={() => askToDelete(true)}>
                    Delete time of {range.from === range.to ? 'this' : 'a'} day…
                  </button>
                </header>
                {squares ? (
                  <Calendar daily={squares} label="My active time by day" />
                ) : (
                  <Skeleton height={CALENDAR_HEIGHT} />
                )}
              </section>
              {deleting && <DeleteDay day={range.to} onClose={() => askToDelete(false)} />}
              <MyRepos data={response.data} compared={compared} onChoose={(repo) => set({ repo })} />
            </>
          )}
        </div>
      ) : (
        !response.failure && <NumbersSkeleton />
      )}
    </>
  )
}

const SCOPE = 'my-activity-scope'
const SCOPES = [
  ['workspace', 'This workspace'],
  ['all', 'All workspaces'],
] as const

const Paused = (props: { recording: AnswerOf<'GET /api/me/recording'>; again: () => void }) => {
  const { failure, act } = useAction()
  const resume = async () => {
    await call('PUT /api/me/recording', { body: { ...props.recording, paused: false } })
    props.again()
    announce('Recording resumed')
  }
  return (
    <>
      <div class="note row apart" role="status">
        <span>
          <strong>Paused.</strong> Your minutes aren’t recorded.
        </span>
        <button type="button" onClick={() => act(resume)}>
          Resume
        </button>
      </div>
      {failure && <FailureNote failure={failure} />}
    </>
  )
}

const CALENDAR_WEEKS = 52
/** Whole weeks, up to now in the last one. */
const calendarRange = () => ({
  from: addDays(mondayOf(today()), -7 * (CALENDAR_WEEKS - 1)),
  to: today(),
})
const CALENDAR_HEIGHT = 216

/** The eight whole weeks before this one. */
const USUAL_WEEKS = 8

/**
 * Today and this week so far, with the usual values for this weekday. Weeks in which this weekday came before the first
 * active day don't count, because they would lower a new person's means.
 */
const usualOf = (daily: Own['daily']) => {
  const [now, monday] = [today(), mondayOf(today())]
  const minutes = new Map(daily.map((one) => [one.day, one.active_minutes ?? 0]))
  const until = (start: string) =>
    sum(Array.from({ length: weekdayOf(now) }, (_, index) => minutes.get(addDays(start, index)) ?? 0))
  const first = daily.find(({ active_minutes }) => active_minutes)?.day ?? now
  const weeks = Array.from({ length: USUAL_WEEKS }, (_, index) => -7 * (index + 1)).filter(
    (back) => addDays(now, back) >= first,
  )
  const mean = (values: number[]) => values.length && Math.round(sum(values) / values.length)
  return {
    today: minutes.get(now) ?? 0,
    usualToday: mean(weeks.map((back) => minutes.get(addDays(now, back)) ?? 0)),
    week: until(monday),
    usualWeek: mean(weeks.map((back) => until(addDays(monday, back)))),
  }
}

const Summary = (props: {
  daily: Own['daily'] | undefined
  range: Own['range']
  totals: Own['totals']
  now: Own['totals'] | undefined
  previous: Own['totals'] | undefined
}) => {
  const { daily, totals, now, previous } = props
  const usual = daily && usualOf(daily)
  const weekday = longWeekdays()[weekdayOf(today()) - 1]
  const [active, commits] = metrics
  const figures = [
    {
      name: 'Today',
      value: usual && duration(usual.today),
      comparison: usual?.usualToday ? `usually ${duration(usual.usualToday)} on a ${weekday}` : '',
      about: `${active.about} The usual value is the mean of the same weekday in the last ${USUAL_WEEKS} weeks, since your first active day.`,
    },
    {
      name: 'This week',
      value: usual && duration(usual.week),
      comparison: usual?.usualWeek ? `usually ${duration(usual.usualWeek)} by the end of ${weekday}` : '',
      about: `Monday to today. The usual value is the mean of the last ${USUAL_WEEKS} weeks, up to the same weekday and since your first active day.`,
    },
    {
      name: titleOf(props.range),
      value: duration(totals.active_minutes),
      comparison: (
        <>
          <Change
            total={totals.active_minutes}
            now={now?.active_minutes}
            before={previous?.active_minutes}
            write={duration}
          />
          {totals.agent_minutes > 0 && <span class="block">Agents: {duration(totals.agent_minutes)}</span>}
        </>
      ),
      about: `${active.about} The small figure compares with the same weekdays before, without today.${totals.agent_minutes > 0 ? ' “Agents” is the time in which assistants worked and you didn’t. It isn’t active time, and only you see it.' : ''}`,
    },
    {
      name: commits.title,
      value: count(totals.commits),
      comparison: (
        <Change total={totals.commits} now={now?.commits} before={previous?.commits} write={count} />
      ),
      about: `${commits.about} The small figure compares with the same weekdays before, without today.`,
    },
  ]
  return (
    <section class="figures" aria-label="Summary">
      {figures.map(({ name, value = '…', comparison, about }) => (
        <div key={name} class={`figure-box ${name === commits.title ? commits.tone : active.tone}`}>
          <p class="figure">
            <span class="name">{name}</span> <span class="value">{value}</span>{' '}
            <span class="delta">{comparison}</span>
          </p>
          <Tip about={name.toLowerCase()}>{about}</Tip>
        </div>
      ))}
    </section>
  )
}

const MyRepos = ({ data, compared, onChoose }: Listing<Own>) => (
  <section class="card" aria-labelledby="repos">
    <header class="row apart">
      <h2 id="repos">My repositories</h2>
      <span class="small muted">{listedRepos(data.repos)}</span>
    </header>
    <SortedTable
      caption="My repositories"
      rows={data.repos}
      columns={[
        repoColumn(useWorkspace().id, onChoose),
        ...numbersOf('repos', data.repos, data.range, compared),
      ]}
      keyOf={({ repo }) => repo ?? ''}
      isRest={({ repo }) => repo === null}
      searchText={({ repo }) => repo ?? ''}
      first="active_minutes"
      empty="No activity in the selected range."
    />
  </section>
)
