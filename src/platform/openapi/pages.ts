/** The pages below /api/docs: the reference itself, and the layout of all others. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../process/root.js'

export const pageFile = (name: string) => readFileSync(join(projectRoot, 'docs/reference', name), 'utf8')

const TITLE = 'Team Settings and Activity Cloud Service'

export interface Link {
  href: string
  text: string
}

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const head = (title: string, rest: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
${rest}
</head>`

/** A page of text. */
export const textPage = (page: {
  title: string
  /** HTML. */
  content: string
  links: Link[]
  href: string
  /** The addresses of its files. */
  favicon: string
  styleSheet: string
}) => {
  const links = page.links.map(
    ({ href, text }) =>
      `<a href="${href}"${href === page.href ? ' aria-current="page"' : ''}>${escaped(text)}</a>`,
  )
  return `${head(
    `${page.title}: ${TITLE}`,
    `<link rel="icon" type="image/svg+xml" href="${page.favicon}">
<link rel="stylesheet" href="${page.styleSheet}">`,
  )}
<body>
<nav aria-label="Documentation">${links.join('\n')}</nav>
<main>
${page.content}
</main>
</body>
</html>
`
}

export const referencePage = (page: {
  documents: Link[]
  links: Link[]
  favicon: string
  styleSheets: string[]
  scripts: string[]
}) => `${head(
  TITLE,
  [
    `<link rel="icon" type="image/svg+xml" href="${page.favicon}">`,
    ...page.styleSheets.map((href) => `<link rel="stylesheet" href="${href}">`),
  ].join('\n'),
)}
<body>
<header class="bar">
<a class="home" href="/api/docs"><img src="${page.favicon}" alt="" width="28" height="28"> Reference</a>
<p id="caller" role="status" hidden><a href="/api/auth/repohost?return_to=/api/docs">Sign in</a> with the browser, or press Authorize</p>
<div role="search">
<input id="filter" type="search" placeholder="Filter by path, summary or operation" aria-label="Filter operations" autocomplete="off">
<select id="document" aria-label="Document">${page.documents.map(({ href, text }) => `<option value="${href}">${escaped(text)}</option>`).join('')}</select>
</div>
</header>
<nav class="guides" aria-label="Documentation">${page.links.map(({ href, text }) => `<a href="${href}">${escaped(text)}</a>`).join('\n')}</nav>
<main id="reference"><noscript>The reference needs JavaScript. <a href="/api/openapi.json">The document</a> and the guides do not.</noscript></main>
${page.scripts.map((src) => `<script src="${src}"></script>`).join('\n')}
</body>
</html>
`
