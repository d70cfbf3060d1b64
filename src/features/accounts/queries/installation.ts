import type { RepohostKind } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { singleRow } from '../../../platform/database/statement.js'
import { repositoryHost } from '../tables.js'

export interface RecordedHost {
  kind: RepohostKind
  url: string
}

const ONLY = 1

const selectHosts = (db: Db): Promise<RecordedHost[]> =>
  db.select({ kind: repositoryHost.kind, url: repositoryHost.url }).from(repositoryHost)

/** The recorded host, or this one if none was recorded. */
export const recordHost = async (db: Db, host: RecordedHost): Promise<RecordedHost> => {
  await db
    .insert(repositoryHost)
    .values({ id: ONLY, ...host })
    .onConflictDoNothing()
  return singleRow(await selectHosts(db))
}

/** The recorded host. Undefined if there is none. */
export const readHost = async (db: Db): Promise<RecordedHost | undefined> => (await selectHosts(db))[0]

export const replaceHost = async (db: Db, host: RecordedHost): Promise<void> => {
  await db.update(repositoryHost).set(host)
}
