/** What the primary process keeps for all workers: the counts of limits, and the places of callers. */
import { LocalCounts } from '../limits/counts.js'
import { createLocalPlaces, NoPlace, type PlaceKind } from '../limits/places.js'
import type { Answer, Ask } from './messages.js'

interface Served {
  receive(asks: Ask[]): void
  /** Gives back all places of a worker that has ended. */
  forget(): void
}

export const createShared = (databaseUrl: string) => {
  const counts = new LocalCounts()
  const places = createLocalPlaces()

  const serve = (reply: (answers: Answer[]) => void, revoked: () => void): Served => {
    const held = new Map<number, () => void>()
    let isGone = false

    const enter = async (id: number, place: number, kind: PlaceKind, key: string) => {
      let isGranted = true
      try {
        held.set(place, await places.enter(kind, key))
        if (isGone) leave(place)
      } catch (error) {
        if (!(error instanceof NoPlace)) throw error
        isGranted = false
      }
      reply([[id, isGranted]])
    }
    const leave = (place: number) => {
      held.get(place)?.()
      held.delete(place)
    }
    /** Undefined where the answer takes time. */
    const answer = ([id, ...request]: Ask): Answer | undefined => {
      const [what] = request
      if (what === 'add') {
        const [, ...counted] = request
        return [id, counts.add(...counted)]
      }
      if (what === 'enter') {
        const [, place, kind, key] = request
        void enter(id, place, kind, key)
        return undefined
      }
      if (what === 'leave') leave(request[1])
      if (what === 'revoked') revoked()
      return [id, what === 'databaseUrl' ? databaseUrl : true]
    }
    return {
      receive: (asks) => {
        const answers = asks.map(answer).filter((one) => one !== undefined)
        if (answers.length > 0) reply(answers)
      },
      forget: () => {
        isGone = true
        for (const place of [...held.keys()]) leave(place)
      },
    }
  }
  return { serve }
}
