/** Light or dark: follows the system until the person chooses. */
import { signal } from '@preact/signals'
import { readStored, store } from './storage.js'

const NAME = 'theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = signal<Theme>(themes.find((theme) => theme === readStored(NAME)) ?? 'system')

/** The header's colors, for the browser's own bars. */
const colors = { light: '#ffffff', dark: '#151c25' }

export const applyTheme = () => {
  document.documentElement.dataset.theme = theme.value
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const system = meta.media.includes('dark') ? 'dark' : 'light'
    meta.content = colors[theme.value === 'system' ? system : theme.value]
  }
}

export const setTheme = (next: Theme) => {
  theme.value = next
  applyTheme()
  store(NAME, next)
}

export const nextTheme = () => setTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system')
