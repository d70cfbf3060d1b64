import { render } from 'preact'
import { App } from './app.js'
import { startKeyboard } from './keyboard.js'
import { startShortcuts } from './shortcuts.js'
import { applyTheme } from './theme.js'

applyTheme()
startKeyboard()
startShortcuts()
const root = document.getElementById('app')
if (root) render(<App />, root)
