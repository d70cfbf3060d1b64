/** The guides under /api/docs: the Markdown files in docs/guides, ordered by file number. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked } from 'marked'
import { limits } from '../../../schemas/limits.js'
import { own } from '../../../schemas/own.js'
import { projectRoot, serviceVersion } from '../process/root.js'
import { withExtensionPrefix } from './names.js'

export interface Section {
  /** The id of its heading. Empty for the text before the first heading of the second level. */
  id: string
  title: string
  /** Markdown. */
  text: string
}

export interface Guide {
  href: string
  title: string
  /** @returns HTML, rendered on first use so that it doesn't delay the start */
  content(): string
  markdown: string
  sections(): Section[]
}

const folder = join(projectRoot, 'docs/guides')

/** `{settings_bytes}` stands for that limit's number. */
const withValues = (text: string) =>
  text
    .replaceAll('{service_version}', serviceVersion)
    .replace(/\{([a-z_]+)\}/g, (whole, name) => own<number>(limits, name)?.toLocaleString('en') ?? whole)

/** `2. Create a workspace` is `2-create-a-workspace`. */
const idOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const id = depth === 2 ? ` id="${idOf(text)}"` : ''
      return `<h${depth}${id}>${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
  },
})

export const inlineMarkdown = (text: string) => markdown.parseInline(text, { async: false })

const sectionsOf = (text: string, title: string): Section[] =>
  text.split(/^## /m).map((part, place) => {
    const heading = part.split('\n', 1)[0] ?? ''
    return {
      id: place === 0 ? '' : idOf(heading),
      title: place === 0 ? title : heading.replaceAll('`', ''),
      text: part.slice(heading.length),
    }
  })

export const readGuides = (extensionPrefix: string): Guide[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => {
      const text = withExtensionPrefix(withValues(readFileSync(join(folder, file), 'utf8')), extensionPrefix)
      const title = /^# (.*)$/m.exec(text)?.[1] ?? file
      return {
        href: `/api/docs/${file.replace(/^\d+-|\.md$/g, '')}`,
        title,
        content: () => markdown.parse(text, { async: false }),
        markdown: text,
        sections: () => sectionsOf(text, title),
      }
    })
