/** Light or dark: as the system wishes, until somebody chooses. */
import { signal } from '@preact/signals'

const NAME = 'theme'
const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const stored = (): Theme => {
  try {
    return themes.find((theme) => theme === localStorage.getItem(NAME)) ?? 'system'
  } catch {
    // A browser may refuse to store anything.
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
    // It holds until the page is left.
  }
}
