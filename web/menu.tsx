/** A button that opens a list of links and actions. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { focusElement } from './keyboard.js'

/** Below this height in pixels, a menu opens above its button. */
const ROOM = 240
const GAP = 4
/** Between a menu and the side of the window. */
const MARGIN = 12

/** Each child is an item: an `<li>` with a link or a button. A click on one of them closes the menu. */
export const Menu = (props: {
  /** Names the list for screen readers. */
  label: string
  button: ComponentChildren
  /** `end` aligns the menu with the right side of the button. */
  align?: 'start' | 'end'
  class?: string
  children: ComponentChildren
}) => {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLElement>(null)
  const place = () => {
    const box = button.current?.getBoundingClientRect()
    if (!box || !menu.current) return
    const { clientWidth, clientHeight } = document.documentElement
    const isLow = clientHeight - box.bottom < ROOM && box.top > ROOM
    const vertical = isLow ? ['auto', `${clientHeight - box.top + GAP}px`] : [`${box.bottom + GAP}px`, 'auto']
    const [left, right] =
      props.align === 'end' ? ['auto', `${clientWidth - box.right}px`] : [`${box.left}px`, 'auto']
    menu.current.style.inset = `${vertical[0]} ${right} ${vertical[1]} ${left}`
    const room = props.align === 'end' ? box.right : clientWidth - box.left
    menu.current.style.maxWidth = `min(480px, ${room - MARGIN}px)`
    menu.current.style.maxHeight = `${(isLow ? box.top : clientHeight - box.bottom) - GAP - MARGIN}px`
  }
  useEffect(() => {
    menu.current?.addEventListener('click', ({ target }) => {
      const item = target instanceof Element && target.closest('a, button')
      if (!item) return
      // The menu would return the focus to its button, which the Enter key that followed the link would then press.
      if (item.matches('a')) focusElement(document.querySelector<HTMLElement>('main h1'))
      menu.current?.hidePopover()
    })
  }, [])
  return (
    <>
      <button type="button" ref={button} class={`plain ${props.class ?? ''}`} popovertarget={id}>
        {props.button}
      </button>
      <nav popover="auto" id={id} ref={menu} aria-label={props.label} onBeforeToggle={place}>
        <ul>{props.children}</ul>
      </nav>
    </>
  )
}
