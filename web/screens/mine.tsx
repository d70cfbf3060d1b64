import type { AnswerOf } from '../../client/src/operations.js'
import { useAsk } from '../api.js'
import { Heatmap, Trend } from '../charts.js'
import {
  addDays,
  beside,
  count,
  days,
  duration,
  fullDay,
  longWeekdays,
  mondayOf,
  today,
  weekdayOf,
} from '../format.js'
import { type Space, useMe } from '../me.js'
import { lastDays, rangeBefore, rangeOf, useQuery } from '../query.js'
import { RangeChoice } from '../range.js'
import { useTitle } from '../title.js'
import { FailureOf, Filters, Jumps, RepoName, SortedTable, Tip, WaitForNumbers } from '../ui.js'
import { AboutMe } from './about-me.js'
import { MySpaces } from './spaces.js'
import { Compared, measures, numbersOf, pointsOf, useHeard } from './team.js'

type Own = AnswerOf<'GET /api/team/dashboard/mine'>

export const Mine = () => {
  const { workspaces } = useMe()
  const { query } = useQuery()
  useTitle('My activity')
  const space = workspaces.find(({ id }) => id === query.workspace) ?? workspaces[0]
  if (!space) {
    return (
      <>
        <h1>Welcome</h1>
        <p class="narrow">
          Active minutes are counted in workspaces: each covers some repositories of a team. Make one, or join
          one with a code that somebody gave you.
        </p>
        <MySpaces />
      </>
    )
  }
  return <MineIn key={space.id} space={space} />
}

const MineIn = ({ space }: { space: Space }) => {
  const { workspaces } = useMe()
  const { query, change: set } = useQuery()
  const range = rangeOf(query)
  const asked = useAsk('GET /api/team/dashboard/mine', {
    query: { workspace: space.id, ...range, ...(query.repo && { repo: query.repo }), trends: true },
  })
  useHeard(asked, `I${query.repo ? ` in ${query.repo}` : ''}`)
  // After the numbers that were asked for.
  const usual = useAsk(
    'GET /api/team/dashboard/mine',
    asked.data && { query: { workspace: space.id, ...lastDays(USUAL_DAYS) } },
  )
  const before = useAsk(
    'GET /api/team/dashboard/mine',
    asked.data && {
      query: { workspace: space.id, ...rangeBefore(range), ...(query.repo && { repo: query.repo }) },
    },
  )
  return (
    <>
      <div class="row apart">
        <h1>My activity</h1>
        <div class="row">
          {workspaces.length > 1 && (
            <label class="row">
              <span class="away">Workspace</span>
              <select value={space.id} onChange={(event) => set({ workspace: event.currentTarget.value })}>
                {workspaces.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <RangeChoice range={range} onChoose={set} />
          <Jumps
            to={[
              ['repos', 'To my repositories'],
              ['about-me', 'To what is recorded about me'],
            ]}
          />
        </div>
      </div>
      <Filters on={[[query.repo, () => set({ repo: undefined })]]} />
      <FailureOf asked={[asked, usual, before]} />
      {asked.data ? (
        <div class={asked.stale ? 'stack stale' : 'stack'} aria-busy={asked.stale}>
          <Now daily={usual.data?.daily} totals={asked.data.totals} before={before.data?.totals} />
          <div class="lead">
            <section class="card" aria-labelledby="trend">
              <header class="row apart">
                <h2 id="trend">Active time by {asked.data.daily.length > 92 ? 'week' : 'day'}</h2>
                <Compared range={asked.data.range} />
              </header>
              <Trend
                label={`My active time, ${days(asked.data.range.from, asked.data.range.to)}`}
                tone="blue"
                points={pointsOf(asked.data, before.data, 'active_minutes')}
                write={duration}
                unit={60}
                columns
              />
            </section>
            <section class="card" aria-labelledby="hours">
              <header class="row apart">
                <h2 id="hours">When I work</h2>
                <Tip about="these hours">
                  By weekday and hour of your own time zone, which is set under Account. Minutes that came
                  without an hour, and hours older than the service keeps them, are in none. Nobody else sees
                  this, at no level and in no workspace.
                </Tip>
              </header>
              <Heatmap cells={asked.data.heatmap ?? []} label="My active time by weekday and hour" />
            </section>
          </div>
          <div class="two">
            <MyRepos data={asked.data} onChoose={(repo) => set({ repo })} />
            <MySpaces />
          </div>
        </div>
      ) : (
        !asked.failure && <WaitForNumbers />
      )}
      {asked.data && <AboutMe space={space} />}
    </>
  )
}

/** Eight whole weeks before this one. */
const USUAL_WEEKS = 8
const USUAL_DAYS = (USUAL_WEEKS + 1) * 7

/** Today and this week, beside what is usual by this weekday. */
const usualOf = (daily: Own['daily']) => {
  const [now, monday] = [today(), mondayOf(today())]
  const minutes = new Map(daily.map((one) => [one.day, one.active_minutes ?? 0]))
  const until = (start: string) =>
    Array.from({ length: weekdayOf(now) }, (_, index) => minutes.get(addDays(start, index)) ?? 0).reduce(
      (sum, more) => sum + more,
      0,
    )
  const weeks = Array.from({ length: USUAL_WEEKS }, (_, index) => -7 * (index + 1))
  const mean = (values: number[]) => Math.round(values.reduce((sum, more) => sum + more, 0) / values.length)
  return {
    today: minutes.get(now) ?? 0,
    usualToday: mean(weeks.map((back) => minutes.get(addDays(now, back)) ?? 0)),
    week: until(monday),
    usualWeek: mean(weeks.map((back) => until(addDays(monday, back)))),
  }
}

const Now = (props: {
  daily: Own['daily'] | undefined
  totals: Own['totals']
  before: Own['totals'] | undefined
}) => {
  const { daily, totals, before } = props
  const usual = daily && usualOf(daily)
  const weekday = longWeekdays[weekdayOf(today()) - 1]
  const [active, commits] = measures
  const figures = [
    {
      name: 'Today',
      value: usual && duration(usual.today),
      beside: usual?.usualToday ? `usually ${duration(usual.usualToday)} on a ${weekday}` : '',
      about: `${active.about} What is usual is the mean of the same weekday in the ${USUAL_WEEKS} weeks before.`,
    },
    {
      name: 'This week',
      value: usual && duration(usual.week),
      beside: usual?.usualWeek ? `usually ${duration(usual.usualWeek)} by ${weekday}` : '',
      about: `From Monday until today. What is usual is the mean of the ${USUAL_WEEKS} weeks before, up to the same weekday.`,
    },
    {
      name: 'In these days',
      value: duration(totals.active_minutes),
      beside: beside(totals.active_minutes, before?.active_minutes, duration),
      about: `${active.about} The small figure compares with the days before.`,
    },
    {
      name: commits.title,
      value: count(totals.commits),
      beside: beside(totals.commits, before?.commits, count),
      about: `${commits.about} The small figure compares with the days before.`,
    },
  ]
  return (
    <section class="figures" aria-label="In short">
      {figures.map(({ name, value = '…', beside, about }) => (
        <div key={name} class={`figure-box ${name === commits.title ? commits.tone : active.tone}`}>
          <p class="figure">
            <span class="name">{name}</span> <span class="value">{value}</span>{' '}
            <span class="small muted">{beside}</span>
          </p>
          <Tip about={name.toLowerCase()}>{about}</Tip>
        </div>
      ))}
    </section>
  )
}

const MyRepos = ({ data, onChoose }: { data: Own; onChoose: (repo: string) => void }) => (
  <section class="card" aria-labelledby="repos">
    <header class="row apart">
      <h2 id="repos">My repositories</h2>
      <span class="small muted">{data.repos.length} in all</span>
    </header>
    <SortedTable
      caption="My repositories"
      rows={data.repos}
      columns={[
        {
          name: 'repo',
          title: 'Repository',
          by: ({ repo }) => repo ?? '\uffff',
          cell: ({ repo }) =>
            repo === null ? (
              'All others'
            ) : (
              <button type="button" class="choice" title={`Show only ${repo}`} onClick={() => onChoose(repo)}>
                <RepoName repo={repo} />
              </button>
            ),
        },
        ...numbersOf<Own['repos'][number]>(Math.max(1, ...data.repos.map((row) => row.active_minutes ?? 0))),
      ]}
      keyOf={({ repo }) => repo ?? ''}
      searched={({ repo }) => repo ?? ''}
      first="active_minutes"
      empty={`Nothing was recorded since ${fullDay(data.range.from)}. Minutes come from the editor extension, once it is signed in here.`}
    />
  </section>
)
