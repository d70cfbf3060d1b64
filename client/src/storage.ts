/**
 * Where the flush queue keeps its batches. A batch is a text under an id, in one of four states:
 *
 *     open ──seal──▶ sealed ──claim──▶ claimed ──remove──▶ (gone)
 *                       ▲                 │ └───refuse───▶ refused
 *                       └─────release─────┘
 *
 * A storage promises three things, with which several queues on it lose and double nothing:
 * 1. each change is whole or has not happened, also when the process dies in it;
 * 2. `update` changes an open batch and nothing else: once somebody has sealed it, it answers false;
 * 3. a sealed batch never changes again.
 * That a claim is one's own alone is not promised: it may pass to another queue when it is old (its owner died, or the
 * laptop slept). Both then send the same bytes under the same flush_id, which the service counts once.
 */
export interface FlushStorage {
  create(id: string, body: string): Promise<void>
  /** False when the batch is no longer open. */
  update(id: string, body: string): Promise<boolean>
  seal(id: string): Promise<void>
  /**
   * The oldest batch that may be sent now, by this queue alone for a while: one that is sealed, whose claim is old, or
   * that was left open for so long that its owner must be dead.
   */
  claim(): Promise<Batch | undefined>
  release(batch: Batch): Promise<void>
  remove(batch: Batch): Promise<void>
  /** Sets a batch aside that the service will never take. The last hundred are kept. */
  refuse(batch: Batch): Promise<void>
  list(): Promise<{ id: string; state: BatchState }[]>
}

export type BatchState = 'open' | 'sealed' | 'claimed' | 'refused'

export interface Batch {
  id: string
  body: string
  /** When it was claimed, by which a claim is told from a later one. */
  claimedAt: number
}

/** After how long others may take over, in milliseconds. */
export interface Leases {
  /** An open batch that nobody has sealed: longer than a queue keeps one open. */
  open: number
  /** A claim: longer than an attempt lasts. */
  claim: number
}

export const defaultLeases: Leases = { open: 60 * 60_000, claim: 2 * 60_000 }

export const MAX_REFUSED = 100

/** Whether a moment is that long ago; one in the future was noted before the clock was set back. */
export const isExpired = (since: number, lease: number, now = Date.now()) => Math.abs(now - since) > lease

/** For what has no place to keep anything: what was not sent is lost with the process. */
export const memoryStorage = (): FlushStorage => {
  const batches = new Map<string, { state: BatchState; body: string }>()
  const become = (state: BatchState) => async (batch: Batch) => {
    batches.set(batch.id, { state, body: batch.body })
  }
  return {
    async create(id, body) {
      batches.set(id, { state: 'open', body })
    },
    async update(id, body) {
      if (batches.get(id)?.state !== 'open') return false
      batches.set(id, { state: 'open', body })
      return true
    },
    async seal(id) {
      const batch = batches.get(id)
      if (batch?.state === 'open') batch.state = 'sealed'
    },
    async claim() {
      for (const [id, batch] of batches) {
        if (batch.state !== 'sealed') continue
        batch.state = 'claimed'
        return { id, body: batch.body, claimedAt: Date.now() }
      }
      return undefined
    },
    release: become('sealed'),
    async remove({ id }) {
      batches.delete(id)
    },
    async refuse(batch) {
      await become('refused')(batch)
      const refused = [...batches].filter(([, { state }]) => state === 'refused')
      for (const [id] of refused.slice(0, -MAX_REFUSED)) batches.delete(id)
    },
    async list() {
      return Array.from(batches, ([id, { state }]) => ({ id, state }))
    },
  }
}
