/** The pages below /api/docs: one frame for the reference, the guides and the catalogue of errors. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../process/root.js'

export const pageFile = (name: string) => readFileSync(join(projectRoot, 'docs/reference', name), 'utf8')

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export interface Frame {
  /** The address that the product's name leads to. */
  home: string
  /** HTML: the list of guides and operations. */
  side: string
  /** The addresses of its files. */
  favicon: string
  index: string
  styleSheets: string[]
  scripts: string[]
}

const logo = `<svg width="24" height="24" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" fill="var(--blue)"/><path d="M4 11V8M8 11V4M12 11V6" stroke="var(--on-blue)" stroke-width="2" stroke-linecap="round"/></svg>`
const themeIcon = `<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6.5" fill="none" stroke="currentcolor" stroke-width="1.5"/><path d="" fill="currentcolor"/></svg>`

/**
 * A page within the frame.
 * @param controls HTML in the bar, between the filter and the theme
 * @param main HTML: the main element and what follows it
 */
const framed = (title: string, frame: Frame, controls: string, main: string) => {
  // The first script applies the theme before anything is painted.
  const [first, ...others] = frame.scripts
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(title)}: the HTTP API for the settings and the activity of teams.">
<title>${escaped(title)} · Team activity</title>
<link rel="icon" type="image/svg+xml" href="${frame.favicon}">
${frame.styleSheets.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
<script src="${first}"></script>
${others.map((src) => `<script src="${src}" defer></script>`).join('\n')}
</head>
<body>
<a class="away" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="${frame.home}">${logo} Team activity</a>
<a href="/api/docs">API reference</a>
<button type="button" class="menu" popovertarget="side">Contents</button>
<div class="filter" role="search">
<input id="filter" type="search" placeholder="Filter operations, guides and errors" aria-label="Filter operations, guides and errors" autocomplete="off" data-index="${frame.index}">
<div id="results" tabindex="-1" hidden></div>
<p class="away" id="found" role="status"></p>
</div>
${controls}<button type="button" id="theme" hidden>${themeIcon}</button>
</header>
<div class="frame">
<nav class="side" id="side" popover aria-label="Documentation">
${frame.side}
</nav>
${main}
</div>
</body>
</html>
`
}

/** A page of text. */
export const textPage = (title: string, content: string, frame: Frame) =>
  framed(title, frame, '', `<main class="text" id="content" tabindex="-1">\n${content}\n</main>`)

export const referencePage = (documents: { href: string; text: string }[], frame: Frame) =>
  framed(
    'API reference',
    frame,
    `<select id="document" aria-label="Document">${documents.map(({ href, text }) => `<option value="${href}">${escaped(text)}</option>`).join('')}</select>
`,
    `<main id="content" tabindex="-1">
<p id="caller" role="status" hidden><a href="/api/auth/repohost?return_to=/api/docs">Sign in</a> with the browser, or press Authorize</p>
<div id="reference"></div>
<noscript>The reference needs JavaScript. <a href="/api/openapi.json">The document</a> and the guides do not.</noscript>
</main>`,
  )
