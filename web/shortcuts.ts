/** Keys that work on every screen, and the panel they opened. */
import { signal } from '@preact/signals'
import { readStored, store } from './storage.js'

type Panel = 'search' | 'help' | 'workspaces'

export const panel = signal<Panel | undefined>(undefined)

export const openPanel = (name: Panel) => {
  panel.value = name
}

/** A closing dialog's event can come after the other one has opened. */
export const closePanel = (own: Panel) => {
  if (panel.value === own) panel.value = undefined
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

const NAME = 'single-keys'

/** Keys without a modifier can get in the way of voice control, so people can turn them off. */
export const singleKeys = signal(readStored(NAME) !== 'off')

export const setSingleKeys = (on: boolean) => {
  singleKeys.value = on
  store(NAME, on ? 'on' : 'off')
}

const isField = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, select, textarea'))

/** Focuses the screen's search field. @returns whether it has one */
const focusSearchField = (): boolean => {
  const [field] = [...document.querySelectorAll<HTMLInputElement>('main input[type="search"]')].filter(
    (one) => one.checkVisibility(),
  )
  field?.focus()
  return field !== undefined
}

/** Presses the screen's button that has this key. @returns whether there is one */
const pressButton = (key: string): boolean => {
  const button = document.querySelector<HTMLElement>(
    `main [aria-keyshortcuts="${CSS.escape(key.toLowerCase())}"]`,
  )
  button?.click()
  return button !== null
}

/** The attribute of a button that can be pressed by a single key. */
export const keyShortcut = (key: string | undefined) => (singleKeys.value ? key : undefined)

const onKey = (event: KeyboardEvent) => {
  const { key, ctrlKey, metaKey, altKey, repeat } = event
  if (event.defaultPrevented || altKey || repeat || document.querySelector('dialog[open]')) return
  if (key.toLowerCase() === 'k' && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey)) openPanel('search')
  else if (ctrlKey || metaKey || !singleKeys.value || isField(event.composedPath()[0])) return
  else if (key === '?') openPanel('help')
  else if (key === '/') {
    if (!focusSearchField()) openPanel('search')
  } else if (!pressButton(key)) return
  event.preventDefault()
}

export const startShortcuts = () => addEventListener('keydown', onKey)
