/**
 * Decides which hours of a day a team's heatmap may add up at the privacy level `named`, so that any difference between
 * two heatmaps covers at least two people other than the viewer. People with hours on a UTC day form crews by their
 * local clock: an hour that only one time zone reaches on that day would reveal the people there
 * (docs/decisions/19-shared-hours.md).
 */
import { Heatmap, localHoursOf, type ZoneDay } from '../minutes/index.js'

/** The minimum number of people other than the viewer behind any shown hours. */
export const MIN_OTHERS = 2

/** A crew of this size is large enough for every viewer. */
const LARGE = MIN_OTHERS + 1

/** The people in one time zone who have hours on a UTC day. For a large crew, a few of them are enough. */
export interface ZoneCrew extends ZoneDay {
  people: string[]
}

/** People who may be too few for some viewers, and the minutes that they add to the heatmap's cells. */
export interface SmallCrew {
  people: string[]
  cells: [cell: number, minutes: number][]
}

/** All people with hours on one day. */
export interface DayCrews {
  hasLarge: boolean
  small: SmallCrew[]
}

export const NO_CREWS: DayCrews = { hasLarge: false, small: [] }

/** The same for time zones that show the same hours on that day. */
export const clockOf = (timezone: string, day: string): string => localHoursOf(timezone, day).join()

/** One day's crews. */
export const crewsOf = (zones: ZoneCrew[]): DayCrews => {
  const clocks = new Map<string, { people: string[]; heatmap: Heatmap }>()
  for (const { people, ...zoneDay } of zones) {
    if (people.length === 0) continue
    const clock = clockOf(zoneDay.timezone, zoneDay.day)
    const crew = clocks.get(clock) ?? { people: [], heatmap: new Heatmap() }
    clocks.set(clock, crew)
    crew.people.push(...people)
    crew.heatmap.addZoneDay(zoneDay)
  }
  const crews = [...clocks.values()]
  return {
    hasLarge: crews.some(({ people }) => people.length >= LARGE),
    small: crews
      .filter(({ people }) => people.length < LARGE)
      .map(({ people, heatmap }) => ({ people, cells: heatmap.toSparse() })),
  }
}

/** The crews whose hours the viewer mustn't see. Undefined if nothing from the day may be shown. */
export const hiddenCrews = ({ hasLarge, small }: DayCrews, viewerId: string): SmallCrew[] | undefined => {
  const othersOf = ({ people }: SmallCrew) => people.filter((userId) => userId !== viewerId).length
  const hidden = small.filter((crew) => othersOf(crew) > 0 && othersOf(crew) < MIN_OTHERS)
  const isShown = hasLarge || hidden.length === 0 || small.some((crew) => othersOf(crew) >= MIN_OTHERS)
  return isShown ? hidden : undefined
}
