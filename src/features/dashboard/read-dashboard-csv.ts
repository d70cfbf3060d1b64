/** Reads a dashboard as CSV: a line for each day and person, or for each day where published weeks are shown. */
import { countNames } from '../../../schemas/counts.js'
import { dayCsvColumns, memberCsvColumns } from '../../../schemas/dashboard.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { PIECE_LENGTH } from '../../platform/http/streaming.js'
import { readPublishedDays } from '../rollups/index.js'
import { type DashboardQuestion, decideShown, namedIn, type Shown, type Weeks } from './policies.js'
import { listMemberDays, readDays } from './queries/days.js'
import { daysWithin, readSnapshot, readUnusableDays, sourcesOf } from './queries/sources.js'
import { readWorkspace } from './read-dashboard.js'
import { publishedQuestion } from './read-published.js'
import { everyDay, hiddenSums, ZERO_SUMS } from './sums.js'

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
    const shown = decideShown(question, privacy)
    switch (shown.days.kind) {
      case 'recorded':
        return { name, shown, lines: readMemberLines(database, question) }
      case 'published':
      case 'mixed':
        return { name, shown, lines: once(await readDayLines(tx, question, shown, shown.days.weeks)) }
    }
  })

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

/** One CSV line per day, used when part of the range shows published weeks. Hidden numbers are empty. */
const readDayLines = async (
  tx: Db,
  question: DashboardQuestion,
  { range, days, filter }: Shown,
  weeks: Weeks,
): Promise<string> => {
  const { workspaceId } = question
  const unusable = await readUnusableDays(tx, workspaceId, range)
  const [recorded, published] = await Promise.all([
    Promise.all(
      namedIn(days).map(async (named) =>
        everyDay(named, await readDays(tx, sourcesOf(workspaceId, named, filter, unusable)), ZERO_SUMS),
      ),
    ),
    readPublishedDays(tx, publishedQuestion(question, weeks)),
  ])
  const daily = [...everyDay(weeks, published, hiddenSums), ...recorded.flat()]
  const lines = daily.map((sums) =>
    [sums.day, sums.active_minutes ?? '', ...countNames.map((count) => sums[count] ?? '')].join(','),
  )
  return [dayCsvColumns, ...lines, ''].join('\n')
}

/** A few days at a time, so that memory is enough for any range and team. */
async function* readMemberLines(database: Database, question: DashboardQuestion): AsyncGenerator<string> {
  const { workspaceId, range } = question
  let text = `${memberCsvColumns}\n`
  for (let start = 0; start < range.days; start += DAYS_PER_READ) {
    const lines = await readSnapshot(database, async (tx) => {
      const { privacy } = await readWorkspace(tx, workspaceId)
      const { days, filter } = decideShown(question, privacy)
      // If the remaining lines may no longer be sent, the connection is closed.
      if (days.kind !== 'recorded') throw new ApiError('member_detail_hidden')
      return listMemberDays(tx, workspaceId, filter, daysWithin(days.named, start, DAYS_PER_READ))
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
