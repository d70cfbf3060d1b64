import { useEffect, useMemo } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { announce } from '../announce.js'
import { useAsk } from '../api.js'
import { Heatmap, Spark, Trend } from '../charts.js'
import {
  addDays,
  beside,
  compact,
  count,
  day,
  days,
  daysBetween,
  duration,
  fullDay,
  mondayOf,
  WITHHELD,
} from '../format.js'
import { useSpace } from '../me.js'
import { type Range, rangeBefore, rangeOf, useQuery } from '../query.js'
import { RangeChoice } from '../range.js'
import { useTitle } from '../title.js'
import {
  type Column,
  FailureOf,
  Filters,
  Jumps,
  Measure,
  Person,
  RepoName,
  SortedTable,
  Tip,
  Wait,
  WaitForNumbers,
} from '../ui.js'

type Dashboard = AnswerOf<'GET /api/team/dashboard'>
type Daily = Dashboard['daily']

/** What is measured, in the order of importance, each in its own colour. */
export const measures = [
  {
    name: 'active_minutes',
    title: 'Active time',
    tone: 'blue',
    write: duration,
    unit: 60,
    about:
      'Minutes in which an editor was in use. At most 60 in an hour and 1,440 in a day per person and workspace, over all their devices. Days are UTC days.',
  },
  {
    name: 'commits',
    title: 'Commits',
    tone: 'orange',
    write: count,
    unit: 1,
    about: 'Daily counts that an admin’s tool reports for each member and repository. Days are UTC days.',
  },
  {
    name: 'closed_issues',
    title: 'Closed issues',
    tone: 'green',
    write: count,
    unit: 1,
    about: 'Daily counts that an admin’s tool reports for each member and repository. Days are UTC days.',
  },
  {
    name: 'active_members',
    title: 'Active people',
    tone: 'violet',
    write: count,
    unit: 1,
    about:
      'People with at least one active minute in these UTC days. Those who have left count for the days when they were there.',
  },
] as const

export const Team = () => {
  const space = useSpace()
  useTitle(space.name)
  if (space.role !== 'admin') {
    return (
      <div class="stack narrow">
        <h1>The team’s numbers are for admins</h1>
        <p>
          You are a member of <bdi>{space.name}</bdi>. Your own numbers are always yours to see.
        </p>
        <p>
          <a class="button primary" href={`/?workspace=${space.id}`}>
            Show my activity
          </a>
        </p>
      </div>
    )
  }
  return <TeamOfAdmin />
}

const TeamOfAdmin = () => {
  const space = useSpace()
  const { query, change: set } = useQuery()
  const range = rangeOf(query)
  const filter = { member: query.member, repo: query.repo }
  const asked = useAsk('GET /api/team/dashboard', {
    query: { workspace: space.id, ...range, ...filter, trends: true },
  })
  const before = useAsk(
    'GET /api/team/dashboard',
    asked.data && { query: { workspace: space.id, ...rangeBefore(range), ...filter } },
  )
  const isEmpty =
    !asked.stale &&
    !filter.member &&
    !filter.repo &&
    measures.every(({ name }) => asked.data?.totals[name] === 0)
  useHeard(asked, `${filter.member ?? space.name}${filter.repo ? ` in ${filter.repo}` : ''}`)
  const shown = measures.find(({ name }) => name === query.show) ?? measures[0]
  const csv = new URLSearchParams(
    Object.entries({ workspace: space.id, ...range, ...filter, format: 'csv' }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{space.name}</bdi>
          <span class="away">, {days(range.from, range.to)}</span>
        </h1>
        <div class="row">
          <RangeChoice range={range} onChoose={set} />
          <a class="button csv" href={`/api/team/dashboard?${csv}`} download>
            CSV
          </a>
          <Jumps
            to={[
              ['members', 'To the people'],
              ['repos', 'To the repositories'],
            ]}
          />
        </div>
      </div>
      <Filters
        on={[
          [filter.member, () => set({ member: undefined })],
          [filter.repo, () => set({ repo: undefined })],
        ]}
      />
      <FailureOf asked={[asked, before]} />
      {space.activity_privacy === 'team' && (
        <p class="note">
          Here nobody sees the numbers of a single person. What you see are whole weeks, published three days
          after their end; where too few people stand behind a number it is withheld: {WITHHELD}, or a gap in
          the line.
        </p>
      )}
      {asked.data ? (
        <div class={asked.stale ? 'stack stale' : 'stack'} aria-busy={asked.stale}>
          {isEmpty && (
            <div class="note row apart">
              <span class="grow">
                Nothing was recorded in these days. Active time comes from the editors of members, while they
                work in <bdi>{space.patterns.join(', ') || 'repositories that this workspace covers'}</bdi>.
              </span>
              {space.patterns.length === 0 ? (
                <a class="button primary" href={`/w/${space.id}/repos`}>
                  Choose repositories
                </a>
              ) : (
                !space.personal && (
                  <a class="button primary" href={`/w/${space.id}/people`}>
                    Invite somebody
                  </a>
                )
              )}
            </div>
          )}
          <Figures
            totals={asked.data.totals}
            before={before.data?.totals}
            shown={shown.name}
            onShow={(name) => set({ show: name === 'active_minutes' ? undefined : name })}
          />
          <div class="lead">
            <section class="card" aria-labelledby="trend">
              <header class="row apart">
                <h2 id="trend">
                  {shown.title} by {asked.data.range.days > WEEKS_ABOVE ? 'week' : 'day'}
                </h2>
                <Compared range={asked.data.range} />
              </header>
              <Trend
                label={`${shown.title}, ${days(asked.data.range.from, asked.data.range.to)}`}
                tone={shown.tone}
                points={pointsOf(asked.data, before.data, shown.name)}
                write={shown.write}
                unit={shown.unit}
              />
            </section>
            <Hours data={asked.data} filter={filter} />
          </div>
          <div class="two">
            <Members data={asked.data} onChoose={(member) => set({ member })} />
            <Repos data={asked.data} onChoose={(repo) => set({ repo })} />
          </div>
        </div>
      ) : (
        !asked.failure && (
          <WaitForNumbers>
            <div class="two skeleton">
              <Wait height={570} />
              <Wait height={570} />
            </div>
          </WaitForNumbers>
        )
      )}
    </>
  )
}

/** Says what is shown once it is there, to who cannot see the numbers change. */
export const useHeard = (
  { data, stale }: { data: { range: Range; totals: Dashboard['totals'] } | undefined; stale: boolean },
  whose: string,
) => {
  const heard =
    data && !stale
      ? `${whose}, ${days(data.range.from, data.range.to)}: ${duration(data.totals.active_minutes)} of active time`
      : ''
  useEffect(() => {
    if (heard) announce(heard)
  }, [heard])
}

export const Figures = (props: {
  totals: Dashboard['totals']
  /** Of the range that it is compared with. */
  before: Dashboard['totals'] | undefined
  shown: string
  onShow: (name: string) => void
}) => {
  const { totals, before } = props
  return (
    <div class="figures">
      {measures.map(({ name, title, tone, write, about }) => {
        return (
          <div key={name} class={`figure-box ${tone}`}>
            <button
              type="button"
              class="figure"
              aria-pressed={name === props.shown}
              onClick={() => props.onShow(name)}
            >
              <span class="name">{title}</span>
              <span class="value">{write(totals[name])}</span>
              <span class="small muted">{beside(totals[name], before?.[name], write)}</span>
            </button>
            <Tip about={title.toLowerCase()}>{about} The small figure compares with the days before.</Tip>
          </div>
        )
      })}
    </div>
  )
}

const WEEKS_ABOVE = 92

type MeasureName = (typeof measures)[number]['name']

/** The days that are shown, and those that they are compared with. */
export const Compared = ({ range }: { range: Range }) => {
  const before = rangeBefore(range)
  return (
    <span class="small muted">
      {days(range.from, range.to)}; before: {days(before.from, before.to)}
    </span>
  )
}

interface Days {
  range: Range
  daily: Daily
}

/** The days as points, above 92 days the whole weeks, beside those of the range before. */
export const pointsOf = ({ range, daily }: Days, earlier: Days | undefined, name: MeasureName) => {
  if (daily.length <= WEEKS_ABOVE) {
    const values = new Map(earlier?.daily.map((one) => [one.day, one[name]]))
    const apart = earlier ? daysBetween(earlier.range.from, range.from) : 0
    // A weekday beside the same weekday, or weekends would stand beside working days.
    const back = apart < 7 ? apart : Math.round(apart / 7) * 7
    return daily.map((one) => ({
      name: day(one.day),
      title: fullDay(one.day),
      value: one[name],
      before: values.get(addDays(one.day, -back)),
    }))
  }
  const [weeks, weeksBefore] = [weeksOf(daily, name), earlier && weeksOf(earlier.daily, name)]
  return weeks.map(({ monday, value }, index) => ({
    name: day(monday),
    title: `Week of ${fullDay(monday)}`,
    value,
    before: weeksBefore?.[index]?.value,
  }))
}

/** Sums of whole weeks, because parts of one look like a fall; of people, who would be counted twice, the most on a day. */
const weeksOf = (daily: Daily, name: MeasureName) => {
  const weeks = new Map<string, number | null>()
  const [first = '', last = ''] = [daily[0]?.day, daily.at(-1)?.day]
  for (const one of daily) {
    const monday = mondayOf(one.day)
    if (monday < first || addDays(monday, 6) > last) continue
    const [soFar, more] = [weeks.get(monday) ?? null, one[name]]
    if (soFar === null || more === null) weeks.set(monday, more ?? soFar)
    else weeks.set(monday, name === 'active_members' ? Math.max(soFar, more) : soFar + more)
  }
  return Array.from(weeks, ([monday, value]) => ({ monday, value }))
}

/** Why there is no heatmap. */
const hiddenHours = (isTeamLevel: boolean, { member, repo }: { member?: string; repo?: string }) => {
  if (member) return 'Hidden: only the person can see their hours.'
  if (!isTeamLevel) return 'Hidden: fewer than 2 other people were active.'
  return repo ? 'Hidden: hours are not published by repository.' : 'Hidden: too few people were active.'
}

const Hours = ({ data, filter }: { data: Dashboard; filter: { member?: string; repo?: string } }) => {
  const isTeamLevel = useSpace().activity_privacy === 'team'
  return (
    <section class="card" aria-labelledby="hours">
      <header class="row apart">
        <h2 id="hours">When they work</h2>
        <Tip about="these hours">
          Minutes by weekday and hour, each person in their own time zone. Minutes that came without an hour,
          and hours older than the service keeps them, are in none. An hour is drawn where it begins.
          {!isTeamLevel &&
            ' Days on which fewer than 2 other people were active in the same time zone are left out.'}
        </Tip>
      </header>
      {data.heatmap ? (
        <Heatmap cells={data.heatmap} label="Active time by weekday and hour" />
      ) : (
        <p class="muted">{hiddenHours(isTeamLevel, filter)}</p>
      )}
    </section>
  )
}

const Members = ({ data, onChoose }: { data: Dashboard; onChoose: (member: string) => void }) => {
  const isWithheld = useSpace().activity_privacy === 'team' && data.members.length === 0
  const most = Math.max(1, ...data.members.map((row) => row.active_minutes))
  const columns = useMemo<Column<Dashboard['members'][number]>[]>(
    () => [
      {
        name: 'login',
        title: 'Person',
        by: ({ login }) => login ?? '\uffff',
        cell: ({ login, role }) =>
          login === null ? (
            'All others'
          ) : (
            <button type="button" class="choice" onClick={() => onChoose(login)} title={`Show only ${login}`}>
              <Person login={login} />
              {role === null && <span class="tag">has left</span>}
            </button>
          ),
      },
      ...numbersOf<Dashboard['members'][number]>(most),
      {
        name: 'active_days',
        title: 'Days',
        numeric: true,
        room: 'wider',
        by: (row) => row.active_days,
        cell: (row) => count(row.active_days),
      },
    ],
    [data],
  )
  return (
    <section class="card" aria-labelledby="members">
      <header class="row apart">
        <h2 id="members">People</h2>
        <span class="small muted">
          {isWithheld
            ? 'withheld'
            : `${data.members.length} in all${data.members.length > 0 ? '; each sees that you looked' : ''}`}
        </span>
      </header>
      <SortedTable
        caption="People"
        rows={data.members}
        columns={columns}
        keyOf={({ login }) => login ?? ''}
        searched={({ login }) => login ?? ''}
        first="active_minutes"
        empty={
          isWithheld
            ? 'Nobody is listed: here the numbers of single people are their own.'
            : 'Nobody is listed for these days.'
        }
      />
    </section>
  )
}

const Repos = ({ data, onChoose }: { data: Dashboard; onChoose: (repo: string) => void }) => {
  const most = Math.max(1, ...data.repos.map((row) => row.active_minutes ?? 0))
  const columns = useMemo<Column<Dashboard['repos'][number]>[]>(
    () => [
      {
        name: 'repo',
        title: 'Repository',
        by: ({ repo }) => repo ?? '\uffff',
        cell: ({ repo }) =>
          repo === null ? (
            'All others'
          ) : (
            <button type="button" class="choice" onClick={() => onChoose(repo)} title={`Show only ${repo}`}>
              <RepoName repo={repo} />
            </button>
          ),
      },
      ...numbersOf<Dashboard['repos'][number]>(most),
      {
        name: 'members',
        title: 'People',
        numeric: true,
        room: 'wider',
        by: (row) => row.members,
        cell: (row) => count(row.members),
      },
    ],
    [data],
  )
  return (
    <section class="card" aria-labelledby="repos">
      <header class="row apart">
        <h2 id="repos">Repositories</h2>
        <span class="small muted">{data.repos.length} in all</span>
      </header>
      <SortedTable
        caption="Repositories"
        rows={data.repos}
        columns={columns}
        keyOf={({ repo }) => repo ?? ''}
        searched={({ repo }) => repo ?? ''}
        first="active_minutes"
        empty="No repository was worked on in these days."
      />
    </section>
  )
}

interface Numbers {
  active_minutes: number | null
  commits: number | null
  closed_issues: number | null
  trend?: number[]
}

/** The columns that people and repositories have in common. */
export const numbersOf = <Row extends Numbers>(most: number): Column<Row>[] => [
  {
    name: 'trend',
    title: 'Trend',
    room: 'wide',
    cell: ({ trend }) => trend && trend.length > 1 && <Spark values={trend} />,
  },
  {
    name: 'active_minutes',
    title: 'Active',
    numeric: true,
    by: (row) => row.active_minutes,
    cell: (row) => <Measure part={(row.active_minutes ?? 0) / most}>{compact(row.active_minutes)}</Measure>,
  },
  {
    name: 'commits',
    title: 'Commits',
    numeric: true,
    by: (row) => row.commits,
    cell: (row) => count(row.commits),
  },
  {
    name: 'closed_issues',
    title: 'Issues',
    numeric: true,
    by: (row) => row.closed_issues,
    cell: (row) => count(row.closed_issues),
  },
]
