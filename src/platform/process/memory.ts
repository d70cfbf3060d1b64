import { totalmem } from 'node:os'

/** Enough for everything that the service takes, as measured by `bench/memory.ts`. */
const NEEDED_MIB = 512
const MIB = 2 ** 20

/** What this process may use: its container's limit, or the machine's memory. */
export const memoryInMib = (): number => {
  // 0 if unknown. Without a limit, it's more than any machine has.
  const limit = process.constrainedMemory()
  return Math.floor(Math.min(limit > 0 ? limit : Number.POSITIVE_INFINITY, totalmem()) / MIB)
}

/** Undefined if it's enough. */
export const tooLittleMemory = (mib: number): string | undefined =>
  mib < NEEDED_MIB
    ? `The service may use ${mib} MiB of memory. Several large uploads or configurations at once can end it.`
    : undefined

export const giveMemory = `Give each instance ${NEEDED_MIB} MiB.`
