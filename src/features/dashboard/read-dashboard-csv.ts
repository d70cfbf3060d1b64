/** Reads a dashboard as CSV: a line for each day and person, or for each day where published weeks are shown. */
import { countNames } from '../../../schemas/counts.js'
import { dayCsvColumns, memberCsvColumns } from '../../../schemas/dashboard.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { PIECE_LENGTH } from '../../platform/http/streaming.js'
import { listDays, type Range } from '../../platform/time/days.js'
import { readPublishedDays } from '../rollups/index.js'
import { type DashboardQuestion, decideShown, type Shown } from './policies.js'
import { listMemberDays, readDays } from './queries/days.js'
import { daysWithin, readSnapshot, readUnusableDays, sourcesOf } from './queries/sources.js'
import { hiddenSums, readWorkspace, ZERO_SUMS } from './read-dashboard.js'

/** More days of 5,000 members in one response would block the event loop for tens of milliseconds. */
const DAYS_PER_READ = 3

/** A dashboard as CSV: its subject, and its lines as they're read. */
export interface DashboardLines {
  name: string
  range: Range
  /** The days that are recorded as viewed. */
  recorded: Range | undefined
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
    if (shown.published) {
      // Its lines name no one.
      const text = await readDayLines(tx, question, shown)
      return { name, range: shown.range, recorded: undefined, lines: once(text) }
    }
    const { range } = question
    return { name, range, recorded: shown.recorded, lines: readMemberLines(database, question) }
  })

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

/** One CSV line per day, used when part of the range shows published weeks. Hidden numbers are empty. */
const readDayLines = async (
  tx: Db,
  { viewer: { minGroup }, workspaceId, repoKey }: DashboardQuestion,
  { range, named, published, filter }: Shown,
): Promise<string> => {
  const unusable = await readUnusableDays(tx, workspaceId, range)
  const [recorded, shown] = await Promise.all([
    named ? readDays(tx, sourcesOf(workspaceId, named, filter, unusable)) : [],
    published ? readPublishedDays(tx, { workspaceId, minGroup, ...published, repoKey: repoKey ?? null }) : [],
  ])
  const days = new Map([...recorded, ...shown].map((day) => [day.day, day]))
  const lines = listDays(range.from, range.to).map((day) => {
    const isNamed = named !== undefined && day >= named.from
    const shownSums = days.get(day) ?? (isNamed ? ZERO_SUMS : hiddenSums)
    return [day, shownSums.active_minutes ?? '', ...countNames.map((count) => shownSums[count] ?? '')].join(
      ',',
    )
  })
  return [dayCsvColumns, ...lines, ''].join('\n')
}

/** A few days at a time, so that memory is enough for any range and team. */
async function* readMemberLines(database: Database, question: DashboardQuestion): AsyncGenerator<string> {
  const { workspaceId, range } = question
  let text = `${memberCsvColumns}\n`
  for (let start = 0; start < range.days; start += DAYS_PER_READ) {
    const lines = await readSnapshot(database, async (tx) => {
      const { privacy } = await readWorkspace(tx, workspaceId)
      const { named, published, filter } = decideShown(question, privacy)
      // If the remaining lines may no longer be sent, the connection is closed.
      if (!named || published) throw new ApiError('member_detail_hidden')
      return listMemberDays(tx, workspaceId, filter, daysWithin(named, start, DAYS_PER_READ))
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
