import {
  type Batch,
  type BatchState,
  defaultLeases,
  type FlushStorage,
  isExpired,
  type Leases,
  MAX_REFUSED,
} from './storage.js'

interface Row {
  id: string
  state: BatchState
  body: string
  /** When the state or the content last changed. */
  since: number
}

const answerOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** Batches in IndexedDB, which all pages and workers of an origin share. Each change is one transaction. */
export const indexedDbStorage = (
  name = 'team-settings-flushes',
  leases: Leases = defaultLeases,
  factory: IDBFactory = indexedDB,
): FlushStorage => {
  const opened = (() => {
    const request = factory.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore('batches', { keyPath: 'id' })
    return answerOf(request)
  })()

  /** `work` may await only requests of the same store. Otherwise the transaction ends early. */
  const change = async <T>(work: (rows: IDBObjectStore) => Promise<T>): Promise<T> => {
    const transaction = (await opened).transaction('batches', 'readwrite', { durability: 'strict' })
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
    // The failure of the work is reported first. The failure of the transaction follows from it.
    ended.catch(() => {})
    const result = await work(transaction.objectStore('batches'))
    await ended
    return result
  }

  const get = (rows: IDBObjectStore, id: string): Promise<Row | undefined> => answerOf(rows.get(id))
  const all = (rows: IDBObjectStore): Promise<Row[]> => answerOf(rows.getAll())
  const put = (rows: IDBObjectStore, row: Omit<Row, 'since'>, since = Date.now()) =>
    answerOf(rows.put({ ...row, since }))

  const isAbandoned = ({ state, since }: Row) =>
    state === 'sealed' ||
    (state === 'open' && isExpired(since, leases.open)) ||
    (state === 'claimed' && isExpired(since, leases.claim))

  /** Ends a claim, unless it has passed to another queue. */
  const end = ({ id, claimedAt }: Batch, work: (rows: IDBObjectStore, row: Row) => Promise<unknown>) =>
    change(async (rows) => {
      const row = await get(rows, id)
      if (row?.state === 'claimed' && row.since === claimedAt) await work(rows, row)
    })

  return {
    create: (id, body) => change(async (rows) => void (await put(rows, { id, state: 'open', body }))),
    update: (id, body) =>
      change(async (rows) => {
        if ((await get(rows, id))?.state !== 'open') return false
        await put(rows, { id, state: 'open', body })
        return true
      }),
    seal: (id) =>
      change(async (rows) => {
        const row = await get(rows, id)
        if (row?.state === 'open') await put(rows, { ...row, state: 'sealed' })
      }),
    claim: () =>
      change(async (rows) => {
        // Ids begin with the time, so the oldest comes first.
        const row = (await all(rows)).find(isAbandoned)
        if (row === undefined) return undefined
        const claimedAt = Date.now()
        await put(rows, { ...row, state: 'claimed' }, claimedAt)
        return { id: row.id, body: row.body, claimedAt }
      }),
    release: (batch) => end(batch, (rows, row) => put(rows, { ...row, state: 'sealed' })),
    remove: (batch) => end(batch, (rows) => answerOf(rows.delete(batch.id))),
    refuse: (batch) =>
      end(batch, async (rows, row) => {
        await put(rows, { ...row, state: 'refused' })
        const refused = (await all(rows)).filter(({ state }) => state === 'refused')
        for (const { id } of refused.slice(0, -MAX_REFUSED)) await answerOf(rows.delete(id))
      }),
    list: () => change(async (rows) => (await all(rows)).map(({ id, state }) => ({ id, state }))),
  }
}
