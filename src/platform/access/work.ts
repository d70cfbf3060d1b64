import type { limits } from '../../../schemas/limits.js'

/** What the work of an operation, or of a task in the background, is a product of. */
export interface Work {
  /** The factors, in words. A factor that no limit bounds is handled in pieces, and the words say so. */
  readonly of: string
  /** The limits that bound the factors. Empty: the work is always the same. */
  readonly within: readonly (keyof typeof limits)[]
}

export const work = (of: string, ...within: Work['within']): Work => ({ of, within })
