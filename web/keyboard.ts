/** Keyboard focus: moves it on when its element is removed, and moves it by arrow keys within lists and tables. */
import { own } from '../schemas/own.js'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'

const allControlsIn = (element: Element) => [...element.querySelectorAll<HTMLElement>(CONTROLS)]

const isVisible = (one: HTMLElement) => one.checkVisibility()

const controlsIn = (element: Element): HTMLElement[] => allControlsIn(element).filter(isVisible)

/** Arrow keys change the value of fields, so they never move to a field. */
const buttonsIn = (element: Element): HTMLElement[] =>
  controlsIn(element).filter((one) => one.matches('a, button'))

/** Focuses an element that Tab skips, such as a heading. */
export const focusElement = (element: HTMLElement | null | undefined) => {
  if (!element) return
  element.tabIndex = -1
  element.focus()
}

/** Focuses the first control in an element. */
export const focusFirstIn = (element: Element | null | undefined) =>
  element && allControlsIn(element).find(isVisible)?.focus()

/** The elements from a node on, in one direction. */
const siblings = (first: Node | null, direction: 'nextSibling' | 'previousSibling'): Element[] => {
  const all: Element[] = []
  for (let one = first; one; one = one[direction]) if (one instanceof Element) all.push(one)
  return all
}

let focused: Element | null = null

/** Lets the focused element, such as a dialog opened by a key, be removed without moving the focus. */
export const releaseFocus = () => {
  focused = null
}

/** When the focused element is removed, focuses the next control, the previous one, or the heading above. */
const followRemoved = () => {
  addEventListener('focusin', ({ target }) => {
    focused = target as Element
  })
  // A click elsewhere also blurs the element. Whether it was removed becomes known only a moment later.
  addEventListener('focusout', () =>
    queueMicrotask(() => {
      if (focused?.isConnected && document.activeElement === document.body) focused = null
    }),
  )
  new MutationObserver((records) => {
    if (!focused || focused.isConnected || document.activeElement !== document.body) return
    const removal = records.find(({ removedNodes }) => [...removedNodes].some((one) => one.contains(focused)))
    if (!removal) return
    focused = null
    const { previousSibling, target } = removal
    const next = previousSibling ? previousSibling.nextSibling : target.firstChild
    const control =
      siblings(next, 'nextSibling').flatMap(allControlsIn).find(isVisible) ??
      siblings(previousSibling, 'previousSibling')
        .flatMap((one) => allControlsIn(one).reverse())
        .find(isVisible)
    if (control) control.focus()
    else focusElement((target as Element).closest('section, dialog, main')?.querySelector('h1, h2'))
  }).observe(document.body, { childList: true, subtree: true })
}

const TYPING_MS = 700
let typed = ''
let lastTyped = 0

/** The list item that an arrow key, Home, End or the first letters of its name point to. */
const inList = (all: HTMLElement[], at: number, key: string): HTMLElement | undefined => {
  if (key === 'ArrowDown' || key === 'ArrowRight') return all[at + 1]
  if (key === 'ArrowUp' || key === 'ArrowLeft') return all[at - 1]
  if (key === 'Home') return all[0]
  if (key === 'End') return all.at(-1)
  if (!/^\S$/u.test(key)) return undefined
  const now = Date.now()
  typed = (now - lastTyped < TYPING_MS ? typed : '') + key.toLowerCase()
  lastTyped = now
  const isOneLetter = [...typed].every((letter) => letter === typed[0])
  // Typing the same letter again moves to the next match.
  const [sought = '', from] = isOneLetter ? [typed[0], at + 1] : [typed, at]
  return [...all.slice(from), ...all.slice(0, from)].find((one) =>
    one.innerText.trim().toLowerCase().startsWith(sought),
  )
}

/** Up and down stay in the column. Up from the first row goes to the search field. */
const inTable = (table: Element, from: HTMLElement, key: string): HTMLElement | undefined => {
  const rows = [...table.querySelectorAll('tbody tr')].map(buttonsIn).filter((row) => row.length > 0)
  const at = rows.findIndex((row) => row.includes(from))
  const row = rows[at]
  if (!row) return undefined
  const column = row.indexOf(from)
  if (key === 'ArrowLeft') return row[column - 1]
  if (key === 'ArrowRight') return row[column + 1]
  if (key === 'ArrowUp' && at === 0) return searchOf(table)
  const targets: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.length - 1,
  }
  const target = rows[own(targets, key) ?? -1]
  return target?.[Math.min(column, target.length - 1)]
}

const searchOf = (table: Element) =>
  table.closest('section')?.querySelector<HTMLInputElement>('input[type="search"]') ?? undefined

/** Lists whose items can be reached by arrow keys as well as by Tab. */
const LISTS = 'nav ul, [popover] ul, .choices, .people'

const arrow = (event: KeyboardEvent) => {
  const from = event.target
  if (!(from instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return
  const { key } = event
  if (key.length > 1) typed = ''
  const to = targetOf(from, key)
  if (!to) return
  event.preventDefault()
  to.focus()
}

const targetOf = (from: HTMLElement, key: string): HTMLElement | undefined => {
  if (from.matches('input[type="search"]')) {
    const row = from.closest('section')?.querySelector('tbody')
    return key === 'ArrowDown' && row ? buttonsIn(row)[0] : undefined
  }
  // Fields and radio buttons handle arrow keys themselves.
  if (!from.matches('a, button')) return undefined
  const menu = from.getAttribute('popovertarget')
  const open = menu ? document.getElementById(menu) : null
  if (open?.matches(':popover-open') && key === 'ArrowDown') return controlsIn(open)[0]
  const list = from.closest(LISTS)
  if (list) {
    const all = controlsIn(list)
    return inList(all, all.indexOf(from), key)
  }
  const table = from.closest('table')
  return table ? inTable(table, from, key) : undefined
}

export const startKeyboard = () => {
  followRemoved()
  addEventListener('keydown', arrow)
}
