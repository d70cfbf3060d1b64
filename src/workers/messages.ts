/** What the primary process and its workers tell each other. */
import type { Counted, Counts } from '../limits/counts.js'
import type { PlaceKind } from '../limits/places.js'

export type Request =
  | ['add', ...Parameters<Counts['add']>]
  | ['enter', place: number, kind: PlaceKind, key: string]
  | ['leave', place: number]
  | ['ping']
  | ['revoked']
  | ['databaseUrl']
export type Ask = [id: number, ...Request]
export type Answer = [id: number, value: Counted | boolean | string]

/** `leave`: be not ready, and serve on; `stop`: end; `refresh`: another worker has revoked a token. */
export type Order = 'leave' | 'stop' | 'refresh'

/** Of a worker. */
export interface Asks {
  asks: Ask[]
}
export interface Done {
  done: 'ready'
}
export type FromWorker = Asks | Done

/** Of the primary. */
export type FromPrimary = { answers: Answer[] } | { order: Order }
