/** Code that most visits don't need at first. */
import { useEffect, useState } from 'preact/hooks'
import { offline } from './api.js'

const RELOADED_AT = 'reloaded-at'
const RELOAD_INTERVAL_MS = 30_000

/** Reloads the page, but never in a fast loop if the reload doesn't help. */
const reload = () => {
  const last = Number(sessionStorage.getItem(RELOADED_AT))
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  setTimeout(() => location.reload(), Math.max(0, last + RELOAD_INTERVAL_MS - Date.now()))
}

/** Screens that are rarely opened first share one chunk, so that the first numbers need few requests. */
export const rest = () =>
  import('./screens/rest.js').catch(() => {
    // The service is unreachable, or has a newer version of the page. The page reloads once the service answers.
    offline.value = true
    return new Promise<never>(() => offline.subscribe((isOffline) => isOffline || reload()))
  })

/** The code that `rest` loads, once it's wanted and has arrived. */
export const useRest = (isWanted: boolean) => {
  const [loaded, set] = useState<Awaited<ReturnType<typeof rest>>>()
  useEffect(() => {
    if (isWanted && !loaded) rest().then(set)
  }, [isWanted])
  return loaded
}
