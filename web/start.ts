import type { PageStart } from '../schemas/page-start.js'

/** The data that the service writes into the page. */
export const start: PageStart = JSON.parse(document.getElementById('start')?.textContent ?? '{}')
