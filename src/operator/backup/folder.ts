/** Folders of backups: the names of the files, and which ones are kept. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The service's files. Their names sort by time. */
export const OWN = /^team-settings-\d{4}-\d\d-\d\dT\d{6}Z\.gz$/
/** Those of earlier versions' units, such as `2026-11-24.gz`. They sort before the others. */
const OF_DAY = /^\d{4}-\d\d-\d\d\.gz$/
const UNFINISHED = /^team-settings-\d{4}-\d\d-\d\dT\d{6}Z\.gz\.[0-9a-f]{8}\.unfinished$/

/** Such as `team-settings-2026-11-24T031500Z.gz`. @param time as `2026-11-24T03:15:00.000Z` */
export const nameAt = (time: string) => `team-settings-${time.slice(0, 19).replaceAll(':', '')}Z.gz`

export const isFolder = async (path: string): Promise<boolean> =>
  path.endsWith('/') ||
  (await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  ))

const remove = async (folder: string, names: string[]) => {
  for (const name of names) await rm(join(folder, name), { force: true })
}

/** Removes what a process that was killed has left behind. */
export const removeUnfinished = async (folder: string): Promise<void> =>
  remove(
    folder,
    (await readdir(folder)).filter((name) => UNFINISHED.test(name)),
  )

/**
 * Removes all but the newest files up to the one that was just written. Names after its own are from the future, and stay.
 * @returns those
 */
export const keepNewest = async (
  folder: string,
  written: string,
  keep: number,
  { ofDays = false } = {},
): Promise<string[]> => {
  const own = (await readdir(folder)).filter((name) => OWN.test(name) || (ofDays && OF_DAY.test(name))).sort()
  const later = own.filter((name) => name > written)
  await remove(folder, own.slice(0, own.length - later.length).slice(0, -keep))
  return later
}
