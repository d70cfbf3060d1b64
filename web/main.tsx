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
// In a task of its own, because running the scripts takes one on a phone.
if (root) setTimeout(() => render(<App />, root))
