import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

/** How long to work before other requests run. */
const TURN_MS = 3

let since = performance.now()

/** For long work: lets other requests run if the last pause in the process was long enough ago. */
export const yieldIfDue = async (): Promise<void> => {
  if (performance.now() - since < TURN_MS) return
  await yieldToEventLoop()
  since = performance.now()
}
