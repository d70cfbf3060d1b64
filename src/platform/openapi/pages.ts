/** The pages below /api/docs: one frame for the reference, the guides and the catalogue of errors. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../process/root.js'

export const pageFile = (name: string) => readFileSync(join(projectRoot, 'docs/reference', name), 'utf8')

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export interface Frame {
  /** The address that the product's name links to. */
  home: string
  /** HTML: the list of guides and operations. */
  side: string
  /** The addresses of the page's files. */
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
const renderInFrame = (title: string, frame: Frame, controls: string, main: string) => {
  // The first script applies the theme before anything is painted.
  const [first, ...others] = frame.scripts
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(title)}: the HTTP API for the settings and the activity of teams.">
<title>${escapeHtml(title)} · Team Settings &amp; Activity</title>
<link rel="icon" type="image/svg+xml" href="${frame.favicon}">
${frame.styleSheets.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
<script src="${first}"></script>
${others.map((src) => `<script src="${src}" defer></script>`).join('\n')}
</head>
<body>
<a class="away" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="${frame.home}">${logo} Team Settings &amp; Activity</a>
<a href="/api/docs">API reference</a>
<button type="button" class="menu" popovertarget="side">Contents</button>
<div class="filter" role="search">
<input id="filter" type="search" placeholder="Search the API" aria-label="Search the API" autocomplete="off" data-index="${frame.index}">
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
  renderInFrame(title, frame, '', `<main class="text" id="content" tabindex="-1">\n${content}\n</main>`)

interface Reference {
  /** The name and the address of each document. The first one is the core. */
  documents: { href: string; text: string }[]
  /** The name of the document that is shown first. */
  shown: string
  isSignedIn: boolean
  info: { version: string; description: string }
  /** HTML. */
  operations: string
  /** The addresses of Swagger UI, which is loaded when a reader needs it. */
  swaggerUi: { script: string; styleSheet: string }
  /** The address of the module that writes code samples. */
  codeSamples: string
}

const lockIcon = `<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="M15.8 8H14V5.6C14 2.7 12.7 1 10 1 7.2 1 6 2.7 6 5.6V6h2v-.8C8 3.9 8.6 3 10 3c1.3 0 2 .9 2 2.2V8H4c-.6 0-1 .5-1 1v8c0 .7.6 1.4 1.2 1.6.6.2 1.2.4 1.8.4h8c.6 0 1.2-.2 1.8-.4.6-.2 1.2-.9 1.2-1.6V9c0-.5-.6-1-1.2-1z" fill="currentcolor"/></svg>`

export const referencePage = (
  { documents, shown, isSignedIn, info, operations, swaggerUi, codeSamples }: Reference,
  frame: Frame,
) => {
  const options = documents.map(
    ({ href, text }) =>
      `<option value="${href}"${text === shown ? ' selected' : ''}>${escapeHtml(text)}</option>`,
  )
  const isCore = shown === documents[0]?.text
  const signIn = '<a href="/api/auth/repohost?return_to=/api/docs">Sign in</a>, or select Authorize'
  return renderInFrame(
    'API reference',
    frame,
    `<select id="document" aria-label="Document" autocomplete="off">${options.join('')}</select>
`,
    `<main id="content" class="reference${isCore ? ' core' : ''}" tabindex="-1" data-script="${swaggerUi.script}" data-style-sheet="${swaggerUi.styleSheet}" data-code-samples="${codeSamples}">
<p id="caller" role="status">${isSignedIn ? '' : signIn}</p>
<h1>API reference<span class="core-title">: core sync</span> <small>${escapeHtml(info.version)}</small> <small>OAS 3.1</small></h1>
<p>${info.description}</p>
<noscript><p>Operations need JavaScript. The <a href="/api/openapi.json">OpenAPI document</a> and the guides don’t.</p></noscript>
<button type="button" id="authorize" aria-haspopup="dialog">Authorize ${lockIcon}</button>
<div id="authorizing"></div>
${operations}
<details class="group" id="schemas">
<summary><h2>Schemas</h2></summary>
<div class="body"></div>
</details>
</main>`,
  )
}
