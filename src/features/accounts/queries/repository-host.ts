import type { RepohostKind } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { singleRow } from '../../../platform/database/single-row.js'
import { repositoryHost } from '../tables.js'

export interface RecordedHost {
  kind: RepohostKind
  url: string
}

const ONLY = 1

/** The recorded host; this one, if none was. */
export const recordHost = async (db: Db, host: RecordedHost): Promise<RecordedHost> => {
  await db
    .insert(repositoryHost)
    .values({ id: ONLY, ...host })
    .onConflictDoNothing()
  const rows = await db.select({ kind: repositoryHost.kind, url: repositoryHost.url }).from(repositoryHost)
  return singleRow(rows)
}

export const replaceHost = async (db: Db, host: RecordedHost): Promise<void> => {
  await db.update(repositoryHost).set(host)
}
