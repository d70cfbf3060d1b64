/** How many requests of one caller, and of one address without a session, are under way at once; further ones wait. */
import { limits } from '../../schemas/limits.js'
import { Gate, Gates } from '../runtime/gate.js'

export type PlaceKind = 'caller' | 'address'

export interface Places {
  /**
   * Waits for a place.
   * @returns what gives it back; calling that again changes nothing
   * @throws {NoPlace} when none becomes free in time
   */
  enter(kind: PlaceKind, key: string): Promise<() => void>
}

export class NoPlace extends Error {}

export const atOnce: Record<PlaceKind, number> = {
  caller: limits.requests_at_once_per_caller,
  address: limits.requests_at_once_per_address,
}

const WAIT_MS = 5_000

/** In the memory of this process. */
export const createLocalPlaces = (): Places => {
  const gatesOf = (kind: PlaceKind) =>
    new Gates(() => new Gate(atOnce[kind], limits.rate_per_caller, WAIT_MS, () => new NoPlace()))
  const gates = { caller: gatesOf('caller'), address: gatesOf('address') }
  return { enter: (kind, key) => gates[kind].enter(key) }
}
