import { useEffect } from 'preact/hooks'
import { focusElement } from './keyboard.js'

/** The dashboard's name. */
export const PRODUCT = 'Team Settings & Activity'

/** The last screen's address. Undefined before the first one. */
let place: string | undefined

/** Sets the window title. After a change of screen, the focus moves to the new heading. */
export const useTitle = (title: string, here = location.pathname) => {
  useEffect(() => {
    document.title = `${title} · ${PRODUCT}`
    const isLost = document.activeElement === document.body
    // A dialog that a link has opened keeps the focus.
    if (place !== undefined && (place !== here || isLost) && !document.querySelector('dialog[open]')) {
      const named = document.getElementById(location.hash.slice(1))
      focusElement(named ?? document.querySelector<HTMLElement>('main h1'))
    }
    place = here
  }, [title])
}
