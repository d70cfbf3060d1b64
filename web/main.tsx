import { render } from 'preact'
import { App } from './app.js'
import { startKeyboard } from './keyboard.js'
import { applyTheme } from './theme.js'

applyTheme()
startKeyboard()
const root = document.getElementById('app')
if (root) render(<App />, root)
