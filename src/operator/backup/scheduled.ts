/**
 * The service's own daily backup to BACKUP_DIR. One instance writes it and removes the service's older files. Every
 * instance reports the age of the last backup, however it was made.
 */

import { constants } from 'node:fs'
import { access, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Db } from '../../platform/database/client.js'
import { inLongTransaction } from '../../platform/database/dedicated-session.js'
import { AT_COORDINATOR, locks } from '../../platform/database/locks.js'
import { bool, double, orNull, singleRow, statement, text } from '../../platform/database/statement.js'
import { cached } from '../../platform/metrics/meter.js'
import { type Job, repeat } from '../../platform/process/async.js'
import { codeOf } from '../../platform/process/code-of.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { nameOfUser } from '../../platform/process/users.js'
import { backUp, readTime } from './back-up.js'
import { keepNewest, nameAt, removeUnfinished } from './folder.js'

const PERIOD_MS = 60_000
/** A failure costs as much as a success, so there's no immediate retry. */
const PAUSE_MS = 3_600_000

/** `ahead`: the time of a backup that was recorded while a clock ran ahead. It doesn't count. */
const IS_DUE = statement(
  'check whether backup is due',
  { due: bool, ahead: orNull(text) },
  `select not exists (select from backups where made_at between now() - interval '1 day' and now()) as due,
    (select max(made_at)::text from backups where made_at > now()) as ahead`,
)

const TRY_LOCK = `select pg_try_advisory_xact_lock(${locks.backup}) as taken from ${AT_COORDINATOR}`

const readDue = async (db: Db) => singleRow(await db.rows(IS_DUE, []))
const isDue = async (db: Db): Promise<boolean> => (await readDue(db)).due

/** Why no backup can be written to BACKUP_DIR. */
export const backupFolderFault = async (
  folder: string,
): Promise<{ message: string; remedy: string } | undefined> => {
  try {
    if (!(await stat(folder)).isDirectory())
      return { message: `BACKUP_DIR (${folder}) isn’t a folder.`, remedy: 'Name a folder.' }
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const code = codeOf(error)
    const user = await nameOfUser(process.getuid?.() ?? 0)
    return {
      message: `BACKUP_DIR (${folder}) can’t be used (${code}), so there is no daily backup.`,
      remedy:
        code === 'ENOENT'
          ? `Create the folder, and give it to the user of the service (${user}).`
          : `Make it a folder that the user of the service (${user}) can read and write.`,
    }
  }
}

/** Negative if a backup is from the future, which an alert reports. */
const READ_BACKUP_AGE = statement(
  'read last backup age',
  { seconds: orNull(double) },
  'select extract(epoch from now() - max(made_at))::float8 as seconds from backups',
)

/** Its `run` backs up if the last backup, however it was made, is a day old. Undefined without BACKUP_DIR. */
export const startBackups = async (
  app: FastifyInstance,
  databaseUrl: string | undefined,
): Promise<Job | undefined> => {
  const { database, meter } = app
  const age = cached(async () => singleRow(await database.reserved.rows(READ_BACKUP_AGE, [])).seconds)
  meter.read('team_settings_backup_age_seconds', {}, async () => (await age()) ?? undefined)

  const { folder, keep } = app.config.backups
  if (folder === undefined || databaseUrl === undefined) return undefined
  // The service starts nevertheless: people can work, and the folder may be mounted later.
  const fault = await backupFolderFault(folder)
  if (fault) app.log.error(`${fault.message} ${fault.remedy}`)

  const write = (stop: AbortSignal) =>
    inLongTransaction(databaseUrl, 'read write', stop, async (tx) => {
      // The lock is held until the backup is recorded. Another instance holds the lock or has just written the backup.
      const [lock] = await tx.unsafe<{ taken: boolean }[]>(TRY_LOCK)
      if (!lock?.taken) return
      const { due, ahead } = await readDue(database.reserved)
      if (!due) return
      if (ahead !== null)
        app.log.warn(
          `The database lists a backup of ${ahead}, which is in the future. It doesn’t count. Check the clock.`,
        )
      // Left behind by a process that was killed.
      await removeUnfinished(folder)
      const name = nameAt(await readTime(tx))
      const file = join(folder, name)
      const said: string[] = []
      const isRecorded = await backUp(databaseUrl, file, (line) => said.push(line), stop)
      // The connection may have dropped between the record's commit and the response.
      if (!isRecorded && (await isDue(database.reserved))) {
        // Otherwise the next backup would be due at once, and backups would fill the disk or replace earlier
        // ones.
        await rm(file, { force: true })
        throw new OperatorError(said.at(-1) ?? '')
      }
      app.log.info(`a backup was written to ${file}`)
      const later = await keepNewest(folder, name, keep)
      if (later.length > 0)
        app.log.warn(
          `${folder} has backups with names from the future, which stay there: ${later.join(', ')}. Check the clock, and move them elsewhere.`,
        )
    })

  let notBefore = 0
  const run = async (stop: AbortSignal) => {
    if (
      performance.now() < notBefore ||
      app.maintenance.message !== undefined ||
      !(await isDue(database.reserved))
    )
      return
    try {
      await write(stop)
    } catch (error) {
      if (stop.aborted) return
      notBefore = performance.now() + PAUSE_MS
      app.log.error({ err: error }, 'the backup failed and will be tried again in an hour')
    }
  }
  repeat(app, PERIOD_MS, run, 'the backup')
  return { run: () => run(new AbortController().signal) }
}
