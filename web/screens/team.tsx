import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { splitRepoPath } from '../../client/src/pattern.js'
import { repoAddress } from '../addresses.js'
import { announce } from '../announce.js'
import { usePolling, useRead } from '../api.js'
import { Heatmap, isCompared, type Point, Sparkline, Trend } from '../charts.js'
import {
  bothOf,
  type Compared,
  distanceOf,
  lengthOf,
  type Named,
  nameOf,
  type Range,
  shareOf,
} from '../comparison.js'
import { namesSince } from '../consent.js'
import {
  addDays,
  changeText,
  count,
  counted,
  day,
  days,
  daysBetween,
  duration,
  fullDay,
  mondayOf,
  people,
  shortDays,
  today,
  weekdayAndDay,
  weekdayOf,
} from '../format.js'
import { hasStepsLeft, isBeginning } from '../home.js'
import { useMe, useWorkspace, type Workspace } from '../me.js'
import { isSame, rangeOf, selectedRange, titleOf, useComparison, useUrlQuery, widening } from '../query.js'
import { RangeChoice, RangeProblem } from '../range.js'
import { sparkOf, weekdayCounts, weeklyText } from '../spark.js'
import { isTooShort } from '../standouts.js'
import { start } from '../start.js'
import { useTitle } from '../title.js'
import {
  Change,
  type Column,
  DownloadIcon,
  FailureOf,
  Filters,
  lettersOf,
  Measure,
  NumbersSkeleton,
  Person,
  RepoName,
  Skeleton,
  SkipLinks,
  SortedTable,
  Tip,
} from '../ui.js'
import { WhatChanged } from '../what-changed.js'

type Dashboard = AnswerOf<'GET /api/team/dashboard'>
type Daily = Dashboard['daily']

const COUNTED =
  'Daily counts for each member and repository, uploaded by an admin’s tool or reported by the repository host.'

/** The metrics in order of importance, each with its color. */
export const metrics = [
  {
    name: 'active_minutes',
    title: 'Active time',
    tone: 'blue',
    write: duration,
    unit: 60,
    about:
      'Minutes in which an editor was in use: at most 60 per hour and 1,440 per day for each person and workspace, across all devices. Days are in each person’s own time zone.',
  },
  {
    name: 'commits',
    title: 'Commits',
    tone: 'orange',
    write: count,
    unit: 1,
    about: COUNTED,
  },
  {
    name: 'closed_issues',
    title: 'Closed issues',
    tone: 'green',
    write: count,
    unit: 1,
    about: COUNTED,
  },
  {
    name: 'active_members',
    title: 'Active people',
    tone: 'violet',
    write: count,
    unit: 1,
    about:
      'People with at least one active minute in the selected range. Former members count for the days before they left. Days are in each person’s own time zone.',
  },
] as const

/** @param props.steps the workspace's first steps, for as long as it has no activity */
export const Team = ({ steps }: { steps: ComponentChildren }) => {
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
  return <TeamNumbers steps={steps} />
}

/** A team's numbers, or those of one repository on its own page. */
export const TeamNumbers = (props: {
  repo?: string
  links?: ComponentChildren
  steps?: ComponentChildren
}) => {
  const { repo: own, links, steps } = props
  const workspace = useWorkspace()
  const { query, change: set } = useUrlQuery()
  const isWeekly = workspace.activity_privacy === 'team'
  const chosen = rangeOf(query, isWeekly)
  const { range } = chosen
  const filter = { workspace: workspace.id, member: query.member, repo: own ?? query.repo }
  const response = useRead(
    'GET /api/team/dashboard',
    chosen.problem ? undefined : { query: { ...filter, ...range, trends: true } },
  )
  const { data } = response
  const isShown = !data || hasNumbers(data, workspace)
  const isPublishing = !!data?.publication?.weeks.some(({ state }) => state === 'publishing')
  const complete = isPublishing ? undefined : data
  const compared = useComparison('GET /api/team/dashboard', complete, query.compare, filter)
  const { now, before: previous } = compared
  const comparison = now && previous && isComparable(now, previous) ? previous : undefined
  usePolling(isPublishing, response.again, PUBLISHING_MS)
  const isEmpty =
    !response.stale && !filter.member && !filter.repo && metrics.every(({ name }) => data?.totals[name] === 0)
  const isStart = isEmpty && isBeginning(workspace) && !hasStepsLeft(workspace) && range.to >= today()
  useSummary(response, `${filter.member ?? workspace.name}${filter.repo ? ` in ${filter.repo}` : ''}`)
  const shown = metrics.find(({ name }) => name === query.show) ?? metrics[0]
  const csv = new URLSearchParams(
    Object.entries({ ...filter, ...range, format: 'csv' }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{own ?? workspace.name}</bdi>
          <span class="away">, {days(range.from, range.to)}</span>
        </h1>
        <div class="row">
          {/* No range of a team that's too small has numbers. One in the address can be changed. */}
          {(isShown || query.from || workspace.member_count >= start.activity_min_group) && (
            <RangeChoice chosen={selectedRange(chosen, response)} isWeekly={isWeekly} />
          )}
          {!chosen.problem && isShown && (
            <a class="button csv" href={`/api/team/dashboard?${csv}`} download>
              <DownloadIcon />
              <span class="label">Download CSV</span>
            </a>
          )}
          <SkipLinks
            to={[
              ['members', 'Skip to people'],
              ...(own === undefined ? [['repos', 'Skip to repositories'] as [string, string]] : []),
            ]}
          />
        </div>
      </div>
      <Filters
        on={[
          [filter.member, () => set({ member: undefined })],
          [own === undefined ? filter.repo : undefined, () => set({ repo: undefined })],
        ]}
      >
        {own === undefined && filter.repo && (
          <a href={repoAddress(workspace.id, splitRepoPath(filter.repo))}>Open repository page</a>
        )}
      </Filters>
      {links}
      {chosen.problem && <RangeProblem chosen={chosen} />}
      <FailureOf response={[response, ...compared.response]} />
      {data && !chosen.problem && !response.stale && (
        <PublicationNote data={data} chosen={range} repo={filter.repo} />
      )}
      {chosen.problem || !isShown ? null : data ? (
        <div class={response.stale ? 'stack stale' : 'stack'} aria-busy={response.stale}>
          {isStart && steps}
          {isEmpty && !isStart && !hasStepsLeft(workspace) && (
            <div class="note row apart">
              <span class="grow">
                No activity in the selected range. Active time comes from members’ editors while they work in{' '}
                <bdi>{workspace.patterns.join(', ') || 'repositories that this workspace covers'}</bdi>.
              </span>
              {workspace.patterns.length === 0 ? (
                <a class="button primary" href={`/w/${workspace.id}/settings/general`}>
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
            data={data}
            {...(filter.member && { only: OWN_METRICS })}
            now={now?.totals}
            previous={comparison?.totals}
            shown={shown.name}
            onShow={(name) => set({ show: name === 'active_minutes' ? undefined : name })}
          />
          {/* People are never compared. */}
          {own === undefined && !filter.member && !isEmpty && (
            <WhatChanged
              now={now}
              before={comparison}
              lack={uncomparedText({
                ...{ isPublishing, isNone: query.compare === 'none', ranges: compared.ranges },
                isFailed: [response, ...compared.response].some(({ failure }) => failure),
                isDifferent: now !== undefined && previous !== undefined && !comparison,
              })}
              addressOf={(repo) => repoAddress(workspace.id, splitRepoPath(repo)) + rangeIn(location.search)}
              onDay={(day) => set({ from: day, to: day })}
            />
          )}
          <div class="lead">
            <TrendCard
              name={shown.title}
              data={data}
              metric={shown}
              compared={compared}
              earlier={comparison}
            />
            <Hours data={data} filter={filter} />
          </div>
          <div class={own === undefined ? 'two' : 'stack'}>
            <Members {...{ data, compared }} onChoose={(member) => set({ member })} />
            {own === undefined && <Repos {...{ data, compared }} onChoose={(repo) => set({ repo })} />}
          </div>
        </div>
      ) : (
        !response.failure && (
          <NumbersSkeleton isTeam={own === undefined && !filter.member}>
            <div class="two skeleton">
              <Skeleton height={570} />
              {own === undefined && <Skeleton height={570} />}
            </div>
          </NumbersSkeleton>
        )
      )}
    </>
  )
}

/** Why a range isn't compared. Undefined if it is, or will be. */
const uncomparedText = (state: {
  isPublishing: boolean
  isFailed: boolean
  isNone: boolean
  isDifferent: boolean
  ranges: { now: Range } | undefined
}): string | undefined => {
  if (state.isPublishing) return 'The comparison appears once all weeks are published.'
  if (state.isFailed) return 'The numbers to compare with couldn’t be loaded.'
  if (state.isNone) return 'You chose to compare with nothing.'
  if (isTooShort(state.ranges?.now))
    return 'The range is too short to compare. Choose one with at least 7 finished days.'
  return state.isDifferent ? 'A different number of weeks was published before.' : undefined
}

/** How often the page looks whether past weeks are published. */
const PUBLISHING_MS = 10_000

type Week = NonNullable<Dashboard['publication']>['weeks'][number]

const countOf = (weeks: Week[], state: Week['state']) => weeks.filter((week) => week.state === state).length

const weeksText = (value: number): string => (value === 1 ? '1 week' : `${count(value)} weeks`)

/** Sums over different numbers of weeks can't be compared. */
const isComparable = (one: Dashboard, other: Dashboard): boolean => {
  const weeksOf = ({ publication }: Dashboard) => countOf(publication?.weeks ?? [], 'published')
  return weeksOf(one) === weeksOf(other)
}

/** Whether any number of the range is shown, or will be in minutes. A team that's too small has only zeros. */
export const hasNumbers = (
  { totals, publication }: Pick<Dashboard, 'totals' | 'publication'>,
  { member_count }: Workspace,
): boolean => {
  if (!publication || countOf(publication.weeks, 'publishing') > 0) return true
  const isSmall = member_count < publication.min_group
  return metrics.some(({ name }) => (isSmall ? totals[name] : totals[name] !== null))
}

/** Why a team has no numbers yet, and what works meanwhile. */
const Hidden = ({ title, children }: { title: string; children: ComponentChildren }) => {
  const { id } = useWorkspace()
  return (
    <section class="card stack tight" aria-labelledby="hidden">
      <h2 id="hidden">{title}</h2>
      <p>{children}</p>
      <p class="muted">
        Meanwhile, everyone sees their own numbers under <a href={`/w/${id}/me`}>My activity</a>, and the
        team’s <a href={`/w/${id}/settings`}>editor settings</a> reach every member.
      </p>
    </section>
  )
}

/** Explains what published weeks show, and why others show nothing. */
const PublicationNote = (props: { data: Dashboard; chosen: Range; repo: string | undefined }) => {
  const { data, chosen, repo } = props
  const workspace = useWorkspace()
  if (!data.publication) return null
  const { weeks, min_group } = data.publication
  if (!hasNumbers(data, workspace) && workspace.activity_privacy === 'named')
    return (
      <Hidden title="No team numbers yet">
        Numbers appear for days from {fullDay(namesSince(workspace.activity_privacy_since))} on. Earlier days
        stay hidden.
      </Hidden>
    )
  if (!hasNumbers(data, workspace) && workspace.member_count < min_group)
    return (
      <Hidden title={`Team numbers are off for teams under ${min_group}`}>
        At this privacy level, numbers appear for weeks in which at least {min_group} people were active. You
        have {counted(workspace.member_count, 'member')}.
      </Hidden>
    )
  const [publishing, hidden] = [countOf(weeks, 'publishing'), countOf(weeks, 'hidden')]
  const scheduled = weeks.filter(({ state }) => state === 'scheduled')
  const next = scheduled[0]
  return (
    <div class="note stack tight" role="status">
      <p>
        {widening(chosen, data.range) ?? 'This page shows only whole weeks.'} It shows no one’s personal
        numbers.
      </p>
      {publishing > 0 && (
        <p>
          <strong>
            Past weeks are being published: {countOf(weeks, 'published')} of{' '}
            {weeksText(weeks.length - scheduled.length)} so far.
          </strong>{' '}
          Totals and comparisons are complete when all weeks are published. This page updates itself.
        </p>
      )}
      {hidden > 0 && (
        <p>
          {hiddenText(hidden, weeks.length)}:{' '}
          {repo
            ? 'too few people worked in this repository, or in the other repositories.'
            : `fewer than ${min_group} people were active.`}
        </p>
      )}
      {next && (
        <p>
          {scheduled.length === 1
            ? `The week of ${day(next.week)} will be published on ${weekdayAndDay(next.published_on)}.`
            : `${weeksText(scheduled.length)} aren’t published yet. The next one will be published on ${weekdayAndDay(next.published_on)}.`}
        </p>
      )}
    </div>
  )
}

const hiddenText = (hidden: number, all: number): string => {
  if (all === 1) return 'The week is hidden'
  if (hidden === all) return `All ${weeksText(all)} are hidden`
  return `${hidden} of ${weeksText(all)} ${hidden === 1 ? 'is' : 'are'} hidden`
}

/** Why a week, or a day in it, has no number. */
const lackOf = (week: Week | undefined): string => {
  if (week?.state === 'scheduled') return `Published on ${weekdayAndDay(week.published_on)}`
  if (week?.state === 'publishing') return 'Being published'
  return 'Hidden: too few people'
}

/** Announces new numbers to screen readers. */
export const useSummary = (
  { data, stale }: { data: { range: Range; totals: Dashboard['totals'] } | undefined; stale: boolean },
  subject: string,
) => {
  const summary =
    data && !stale && data.totals.active_minutes !== null
      ? `${subject}, ${days(data.range.from, data.range.to)}: ${duration(data.totals.active_minutes)} active time`
      : ''
  useEffect(() => {
    if (summary) announce(summary)
  }, [summary])
}

export const Figures = (props: {
  data: Pick<Dashboard, 'totals' | 'publication'>
  /** The names of the metrics to show. */
  only?: readonly MetricName[]
  /** The totals of the finished days and of the days before. */
  now: Dashboard['totals'] | undefined
  previous: Dashboard['totals'] | undefined
  shown: string
  onShow: (name: string) => void
}) => {
  const { now, previous } = props
  const { totals, publication } = props.data
  return (
    <div class="figures">
      {(props.only ? metrics.filter(({ name }) => props.only?.includes(name)) : metrics).map(
        ({ name, title, tone, write, about }) => (
          <div key={name} class={`figure-box ${tone}`}>
            <button
              type="button"
              class="figure"
              aria-pressed={name === props.shown}
              onClick={() => props.onShow(name)}
            >
              <span class="name">{title}</span>
              <span class="value">{write(totals[name])}</span>
              <span class="delta">
                {totals[name] === null && publication ? (
                  lackOf(publication.weeks[0])
                ) : (
                  <Change
                    total={totals[name]}
                    now={now?.[name]}
                    before={previous?.[name]}
                    write={write}
                    isPeople={name === 'active_members'}
                  />
                )}
              </span>
            </button>
            <Tip about={title.toLowerCase()}>
              {about}{' '}
              {publication &&
                (name === 'active_members'
                  ? 'With published weeks, this is the number for the busiest week. '
                  : 'The number covers the range’s published weeks. ')}
              The small figure compares with the same weekdays before, without today.
            </Tip>
          </div>
        ),
      )}
    </div>
  )
}

/** One person's. */
export const OWN_METRICS = metrics.map(({ name }) => name).filter((name) => name !== 'active_members')

const WEEKS_ABOVE = 92

type MetricName = (typeof metrics)[number]['name']

/** A metric over time, with the days that it is compared with. */
export const TrendCard = (props: {
  name: string
  data: Days & { totals: { [name in MetricName]?: number | null } }
  metric: (typeof metrics)[number]
  compared: { ranges: { now: Range; before: Range } | undefined; now: unknown; before: unknown }
  /** undefined while it loads, and if it isn't comparable. */
  earlier: Days | undefined
}) => {
  const { name, data, metric, compared, earlier } = props
  const { points, isByWeek, leftOut } = useMemo(
    () => pointsOf(data, earlier, compared.ranges, metric.name),
    [data, earlier, metric],
  )
  const ranges = compared.now && compared.before ? compared.ranges : undefined
  const { from, to } = ranges && (!earlier || isCompared(points)) ? ranges.now : data.range
  return (
    <section class="card" aria-labelledby="trend">
      <header class="row apart">
        <h2 id="trend">
          {name} by {isByWeek ? 'week' : 'day'}
        </h2>
        <span class="small muted compared">
          {shortDays(from, to)}
          {ranges &&
            (earlier
              ? isCompared(points) &&
                ` vs ${shortDays(ranges.before.from, ranges.before.to)}, the same weekdays${isSame(ranges.now, data.range) ? '' : ', without today'}`
              : '. No comparison: a different number of weeks was published before.')}
        </span>
      </header>
      <Trend
        label={`${name}, ${days(data.range.from, data.range.to)}`}
        total={metric.write(data.totals[metric.name] ?? null)}
        tone={metric.tone}
        points={points}
        write={metric.write}
        unit={metric.unit}
        names={{
          now: titleOf(data.range),
          before: ranges ? distanceOf(ranges) : '',
          open: `${isByWeek ? 'This week' : 'Today'} so far`,
        }}
        leftOut={leftOut}
      />
    </section>
  )
}

interface Days {
  range: Range
  daily: Daily
  publication: Dashboard['publication']
}

/** The range as points with the values before: days, or weeks above 92 days. */
const pointsOf = (
  { daily, publication }: Days,
  earlier: Days | undefined,
  compared: { now: Range; before: Range } | undefined,
  name: MetricName,
): { points: Point[]; isByWeek: boolean; leftOut: string } => {
  const weeks = new Map(publication?.weeks.map((week) => [week.week, week]))
  // A published week's days can be hidden even if its total isn't.
  const isHidden = publication !== null && daily.every((one) => one[name] === null)
  const lack = (week: Week | undefined) => (publication ? lackOf(week) : undefined)
  const apart = compared ? daysBetween(compared.before.from, compared.now.from) : 0
  if (daily.length <= WEEKS_ABOVE && !(isHidden && countOf([...weeks.values()], 'published') > 0)) {
    const values = new Map(earlier?.daily.map((one) => [one.day, one[name]]))
    const points = daily.map((one) => ({
      name: day(one.day),
      title: fullDay(one.day),
      isMonday: weekdayOf(one.day) === 1,
      value: one[name],
      lack: one[name] === null ? lack(weeks.get(mondayOf(one.day))) : undefined,
      isOpen: one.day >= today(),
      previous: values.get(addDays(one.day, -apart)),
      previousTitle: fullDay(addDays(one.day, -apart)),
    }))
    return { points, isByWeek: false, leftOut: '' }
  }
  const before = new Map(earlier && weeksOf(earlier, name).map(({ monday, value }) => [monday, value]))
  const whole = weeksOf({ daily, publication }, name)
  const [first = '', last = ''] = [whole[0]?.monday, whole.at(-1)?.monday]
  const ends = [daily.filter(({ day }) => day < first), daily.filter(({ day }) => day > addDays(last, 6))]
  const points = whole.map(({ monday, value }) => ({
    name: day(monday),
    title: `Week of ${fullDay(monday)}`,
    isMonday: true,
    value,
    lack: value === null ? lack(weeks.get(monday)) : undefined,
    isOpen: addDays(monday, 6) >= today(),
    previous: before.get(addDays(monday, -apart)),
    previousTitle: `Week of ${fullDay(addDays(monday, -apart))}`,
  }))
  const leftOut = ends.flatMap((days) => (days[0] ? shortDays(days[0].day, days.at(-1)?.day ?? '') : []))
  return { points, isByWeek: true, leftOut: leftOut.join(', ') }
}

/** Sums per whole week, because a partial week looks like a drop. For people, the busiest day: no one counts twice. */
const weeksOf = ({ daily, publication }: Pick<Days, 'daily' | 'publication'>, name: MetricName) => {
  const weeks = new Map<string, number | null>()
  const [first = '', last = ''] = [daily[0]?.day, daily.at(-1)?.day]
  for (const one of daily) {
    const monday = mondayOf(one.day)
    if (monday < first || addDays(monday, 6) > last) continue
    const [soFar, more] = [weeks.get(monday) ?? null, one[name]]
    if (soFar === null || more === null) weeks.set(monday, more ?? soFar)
    else weeks.set(monday, name === 'active_members' ? Math.max(soFar, more) : soFar + more)
  }
  for (const week of publication?.weeks ?? []) weeks.set(week.week, week[name])
  return Array.from(weeks, ([monday, value]) => ({ monday, value })).sort((a, b) =>
    a.monday < b.monday ? -1 : 1,
  )
}

/** Why there is no heatmap. */
const hiddenHours = (
  { activity_privacy }: Workspace,
  { member, repo }: { member?: string; repo?: string },
) => {
  if (member) return `Only ${member} can see ${member}’s hours.`
  if (activity_privacy === 'named')
    return `Hours are shown for days with at least ${start.activity_min_group} active people besides you${repo ? ' in this repository' : ''}.`
  return repo
    ? 'Hours aren’t published by repository.'
    : 'Hours are published with the weeks that have enough people.'
}

const Hours = ({ data, filter }: { data: Dashboard; filter: { member?: string; repo?: string } }) => {
  const workspace = useWorkspace()
  if (!data.heatmap?.some(({ minutes }) => minutes))
    return data.totals.active_minutes ? <p class="small muted">{hiddenHours(workspace, filter)}</p> : null
  return (
    <section class="card" aria-labelledby="hours">
      <header class="row apart">
        <h2 id="hours">Working hours</h2>
        <Tip about="working hours">
          Active minutes by weekday and hour, in each person’s own time zone. From two weeks on, they are
          averages per week. Minutes that were reported without an hour, and hours past their retention
          period, aren’t included.
          {workspace.activity_privacy === 'named' && ` ${hiddenHours(workspace, filter)}`}
        </Tip>
      </header>
      <Heatmap cells={data.heatmap} counts={weekdaysIn(data)} label="Active time by weekday and hour" />
    </section>
  )
}

/** How many of each weekday a dashboard's numbers cover. Published weeks are whole. */
const weekdaysIn = ({ range, publication }: Days): number[] => {
  const published = countOf(publication?.weeks ?? [], 'published')
  return published > 0 ? Array.from({ length: 7 }, () => published) : weekdayCounts(range)
}

export interface Listing<Data = Dashboard> {
  data: Data
  compared: Compared
  onChoose: (name: string) => void
}

const Members = ({ data, compared, onChoose }: Listing) => {
  const { login: mine } = useMe()
  const { activity_privacy, activity_privacy_since } = useWorkspace()
  const isHidden = data.publication !== null && data.members.length === 0
  const logins = data.members.flatMap(({ login }) => login ?? [])
  const idle = data.members.filter(
    ({ login, active_minutes }) => login !== null && active_minutes === 0,
  ).length
  const letters = useMemo(() => lettersOf(logins), [data])
  const hasOthers = data.members.some(({ login }) => login !== null && login !== mine)
  const columns = useMemo<Column<Dashboard['members'][number]>[]>(
    () => [
      {
        name: 'login',
        title: 'Person',
        by: ({ login }) => login,
        cell: ({ login, role }) =>
          login === null ? (
            'All others'
          ) : (
            <button type="button" class="choice" onClick={() => onChoose(login)} title={`Show only ${login}`}>
              <Person login={login} letters={letters} />
              {role === null && <span class="tag">left</span>}
            </button>
          ),
      },
      ...numbersOf('members', data.members, data.range, compared),
      {
        name: 'active_days',
        title: 'Days',
        numeric: true,
        room: 'wider',
        by: (row) => row.active_days,
        cell: (row) => count(row.active_days),
      },
    ],
    [data, compared.now, compared.before],
  )
  return (
    <section class="card" aria-labelledby="members">
      <header class="row apart">
        <h2 id="members">People</h2>
        <span class="small muted">
          {isHidden
            ? 'hidden'
            : `${people(logins.length)}${idle > 0 ? `, ${count(idle)} without active time` : ''}${hasOthers ? '. They can see that you viewed this.' : ''}`}
        </span>
      </header>
      <SortedTable
        caption="People"
        rows={data.members}
        columns={columns}
        keyOf={({ login }) => login ?? ''}
        isRest={({ login }) => login === null}
        searchText={({ login }) => login ?? ''}
        first="login"
        ascending
        empty={
          isHidden
            ? activity_privacy === 'team'
              ? 'This workspace hides each person’s numbers.'
              : `People’s numbers are shown for days from ${fullDay(namesSince(activity_privacy_since))} on. Earlier days stay hidden.`
            : 'No activity in the selected range. Choose another range.'
        }
      />
    </section>
  )
}

/** How many repositories a list has, not counting the row of all others. */
export const listedRepos = (repos: readonly { repo: string | null }[]): string => {
  const named = repos.filter(({ repo }) => repo !== null).length
  return named === repos.length ? `${count(named)} total` : `${count(named)} and others`
}

/** A repository in a table of numbers: its name leads to its page, and the icon filters the numbers. */
const RepoChoice = (props: {
  repo: string | null
  workspaceId: string
  onChoose: (repo: string) => void
}) => {
  const { repo, workspaceId, onChoose } = props
  if (repo === null) return <>All others</>
  return (
    <span class="repo-choice">
      <a href={repoAddress(workspaceId, splitRepoPath(repo)) + rangeIn(location.search)}>
        <RepoName repo={repo} />
      </a>
      <button
        type="button"
        class="filter"
        // The table's arrow keys reach it. As a Tab stop, it would double the number of stops in the rows.
        tabIndex={-1}
        aria-label={`Show only ${repo}`}
        title={`Show only ${repo}`}
        onClick={() => onChoose(repo)}
      >
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
          <path
            d="M1 1.5h10L7.2 6.4v4.1l-2.4-1.2V6.4z"
            fill="none"
            stroke="currentcolor"
            stroke-width="1.2"
          />
        </svg>
      </button>
    </span>
  )
}

export const repoColumn = (
  workspaceId: string,
  onChoose: (repo: string) => void,
): Column<{ repo: string | null }> => ({
  name: 'repo',
  title: 'Repository',
  by: ({ repo }) => repo,
  cell: ({ repo }) => <RepoChoice repo={repo} workspaceId={workspaceId} onChoose={onChoose} />,
})

/** The address's range, which links to other numbers keep. */
export const rangeIn = (search: string): string => {
  const query = [...new URLSearchParams(search)].filter(([name]) =>
    ['from', 'to', 'range', 'compare'].includes(name),
  )
  return query.length > 0 ? `?${new URLSearchParams(query)}` : ''
}

export const peopleColumn: Column<{ members?: number | null }> = {
  name: 'members',
  title: 'People',
  numeric: true,
  room: 'wider',
  by: ({ members = null }) => members,
  cell: ({ members }) => count(members),
}

const Repos = ({ data, compared, onChoose }: Listing) => {
  const { id: workspaceId } = useWorkspace()
  const columns = useMemo<Column<Dashboard['repos'][number]>[]>(
    () => [
      repoColumn(workspaceId, onChoose),
      ...numbersOf('repos', data.repos, data.range, compared),
      peopleColumn,
    ],
    [data, compared.now, compared.before],
  )
  return (
    <section class="card" aria-labelledby="repos">
      <header class="row apart">
        <h2 id="repos">Repositories</h2>
      </header>
      <SortedTable
        caption="Repositories"
        rows={data.repos}
        columns={columns}
        keyOf={({ repo }) => repo ?? ''}
        isRest={({ repo }) => repo === null}
        first="active_minutes"
        all={<a href={`/w/${workspaceId}/repos${rangeIn(location.search)}`}>All repositories</a>}
        empty={
          data.publication
            ? 'No repositories to show: too few people worked in each.'
            : 'No activity in the selected range. Choose another range.'
        }
      />
    </section>
  )
}

type CountMetric = Exclude<MetricName, 'active_minutes' | 'active_members'>

export interface Numbers extends Named, Record<CountMetric, number | null> {
  trend?: number[]
}

/**
 * The columns that people and repositories share. The row of all others has no bar, and doesn't affect the scale of the
 * other bars.
 * @param compared the numbers of the finished days, and of those that they are compared with
 */
export const numbersOf = <Row extends Numbers>(
  list: 'members' | 'repos',
  rows: readonly Row[],
  range: Range,
  compared: Compared,
): Column<Row>[] => {
  const now = today()
  const both = bothOf(list, compared)
  const bothIn = (row: Row) => {
    const sums = both.get(nameOf(row) ?? '')
    return sums && sums.now + sums.before > 0 ? sums : undefined
  }
  const earlier = new Map<string | null, Named>(compared.before?.[list]?.map((row) => [nameOf(row), row]))
  const isRest = (row: Row) => nameOf(row) === null
  const most = Math.max(1, ...rows.map((row) => (isRest(row) ? 0 : (row.active_minutes ?? 0))))
  const sparkIn = (row: Row) => {
    const { trend } = earlier.get(nameOf(row)) ?? {}
    const before = trend && compared.before && { trend, range: compared.before.range }
    return row.trend && sparkOf({ trend: row.trend, range }, now, before)
  }
  const change: Column<Row> = {
    name: 'change',
    title: 'Change',
    numeric: true,
    by: (row) => {
      const sums = bothIn(row)
      return sums ? shareOf(sums) : null
    },
    cell: (row) => {
      const [spark, sums] = [sparkIn(row), bothIn(row)]
      const words = sums && compared.now && weeklyText(sums, lengthOf(compared.now.range))
      return (
        <span class="trend" title={words}>
          {spark && <Sparkline {...spark} />}
          {sums && <span class="share">{changeText(shareOf(sums)) || '–'}</span>}
          <span class="away">{sums ? words : '–'}</span>
        </span>
      )
    },
  }
  return [
    ...(rows.some((row) => bothIn(row) ?? sparkIn(row)) ? [change] : []),
    {
      name: 'active_minutes',
      title: 'Active',
      numeric: true,
      by: (row) => row.active_minutes,
      cell: (row) => (
        <Measure part={isRest(row) ? 0 : (row.active_minutes ?? 0) / most}>
          {duration(row.active_minutes)}
        </Measure>
      ),
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
      room: 'wide',
      by: (row) => row.closed_issues,
      cell: (row) => count(row.closed_issues),
    },
  ]
}
