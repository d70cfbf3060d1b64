/** The documentation's contents: the list beside every page, and the entries that the filter finds. */
import { ERROR_PAGE, errorCatalogue, errorCodes } from '../../../schemas/errors.js'
import type { Document } from './complete-document.js'
import type { Guide } from './guides.js'
import { escapeHtml } from './pages.js'

const REFERENCE = '/api/docs'
/** The two documents' names, and the reference's parameter that selects one. */
export const CORE = 'Core sync'
export const EVERYTHING = 'Everything'
export const DOCUMENT_PARAMETER = 'urls.primaryName'

export interface OperationEntry {
  tag: string
  isCore: boolean
  method: string
  path: string
  operationId: string
  summary: string
  description: string
  /** Its parameters' names. */
  parameters: string[]
  href: string
}

/** The whole document's operations. Those outside the core open in the document "Everything". */
export const operationEntries = (full: Document, core: Document): OperationEntry[] =>
  Object.entries(full.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId, summary = '', description, tags = [], parameters = [] }]) => {
        const [tag = ''] = tags
        const isCore = core.paths[path]?.[method] !== undefined
        const query = isCore ? '' : `?${DOCUMENT_PARAMETER}=${EVERYTHING}`
        const href = `${REFERENCE}${query}#/${tag}/${operationId}`
        const names = parameters.map(({ name }) => name)
        return {
          tag,
          isCore,
          method: method.toUpperCase(),
          path,
          operationId,
          summary,
          description,
          parameters: names,
          href,
        }
      },
    ),
  )

interface Page {
  href: string
  title: string
  sections: { id: string; title: string }[]
}

const linkOf = (href: string, html: string, current: boolean) =>
  `<a href="${escapeHtml(href)}"${current ? ' aria-current="page"' : ''}>${html}</a>`

const methodOf = (method: string) => `<span class="method ${method.toLowerCase()}">${method}</span>`

/**
 * The whole document's operations in HTML, grouped by tag. Its size doesn't depend on the operations' content,
 * because the reference fills in an operation when a reader opens it.
 */
export const operationListOf = (operations: OperationEntry[], tags: Document['tags']) => {
  const rowOf = ({ tag, isCore, method, path, operationId, summary }: OperationEntry) =>
    `<details class="operation${isCore ? '' : ' beyond-core'}" data-operation="${escapeHtml(`${tag}/${operationId}`)}">
<summary>${methodOf(method)} <code>${escapeHtml(path)}</code> <span>${escapeHtml(summary)}</span></summary>
<div class="body"></div>
</details>`
  const groupOf = ({ name, description }: Document['tags'][number]) => {
    const ofTag = operations.filter(({ tag }) => tag === name)
    return `<details class="group${ofTag.some(({ isCore }) => isCore) ? '' : ' beyond-core'}" data-tag="${escapeHtml(name)}" open>
<summary><h2>${escapeHtml(name)}</h2> <span>${escapeHtml(description)}</span></summary>
${ofTag.map(rowOf).join('\n')}
</details>`
  }
  return tags.map(groupOf).join('\n')
}

/**
 * The list next to a page, in HTML.
 * @param current the page's address. Its sections are listed as well.
 */
export const renderSidebar = (
  pages: Page[],
  operations: OperationEntry[],
  tags: Document['tags'],
  current: string,
) => {
  const guides = pages.map(({ href, title, sections }) => {
    const isCurrent = href === current
    const items = isCurrent
      ? sections.map((section) => `<li>${linkOf(`#${section.id}`, escapeHtml(section.title), false)}</li>`)
      : []
    const list = items.length > 0 ? `<ul>${items.join('')}</ul>` : ''
    return `<li>${linkOf(href, escapeHtml(title), isCurrent)}${list}</li>`
  })
  const groups = tags.map(({ name }) => {
    const items = operations
      .filter(({ tag }) => tag === name)
      .map(({ href, method, summary }) => {
        const html = `${methodOf(method)} ${escapeHtml(summary)}`
        return `<li>${linkOf(href, html, false)}</li>`
      })
    return `<details><summary>${escapeHtml(name)}</summary><ul>${items.join('\n')}</ul></details>`
  })
  return `<h2>Guides</h2>\n<ul>${guides.join('\n')}</ul>\n<h2>Operations</h2>\n${groups.join('\n')}`
}

/** Markdown without its marks. */
const plain = (text: string) =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/```\w*|\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The entries that the filter finds, as JSON: `{ href, kind, title, text }`. */
export const filterIndex = (operations: OperationEntry[], guides: Guide[]): string =>
  JSON.stringify([
    ...operations.map(({ href, method, path, summary, operationId, description, parameters }) => ({
      href,
      kind: method,
      title: summary,
      text: plain(`${path} ${operationId} ${description} ${parameters.join(' ')}`),
    })),
    ...guides.flatMap((guide) =>
      guide.sections().map(({ id, title, text }) => ({
        href: id ? `${guide.href}#${id}` : guide.href,
        kind: 'Guide',
        title: id ? `${guide.title}: ${plain(title)}` : title,
        text: plain(text),
      })),
    ),
    ...errorCodes.map((code) => ({
      href: `${ERROR_PAGE}#${code}`,
      kind: 'Error',
      title: code,
      text: plain(`${errorCatalogue[code][0]} ${errorCatalogue[code][1]}`),
    })),
  ])
