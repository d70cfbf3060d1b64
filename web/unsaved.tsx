/** Asks before unsaved changes are lost. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { guardBack } from './back.js'
import { panel } from './shortcuts.js'
import { Confirm } from './ui.js'

/** The question, to be rendered by the screen that has the changes. */
export const Unsaved = ({ isChanged }: { isChanged: boolean }) => {
  const { route } = useLocation()
  const [target, leaveFor] = useState<string>()
  const canLeave = useRef(false)
  useEffect(() => {
    if (!isChanged) return
    canLeave.current = false
    const own = location.href
    const ask = (target: string) => {
      panel.value = undefined
      leaveFor(target)
    }
    const onClick = (event: MouseEvent) => {
      const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement)
      const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0
      if (!link || opensElsewhere || (link.target && link.target !== '_self')) return
      if (link.origin !== location.origin || link.pathname === location.pathname) return
      event.preventDefault()
      event.stopImmediatePropagation()
      ask(link.href.slice(link.origin.length))
    }
    const onBack = (event: PopStateEvent) => {
      const { origin, pathname, href } = location
      if (canLeave.current || pathname === new URL(own).pathname) return
      event.stopImmediatePropagation()
      history.pushState(null, '', own)
      ask(href.slice(origin.length))
    }
    const onUnload = (event: BeforeUnloadEvent) => {
      if (!canLeave.current) event.preventDefault()
    }
    // The capture phase comes before the router.
    addEventListener('click', onClick, { capture: true })
    guardBack(onBack)
    addEventListener('beforeunload', onUnload)
    return () => {
      removeEventListener('click', onClick, { capture: true })
      guardBack(undefined)
      removeEventListener('beforeunload', onUnload)
    }
  }, [isChanged])
  if (target === undefined) return null
  return (
    <Confirm
      title="Leave without saving?"
      action="Discard changes"
      onClose={() => leaveFor(undefined)}
      onYes={() => {
        canLeave.current = true
        // The browser loads pages outside this app.
        if (/^\/api\b/.test(target)) location.assign(target)
        else route(target)
      }}
    >
      <p>Your changes aren’t saved. If you leave, you lose them.</p>
    </Confirm>
  )
}
