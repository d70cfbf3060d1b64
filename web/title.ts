import { useEffect } from 'preact/hooks'
import { goTo } from './keyboard.js'

/** Where the keyboard is; of the first screen nobody has gone anywhere yet. */
let place: string | undefined

/** What the window is called while a screen is shown; reading begins at its heading for who came from another one. */
export const useTitle = (title: string, here = location.pathname) => {
  useEffect(() => {
    document.title = `${title} · Team activity`
    const isLost = document.activeElement === document.body
    if (place !== undefined && (place !== here || isLost)) {
      const named = document.getElementById(location.hash.slice(1))
      goTo(named ?? document.querySelector<HTMLElement>('main h1'))
    }
    place = here
  }, [title])
}
