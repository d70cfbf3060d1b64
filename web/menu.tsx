/** A button that opens a list of links and actions. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { focusElement } from './keyboard.js'

/** Each child is an item: an `<li>` with a link or a button. A click on one of them closes the menu. */
export const Menu = (props: {
  /** Names the list for screen readers. */
  label: string
  button: ComponentChildren
  /** `end` aligns the menu with the button's right side. */
  align?: 'start' | 'end'
  class?: string
  children: ComponentChildren
}) => {
  const id = useId()
  const menu = useRef<HTMLElement>(null)
  useEffect(() => {
    menu.current?.addEventListener('click', ({ target }) => {
      const item = target instanceof Element && target.closest('a, button')
      if (!item) return
      // Otherwise the menu would return the focus to its button, and the Enter key that followed the link would press
      // the button.
      if (item.matches('a')) focusElement(document.querySelector<HTMLElement>('main h1'))
      menu.current?.hidePopover()
    })
  }, [])
  return (
    <>
      <button type="button" class={`plain ${props.class ?? ''}`} popovertarget={id}>
        {props.button}
      </button>
      <nav popover="auto" id={id} class={props.align} ref={menu} aria-label={props.label}>
        <ul>{props.children}</ul>
      </nav>
    </>
  )
}
