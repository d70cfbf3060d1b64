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
// Rendered in a separate task, because on a phone, evaluating the scripts is already a long task.
if (root) setTimeout(() => render(<App />, root))
