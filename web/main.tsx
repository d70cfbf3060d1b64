import { render } from 'preact'
import { App } from './app.js'
import { startBackGuard } from './back.js'
import { startKeyboard } from './keyboard.js'
import { startShortcuts } from './shortcuts.js'
import { applyTheme } from './theme.js'

applyTheme()
startKeyboard()
startShortcuts()
startBackGuard()
const root = document.getElementById('app')
// Rendered in a separate task, because on a phone, running the scripts already makes a long one.
if (root) setTimeout(() => render(<App />, root))
