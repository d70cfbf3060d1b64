/** Changes of large configurations take turns, because each needs much memory while it runs. */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import type { RequestMemory } from '../../platform/http/request-memory.js'
import { maxConcurrentFor } from '../../platform/process/held-memory.js'
import { KeyedSemaphore, Semaphore } from '../../platform/process/semaphore.js'
import type { SentConfiguration } from './configuration-reader.js'
import { readStorage } from './queries/storage-quota.js'

/** Smaller changes don't wait for others. */
const LARGE_BYTES = limits.body_bytes
/**
 * Memory that the change of a full workspace needs, measured: the peak of a process with a heap of 128 MiB rose from 148 to 327
 * MiB. The whole process stays below 480 MiB (`held-memory`).
 */
const CHANGE_MIB = 180
const MAX_WAITING = 64
const WAIT_MS = 10_000
const unavailable = () => new ApiError('unavailable')
const personSemaphores = new KeyedSemaphore(1, MAX_WAITING, WAIT_MS, unavailable)
const changeSemaphore = new Semaphore(maxConcurrentFor(CHANGE_MIB), MAX_WAITING, WAIT_MS, unavailable)

/**
 * Only changes that need much memory wait for others. Those without overrides need little.
 * @returns what releases the permit
 * @throws {ApiError} `unavailable` if none is free in time, or if others need the memory of this request while it waits
 */
export const acquireChangePermit = async (
  database: Database,
  workspaceId: string,
  projects: SentConfiguration['projects'],
  { person, signal }: RequestMemory,
): Promise<() => void> => {
  if (!projects) return () => {}
  const sent = projects.reduce((sum, { length }) => sum + length, 0)
  const stored = (await readStorage(database.hot, [workspaceId])).get(workspaceId) ?? 0
  if (sent + stored <= LARGE_BYTES) return () => {}
  const releasePerson = await personSemaphores.acquire([person], undefined, signal)
  try {
    await changeSemaphore.acquire(undefined, signal)
  } catch (error) {
    releasePerson()
    throw error
  }
  return () => {
    changeSemaphore.release()
    releasePerson()
  }
}
