/** Light or dark: follows the system until the person chooses. */
import { signal } from '@preact/signals'

const NAME = 'theme'
const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const stored = (): Theme => {
  try {
    return themes.find((theme) => theme === localStorage.getItem(NAME)) ?? 'system'
  } catch {
    // The browser may block storage.
    return 'system'
  }
}

export const theme = signal<Theme>(stored())

export const applyTheme = () => {
  document.documentElement.dataset.theme = theme.value
}

export const nextTheme = () => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
  applyTheme()
  try {
    localStorage.setItem(NAME, theme.value)
  } catch {
    // The choice lasts until the page is closed.
  }
}
