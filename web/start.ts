import type { PageStart } from '../schemas/page-start.js'

/** What the service wrote into the page. */
export const start: PageStart = JSON.parse(document.getElementById('start')?.textContent ?? '{}')
