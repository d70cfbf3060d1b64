import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 120_000

/** Waits until `holds` answers with something true, and returns that. @throws when it doesn't within two minutes */
export const until = async <T>(
  holds: () => T | Promise<T>,
  what: string,
): Promise<Exclude<T, false | undefined | null | 0>> => {
  for (const latest = Date.now() + TIMEOUT_MS; Date.now() < latest; await sleep(20)) {
    const response = await holds()
    if (response) return response as Exclude<T, false | undefined | null | 0>
  }
  throw new Error(`Within ${TIMEOUT_MS / 1_000} s it did not come to this: ${what}`)
}
