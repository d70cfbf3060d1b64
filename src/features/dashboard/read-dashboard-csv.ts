/** Reads a dashboard as CSV: a line for each day and person, or for each day where published weeks are shown. */
import { countNames } from '../../../schemas/counts.js'
import { dayCsvColumns, memberCsvColumns } from '../../../schemas/dashboard.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { PIECE_LENGTH } from '../../platform/http/streaming.js'
import { readPublishedDays } from '../rollups/index.js'
import { type DashboardQuestion, decideShown, type Shown, type Weeks } from './policies.js'
import { listMemberDays, readDays } from './queries/days.js'
import type { Filter } from './queries/filter.js'
import {
  daysWithin,
  type NamedDays,
  planForParameters,
  readNews,
  readSnapshot,
  sourcesOf,
} from './queries/sources.js'
import { readWorkspace } from './read-dashboard.js'
import { publishedQuestion } from './read-published.js'
import { everyDay, hiddenSums, type Totals, ZERO_SUMS } from './sums.js'

/** More days of 5,000 members in one response would block the event loop for tens of milliseconds. */
const DAYS_PER_READ = 3

/** A dashboard as CSV: its subject, and its lines as they're read. */
export interface DashboardLines {
  name: string
  shown: Shown
  lines: AsyncGenerator<string>
}

/** @throws {ApiError} `workspace_not_found`, `member_detail_hidden`, `member_not_found` */
export const openDashboardLines = (
  database: Database,
  question: DashboardQuestion,
): Promise<DashboardLines> =>
  readSnapshot(database, async (tx) => {
    const { name, privacy } = await readWorkspace(tx, question.workspaceId)
    const { shown } = decideShown(question, privacy)
    const { days, filter } = shown
    switch (days.kind) {
      case 'recorded':
        return { name, shown, lines: readMemberLines(database, question) }
      case 'published':
        await planForParameters(tx)
        return { name, shown, lines: dayLines(await readPublishedSums(tx, question, days.weeks)) }
      case 'mixed': {
        const [published, recorded] = await Promise.all([
          readPublishedSums(tx, question, days.weeks),
          readRecordedSums(tx, question, days.named, filter),
        ])
        return { name, shown, lines: dayLines([...published, ...recorded]) }
      }
    }
  })

type DaySums = Totals & { day: string }

const readPublishedSums = async (tx: Db, question: DashboardQuestion, weeks: Weeks): Promise<DaySums[]> =>
  everyDay(weeks, await readPublishedDays(tx, publishedQuestion(question, weeks)), hiddenSums)

const readRecordedSums = async (
  tx: Db,
  { workspaceId }: DashboardQuestion,
  named: NamedDays,
  filter: Filter,
): Promise<DaySums[]> => {
  const news = await readNews(tx, workspaceId, named)
  const rows = await readDays(tx, sourcesOf(workspaceId, named, filter, news))
  return everyDay(named, rows, ZERO_SUMS)
}

/** One CSV line per day, used when part of the range shows published weeks. Hidden numbers are empty. */
async function* dayLines(days: DaySums[]): AsyncGenerator<string> {
  const lines = days.map((sums) =>
    [sums.day, sums.active_minutes ?? '', ...countNames.map((count) => sums[count] ?? '')].join(','),
  )
  yield [dayCsvColumns, ...lines, ''].join('\n')
}

/** A few days at a time, so that memory is enough for any range and team. */
async function* readMemberLines(database: Database, question: DashboardQuestion): AsyncGenerator<string> {
  const { workspaceId, range } = question
  let text = `${memberCsvColumns}\n`
  for (let start = 0; start < range.days; start += DAYS_PER_READ) {
    const lines = await readSnapshot(database, async (tx) => {
      const { privacy } = await readWorkspace(tx, workspaceId)
      const { days, filter } = decideShown(question, privacy).shown
      // If the remaining lines may no longer be sent, the connection is closed.
      if (days.kind !== 'recorded') throw new ApiError('member_detail_hidden')
      const [, lines] = await Promise.all([
        planForParameters(tx),
        listMemberDays(tx, workspaceId, filter, daysWithin(days.named, start, DAYS_PER_READ)),
      ])
      return lines
    })
    for (const line of lines) {
      text += `${line}\n`
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield text
}
