import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BatchState,
  defaultLeases,
  type FlushStorage,
  isExpired,
  type Leases,
  MAX_REFUSED,
} from './storage.js'

const DAY_MS = 24 * 60 * 60_000

interface Entry {
  /** The name of the batch's folder: `<id>.open`, `<id>.sealed`, `<id>.claimed-<milliseconds>`, `<id>.refused`. */
  name: string
  id: string
  state: BatchState
  claimedAt: number
}

const entryOf = (name: string): Entry[] => {
  const [, id = '', state = '', claimedAt = '0'] =
    name.match(/^([\w-]+)\.(open|sealed|claimed|refused)(?:-(\d+))?$/) ?? []
  return id === '' ? [] : [{ name, id, state: state as BatchState, claimedAt: Number(claimedAt) }]
}

/** False if the file or folder doesn't exist (any more), or can't be changed for one of these reasons. */
const ifThere = async (work: Promise<unknown>, ...others: string[]): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    if (['ENOENT', ...others].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Windows doesn't rename a folder while another program, such as a virus scanner, has a file in it open. */
const BUSY = process.platform === 'win32' ? ['EPERM', 'EBUSY', 'EACCES'] : []

/**
 * Batches in a folder that several windows share, and that outlives them. A batch is a folder that contains the body,
 * and its name says its state. So every change of state is one rename. It succeeds for the first window only, and a
 * crash leaves either the old name or the new one.
 *
 * The body of an open batch is written beside the old one and renamed over it, by the path that says `open`.
 * A window that slept for an hour may find that path gone, because another window has sealed the batch. The
 * window that slept then can't change the sealed batch or write its copy of the old minutes again. It starts
 * a new batch with only the new minute.
 */
export const folderStorage = (folder: string, leases: Leases = defaultLeases): FlushStorage => {
  const at = (name: string) => join(folder, name)
  const move = (from: string, to: string) => ifThere(rename(at(from), at(to)), ...BUSY)
  const entries = async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Ids begin with the time, so this is also the order in which batches were created.
    return (await readdir(folder)).sort().flatMap(entryOf)
  }

  /** Writes a batch's body. The batch's folder must exist. */
  const write = async (name: string, body: string) => {
    const next = at(`${name}/next`)
    const file = await open(next, 'w', 0o600)
    try {
      await file.writeFile(body)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(next, at(`${name}/body.json`))
  }

  /** Undefined if it doesn't exist (any more). */
  const changedAt = (name: string) =>
    stat(at(name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
  const readBody = (name: string) => readFile(at(`${name}/body.json`), 'utf8').catch(() => undefined)

  const isAbandoned = async ({ name, state, claimedAt }: Entry) => {
    if (state === 'claimed') return isExpired(claimedAt, leases.claim)
    if (state !== 'open') return state === 'sealed'
    // Every write of the body changes its folder.
    const changed = await changedAt(name)
    return changed !== undefined && isExpired(changed, leases.open)
  }

  /** Deletes folders that a process left half created or half deleted. */
  const sweep = async () => {
    for (const name of (await readdir(folder)).filter((name) => name.endsWith('~'))) {
      const changed = await changedAt(name)
      if (changed !== undefined && isExpired(changed, DAY_MS))
        await rm(at(name), { recursive: true, force: true })
    }
  }

  /** A claim that has passed to another queue is left to that queue. */
  const claimName = ({ id, claimedAt }: { id: string; claimedAt: number }) => `${id}.claimed-${claimedAt}`

  /**
   * A folder that is being created or deleted has a meaningless name, so that half a batch isn't mistaken for a batch.
   */
  const remove = async (name: string) => {
    if (await move(name, `${name}~`)) await rm(at(`${name}~`), { recursive: true, force: true })
  }

  return {
    async create(id, body) {
      await mkdir(at(`${id}~`), { recursive: true, mode: 0o700 })
      await write(`${id}~`, body)
      await rename(at(`${id}~`), at(`${id}.open`))
    },
    update: (id, body) => ifThere(write(`${id}.open`, body)),
    async seal(id) {
      await move(`${id}.open`, `${id}.sealed`)
    },
    async claim() {
      for (const entry of await entries()) {
        if (!(await isAbandoned(entry))) continue
        const { id, name } = entry
        const claimedAt = Date.now()
        // This rename also seals an open batch, because it removes the path that the batch's owner writes to.
        if (!(await move(name, claimName({ id, claimedAt })))) continue
        const body = await readBody(claimName({ id, claimedAt }))
        if (body !== undefined) return { id, body, claimedAt }
      }
      await sweep()
      return undefined
    },
    async release(batch) {
      await move(claimName(batch), `${batch.id}.sealed`)
    },
    remove: (batch) => remove(claimName(batch)),
    async refuse(batch) {
      await move(claimName(batch), `${batch.id}.refused`)
      const refused = (await entries()).filter(({ state }) => state === 'refused')
      for (const { name } of refused.slice(0, -MAX_REFUSED)) await remove(name)
    },
    async list() {
      return (await entries()).map(({ id, state }) => ({ id, state }))
    },
  }
}
