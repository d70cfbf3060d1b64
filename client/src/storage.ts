/**
 * Stores the batches of the flush queue. A batch is a text under an id, in one of four states:
 *
 *     open ──seal──▶ sealed ──claim──▶ claimed ──remove──▶ (gone)
 *                       ▲                 │ └───refuse───▶ refused
 *                       └─────release─────┘
 *
 * A storage guarantees three things, so that several queues on it lose and duplicate nothing: 1. Each change happens
 * completely or not at all, even if the process dies meanwhile. 2. `update` changes only an open batch. Once any queue
 * has sealed it, `update` returns false. 3. A sealed batch never changes again. A claim isn't exclusive. An old one may
 * pass to another queue, because its owner died or the laptop slept. Both then send the same bytes under the same
 * flush_id, and the service counts them once.
 */
export interface FlushStorage {
  create(id: string, body: string): Promise<void>
  /** False when the batch is no longer open. */
  update(id: string, body: string): Promise<boolean>
  seal(id: string): Promise<void>
  /**
   * Claims the oldest batch that can be sent: a sealed one, one with an old claim, or one that was open for so long that
   * its owner must be dead.
   */
  claim(): Promise<Batch | undefined>
  release(batch: Batch): Promise<void>
  remove(batch: Batch): Promise<void>
  /** Sets aside a batch that the service will never accept. The last hundred are kept. */
  refuse(batch: Batch): Promise<void>
  list(): Promise<{ id: string; state: BatchState }[]>
}

export type BatchState = 'open' | 'sealed' | 'claimed' | 'refused'

export interface Batch {
  id: string
  body: string
  /** The time of the claim, which distinguishes it from a later one. */
  claimedAt: number
}

/** Milliseconds after which other queues may take over. */
export interface Leases {
  /** For an open batch: longer than a queue keeps one open. */
  open: number
  /** For a claim: longer than an attempt takes. */
  claim: number
}

export const defaultLeases: Leases = { open: 60 * 60_000, claim: 2 * 60_000 }

export const MAX_REFUSED = 100

/**
 * Whether a moment is that long ago. A moment in the future is from before the clock was set back, and counts as old.
 */
export const isExpired = (since: number, lease: number, now = Date.now()) => Math.abs(now - since) > lease

/** Keeps batches in memory. Minutes that weren't sent are lost with the process. */
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
