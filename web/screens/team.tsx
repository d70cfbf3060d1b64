import { useEffect, useMemo } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { announce } from '../announce.js'
import { useRead } from '../api.js'
import { Heatmap, Spark, Trend } from '../charts.js'
import {
  addDays,
  compact,
  count,
  day,
  days,
  daysBetween,
  duration,
  fullDay,
  HIDDEN,
  mondayOf,
  people,
} from '../format.js'
import { useWorkspace } from '../me.js'
import { previousRange, type Range, rangeOf, useUrlQuery } from '../query.js'
import { RangeChoice } from '../range.js'
import { useTitle } from '../title.js'
import {
  Change,
  type Column,
  DownloadIcon,
  FailureOf,
  Filters,
  Measure,
  NumbersSkeleton,
  Person,
  RepoName,
  Skeleton,
  SkipLinks,
  SortedTable,
  Tip,
} from '../ui.js'

type Dashboard = AnswerOf<'GET /api/team/dashboard'>
type Daily = Dashboard['daily']

/** The metrics in order of importance, each with its colour. */
export const metrics = [
  {
    name: 'active_minutes',
    title: 'Active time',
    tone: 'blue',
    write: duration,
    unit: 60,
    about:
      'Minutes in which an editor was in use: at most 60 per hour and 1,440 per day for each person and workspace, across all devices. Days are in UTC.',
  },
  {
    name: 'commits',
    title: 'Commits',
    tone: 'orange',
    write: count,
    unit: 1,
    about: 'Daily counts for each member and repository, reported by an admin’s tool. Days are in UTC.',
  },
  {
    name: 'closed_issues',
    title: 'Closed issues',
    tone: 'green',
    write: count,
    unit: 1,
    about: 'Daily counts for each member and repository, reported by an admin’s tool. Days are in UTC.',
  },
  {
    name: 'active_members',
    title: 'Active people',
    tone: 'violet',
    write: count,
    unit: 1,
    about:
      'People with at least one active minute in the selected range. Former members count for the days before they left. Days are in UTC.',
  },
] as const

export const Team = () => {
  const workspace = useWorkspace()
  useTitle(workspace.name)
  if (workspace.role !== 'admin') {
    return (
      <div class="stack narrow">
        <h1>Admins only</h1>
        <p>
          You are a member of <bdi>{workspace.name}</bdi>. Only admins see the team’s numbers, but you always
          see your own.
        </p>
        <p>
          <a class="button primary" href={`/w/${workspace.id}/me`}>
            Show my activity
          </a>
        </p>
      </div>
    )
  }
  return <TeamNumbers />
}

const TeamNumbers = () => {
  const workspace = useWorkspace()
  const { query, change: set } = useUrlQuery()
  const range = rangeOf(query)
  const filter = { member: query.member, repo: query.repo }
  const asked = useRead('GET /api/team/dashboard', {
    query: { workspace: workspace.id, ...range, ...filter, trends: true },
  })
  const previous = useRead(
    'GET /api/team/dashboard',
    asked.data && { query: { workspace: workspace.id, ...previousRange(range), ...filter } },
  )
  const isEmpty =
    !asked.stale &&
    !filter.member &&
    !filter.repo &&
    metrics.every(({ name }) => asked.data?.totals[name] === 0)
  useSummary(asked, `${filter.member ?? workspace.name}${filter.repo ? ` in ${filter.repo}` : ''}`)
  const shown = metrics.find(({ name }) => name === query.show) ?? metrics[0]
  const csv = new URLSearchParams(
    Object.entries({ workspace: workspace.id, ...range, ...filter, format: 'csv' }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{workspace.name}</bdi>
          <span class="away">, {days(range.from, range.to)}</span>
        </h1>
        <div class="row">
          <RangeChoice range={range} onChoose={set} />
          <a class="button csv" href={`/api/team/dashboard?${csv}`} download>
            <DownloadIcon />
            <span class="label">Download CSV</span>
          </a>
          <SkipLinks
            to={[
              ['members', 'Skip to people'],
              ['repos', 'Skip to repositories'],
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
      <FailureOf asked={[asked, previous]} />
      {workspace.activity_privacy === 'team' && (
        <p class="note">
          This page shows whole weeks and no one’s personal numbers. A week appears three days after it ends.
          A number that covers too few people is hidden: it shows as {HIDDEN} or as a gap in the line.
        </p>
      )}
      {asked.data ? (
        <div class={asked.stale ? 'stack stale' : 'stack'} aria-busy={asked.stale}>
          {isEmpty && (
            <div class="note row apart">
              <span class="grow">
                No activity in the selected range. Active time comes from members’ editors while they work in{' '}
                <bdi>{workspace.patterns.join(', ') || 'repositories that this workspace covers'}</bdi>.
              </span>
              {workspace.patterns.length === 0 ? (
                <a class="button primary" href={`/w/${workspace.id}/repos`}>
                  Choose repositories
                </a>
              ) : (
                !workspace.personal && (
                  <a class="button primary" href={`/w/${workspace.id}/people`}>
                    Invite people
                  </a>
                )
              )}
            </div>
          )}
          <Figures
            totals={asked.data.totals}
            previous={previous.data?.totals}
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
                points={pointsOf(asked.data, previous.data, shown.name)}
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
          <NumbersSkeleton>
            <div class="two skeleton">
              <Skeleton height={570} />
              <Skeleton height={570} />
            </div>
          </NumbersSkeleton>
        )
      )}
    </>
  )
}

/** Announces new numbers to screen readers. */
export const useSummary = (
  { data, stale }: { data: { range: Range; totals: Dashboard['totals'] } | undefined; stale: boolean },
  subject: string,
) => {
  const summary =
    data && !stale
      ? `${subject}, ${days(data.range.from, data.range.to)}: ${duration(data.totals.active_minutes)} active time`
      : ''
  useEffect(() => {
    if (summary) announce(summary)
  }, [summary])
}

export const Figures = (props: {
  totals: Dashboard['totals']
  /** The totals of the previous range. */
  previous: Dashboard['totals'] | undefined
  shown: string
  onShow: (name: string) => void
}) => {
  const { totals, previous } = props
  return (
    <div class="figures">
      {metrics.map(({ name, title, tone, write, about }) => {
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
              <span class="small muted">
                <Change now={totals[name]} before={previous?.[name]} write={write} />
              </span>
            </button>
            <Tip about={title.toLowerCase()}>
              {about} The small figure is the change since the previous range.
            </Tip>
          </div>
        )
      })}
    </div>
  )
}

const WEEKS_ABOVE = 92

type MetricName = (typeof metrics)[number]['name']

/** The selected range and the range that it is compared with. */
export const Compared = ({ range }: { range: Range }) => {
  const previous = previousRange(range)
  return (
    <span class="small muted">
      {days(range.from, range.to)} vs {days(previous.from, previous.to)}
    </span>
  )
}

interface Days {
  range: Range
  daily: Daily
}

/** The range as points with the values of the previous range: days, or whole weeks above 92 days. */
export const pointsOf = ({ range, daily }: Days, earlier: Days | undefined, name: MetricName) => {
  if (daily.length <= WEEKS_ABOVE) {
    const values = new Map(earlier?.daily.map((one) => [one.day, one[name]]))
    const apart = earlier ? daysBetween(earlier.range.from, range.from) : 0
    // Each weekday is compared with the same weekday. Otherwise weekends would be compared with working days.
    const back = apart < 7 ? apart : Math.round(apart / 7) * 7
    return daily.map((one) => ({
      name: day(one.day),
      title: fullDay(one.day),
      value: one[name],
      previous: values.get(addDays(one.day, -back)),
    }))
  }
  const [weeks, previousWeeks] = [weeksOf(daily, name), earlier && weeksOf(earlier.daily, name)]
  return weeks.map(({ monday, value }, index) => ({
    name: day(monday),
    title: `Week of ${fullDay(monday)}`,
    value,
    previous: previousWeeks?.[index]?.value,
  }))
}

/** Sums per whole week, because a part of a week looks like a drop. For people, the busiest day, so that no one counts twice. */
const weeksOf = (daily: Daily, name: MetricName) => {
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
  const isTeamLevel = useWorkspace().activity_privacy === 'team'
  return (
    <section class="card" aria-labelledby="hours">
      <header class="row apart">
        <h2 id="hours">Working hours</h2>
        <Tip about="working hours">
          Active minutes by weekday and hour, in each person’s time zone. A UTC hour that spans two local
          hours counts in the first. Minutes without an hour, and hours past their retention period, are not
          included.
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
  const isHidden = useWorkspace().activity_privacy === 'team' && data.members.length === 0
  const most = Math.max(1, ...data.members.map((row) => row.active_minutes))
  const columns = useMemo<Column<Dashboard['members'][number]>[]>(
    () => [
      {
        name: 'login',
        title: 'Person',
        by: ({ login }) => login ?? '\uffff',
        cell: ({ login, role }) =>
          login === null ? (
            'Others'
          ) : (
            <button type="button" class="choice" onClick={() => onChoose(login)} title={`Show only ${login}`}>
              <Person login={login} />
              {role === null && <span class="tag">left</span>}
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
          {isHidden
            ? 'hidden'
            : `${people(data.members.length)}${data.members.length > 0 ? '. They can see that you viewed this.' : ''}`}
        </span>
      </header>
      <SortedTable
        caption="People"
        rows={data.members}
        columns={columns}
        keyOf={({ login }) => login ?? ''}
        searchText={({ login }) => login ?? ''}
        first="active_minutes"
        empty={
          isHidden
            ? 'This workspace hides numbers per person.'
            : 'No activity in the selected range. Choose another range.'
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
            'Others'
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
        <span class="small muted">{data.repos.length} total</span>
      </header>
      <SortedTable
        caption="Repositories"
        rows={data.repos}
        columns={columns}
        keyOf={({ repo }) => repo ?? ''}
        searchText={({ repo }) => repo ?? ''}
        first="active_minutes"
        empty="No activity in the selected range. Choose another range."
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

/** The columns that people and repositories share. */
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
