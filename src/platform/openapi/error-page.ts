/** The error catalogue as a page for people. The `type` of every problem links to it. */
import { STATUS_CODES } from 'node:http'
import {
  type ErrorCode,
  errorCatalogue,
  errorCodes,
  Problem,
  problemExtras,
} from '../../../schemas/errors.js'
import { exampleOf } from './errors.js'
import { escapeHtml } from './pages.js'

/** Text with `code` between backticks. */
const prose = (text: string) => escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>')

const propertiesOf = (code: ErrorCode) => {
  const names = Object.keys(problemExtras[code] ?? {}) as (keyof typeof Problem.properties)[]
  if (names.length === 0) return ''
  const items = names.map(
    (name) => `<li><code>${name}</code>: ${prose(Problem.properties[name].description ?? '')}</li>`,
  )
  return `<p>Additional properties:</p>\n<ul>${items.join('')}</ul>\n`
}

const entryOf = (code: ErrorCode) => `<section id="${code}">
<h3><a href="#${code}"><code>${code}</code></a></h3>
<p>${prose(errorCatalogue[code][1])}</p>
${propertiesOf(code)}<pre>${escapeHtml(JSON.stringify(exampleOf(code), null, 2))}</pre>
</section>`

/** The statuses, with their codes. */
const statuses = [...new Set(errorCodes.map((code): number => errorCatalogue[code][0]))]
  .sort((a, b) => a - b)
  .map((status) => ({
    id: `status-${status}`,
    title: `${status} ${STATUS_CODES[status]}`,
    codes: errorCodes.filter((code) => errorCatalogue[code][0] === status),
  }))

export const errorSections = statuses.map(({ id, title }) => ({ id, title }))

/** The page's content, in HTML. */
export const errorCataloguePage = (): string => {
  const contents = statuses.map(
    ({ id, title, codes }) =>
      `<h3><a href="#${id}">${title}</a></h3>\n<ul>${codes.map((code) => `<li><a href="#${code}"><code>${code}</code></a></li>`).join('')}</ul>`,
  )
  const entries = statuses.map(
    ({ id, title, codes }) => `<h2 id="${id}">${title}</h2>\n${codes.map(entryOf).join('\n')}`,
  )
  return `<h1>Errors</h1>
<p>The response to a failed request is a problem document (RFC 9457, <code>application/problem+json</code>). Its <code>code</code> is stable, so programs can rely on it. The <code>detail</code> is for people. The <code>request_id</code> is the <code>X-Request-Id</code> of the response. Quote it when you ask for help. The <a href="/api/docs">reference</a> lists the codes of each operation.</p>
<nav class="contents" aria-label="Error codes">
<h2>Contents</h2>
${contents.join('\n')}
</nav>
${entries.join('\n')}`
}
