/** Where the keyboard is: after what had the focus went away, and with the arrow keys among things that belong together. */

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'

const controlsIn = (element: Element): HTMLElement[] =>
  [...element.querySelectorAll<HTMLElement>(CONTROLS)].filter((one) => one.checkVisibility())

/** Goes on reading at something that Tab does not stop at, such as a heading. */
export const goTo = (element: HTMLElement | null | undefined) => {
  if (!element) return
  element.tabIndex = -1
  element.focus()
}

/** Goes on at the first thing in there that can be pressed or filled in. */
export const goInto = (element: Element | null | undefined) => element && controlsIn(element)[0]?.focus()

/** A node and those that follow it in a direction. */
const beside = (first: Node | null, direction: 'nextSibling' | 'previousSibling'): Element[] => {
  const all: Element[] = []
  for (let one = first; one; one = one[direction]) if (one instanceof Element) all.push(one)
  return all
}

/** What had the focus when it was removed leaves it to what comes after it, or before it, or to the heading above. */
const followRemoved = () => {
  let had: Element | null = null
  addEventListener('focusin', ({ target }) => {
    had = target as Element
  })
  // Who clicked beside it has left it; what is removed is only known to be so a moment later.
  addEventListener('focusout', () =>
    queueMicrotask(() => {
      if (had?.isConnected && document.activeElement === document.body) had = null
    }),
  )
  new MutationObserver((records) => {
    if (!had || had.isConnected || document.activeElement !== document.body) return
    const removal = records.find(({ removedNodes }) => [...removedNodes].some((one) => one.contains(had)))
    if (!removal) return
    had = null
    const { previousSibling, target } = removal
    const next = previousSibling ? previousSibling.nextSibling : target.firstChild
    const control =
      beside(next, 'nextSibling').flatMap(controlsIn)[0] ??
      beside(previousSibling, 'previousSibling')
        .map(controlsIn)
        .find((one) => one.length > 0)
        ?.at(-1)
    if (control) control.focus()
    else goTo((target as Element).closest('section, dialog, main')?.querySelector('h1, h2'))
  }).observe(document.body, { childList: true, subtree: true })
}

const TYPING_MS = 700
let typed = ''
let lastTyped = 0

/** The one of a list that is meant by an arrow, Home, End, or the first letters of its name. */
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
  // The same letter again goes on to the next one.
  const [sought = '', from] = isOneLetter ? [typed[0], at + 1] : [typed, at]
  return [...all.slice(from), ...all.slice(0, from)].find((one) =>
    one.innerText.trim().toLowerCase().startsWith(sought),
  )
}

/** Up and down stay in the column; above the first row is the search. */
const inTable = (table: Element, from: HTMLElement, key: string): HTMLElement | undefined => {
  const rows = [...table.querySelectorAll('tbody tr')].map(controlsIn).filter((row) => row.length > 0)
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
  const target = rows[targets[key] ?? -1]
  return target?.[Math.min(column, target.length - 1)]
}

const searchOf = (table: Element) =>
  table.closest('section')?.querySelector<HTMLInputElement>('input[type="search"]') ?? undefined

/** Lists in which arrows go from one to the next; Tab goes there as well. */
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
    return key === 'ArrowDown' && row ? controlsIn(row)[0] : undefined
  }
  // Fields and radio buttons know what to do with arrows.
  if (!from.matches('a, button')) return undefined
  const menu = from.getAttribute('popovertarget')
  if (menu && key === 'ArrowDown') {
    const open = document.getElementById(menu)
    return open?.matches(':popover-open') ? controlsIn(open)[0] : undefined
  }
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
