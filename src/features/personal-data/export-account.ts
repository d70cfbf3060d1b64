/** The account export as one JSON text, in pieces, because a person can have hundreds of thousands of rows. */

import type { Profile } from '../../../schemas/profile.js'
import type { Database } from '../../platform/database/client.js'
import { jsonPieces } from '../../platform/http/streaming.js'
import { listViews } from '../dashboard/index.js'
import { readRecording } from '../recording/index.js'
import {
  ACTIVITY,
  auditOfLogin,
  auditOfUser,
  listActiveWorkspaces,
  listsOfUser,
  listsOfWorkspace,
  readPages,
  readSingles,
} from './queries/account-export.js'

const VIEWS_PER_PAGE = 500

/** The pages of each list of an `AccountExport`. */
const listsOf = function* (
  database: Database,
  { id, login }: Profile,
  personalWorkspace: string | undefined,
) {
  const db = database.read
  for (const [name, list] of Object.entries(listsOfWorkspace)) {
    yield [name, personalWorkspace === undefined ? [] : readPages(db, list, personalWorkspace)] as const
  }
  for (const [name, list] of Object.entries(listsOfUser)) yield [name, readPages(db, list, id)] as const
  yield ['activity', activityOf(database, id)] as const
  yield ['audit', auditOf(database, id, login.toLowerCase())] as const
  yield ['views', viewsOf(database, id)] as const
}

async function* activityOf({ read }: Database, userId: string) {
  for (const workspaceId of await listActiveWorkspaces(read, userId))
    yield* readPages(read, ACTIVITY, userId, workspaceId)
}

async function* auditOf({ read }: Database, userId: string, loginKey: string) {
  for (const list of auditOfUser) yield* readPages(read, list, userId)
  for (const list of auditOfLogin) yield* readPages(read, list, loginKey)
}

async function* viewsOf({ read }: Database, userId: string) {
  let after: string[] | undefined
  for (;;) {
    const rows = await listViews(read, userId, after, VIEWS_PER_PAGE)
    yield rows.map(({ view }) => JSON.stringify(view))
    if (rows.length < VIEWS_PER_PAGE) return
    after = rows.at(-1)?.position
  }
}

/** An `AccountExport`. */
export async function* exportAccount(database: Database, profile: Profile): AsyncGenerator<string> {
  const singles = await readSingles(database.read, profile.id)
  let head = `{"exported_at":"${new Date().toISOString()}"`
  head += `,"profile":${JSON.stringify(profile).slice(0, -1)},${singles.profile.slice(1)}`
  head += `,"recording":${JSON.stringify(await readRecording(database.read, profile.id))}`
  head += `,"billing":${singles.billing},"personal_workspace":${singles.personal?.workspace ?? null}`
  yield* jsonPieces(head, listsOf(database, profile, singles.personal?.id))
}
