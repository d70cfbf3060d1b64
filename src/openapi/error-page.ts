/** The catalogue of errors as a page for people, to which the `type` of every problem leads. */
import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errorCatalogue, errorCodes, Problem, problemExtras } from '../../schemas/errors.js'
import { exampleOf } from './errors.js'

const style = `
body { max-width: 46rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em }
pre { padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; background: #f3f4f6 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8c959f }
section:target { outline: 2px solid #0550ae; outline-offset: 0.5rem }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117 }
  pre { background: #161b22 }
  a { color: #79c0ff }
}
`

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Text with `code` between backticks. */
const prose = (text: string) => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>')

const membersOf = (code: ErrorCode) => {
  const names = Object.keys(problemExtras[code] ?? {}) as (keyof typeof Problem.properties)[]
  if (names.length === 0) return ''
  const items = names.map(
    (name) => `<li><code>${name}</code>: ${prose(Problem.properties[name].description ?? '')}</li>`,
  )
  return `<p>Further members:</p>\n<ul>${items.join('')}</ul>\n`
}

const entryOf = (code: ErrorCode) => `<section id="${code}">
<h3><a href="#${code}"><code>${code}</code></a></h3>
<p>${prose(errorCatalogue[code][1])}</p>
${membersOf(code)}<pre>${escaped(JSON.stringify(exampleOf(code), null, 2))}</pre>
</section>`

const statusOf = (status: number) => `<h2>${status} ${STATUS_CODES[status]}</h2>
${errorCodes
  .filter((code) => errorCatalogue[code][0] === status)
  .map(entryOf)
  .join('\n')}`

/** The page, and its content security policy, which allows nothing but its own style. */
export const errorPage = (): { html: string; policy: string } => {
  const statuses = [...new Set(errorCodes.map((code): number => errorCatalogue[code][0]))].sort(
    (a, b) => a - b,
  )
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors: Team Settings and Activity Cloud Service</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Errors</h1>
<p>Every failure is answered with a problem document (RFC 9457, <code>application/problem+json</code>). Decide on its <code>code</code>, which is stable; <code>detail</code> is for people. <code>request_id</code> is the <code>X-Request-Id</code> of the answer; name it when you ask for help. The <a href="/api/docs">reference</a> says which codes each operation can answer.</p>
${statuses.map(statusOf).join('\n')}
</main>
</body>
</html>
`
  const styleHash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return { html, policy }
}
