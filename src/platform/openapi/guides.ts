/** The guides below /api/docs: Markdown in docs/guides, in the order of the numbers of its files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { marked } from 'marked'
import { limits } from '../../../schemas/limits.js'
import { projectRoot } from '../process/root.js'
import { withExtensionPrefix } from './prefix.js'

export interface Guide {
  href: string
  title: string
  /** @returns HTML, rendered on first use so that it does not delay the start */
  content(): string
}

const folder = join(projectRoot, 'docs/guides')

/** `{settings_bytes}` is the number of that limit. */
const withLimits = (text: string) =>
  text.replace(/\{([a-z_]+)\}/g, (whole, name) =>
    name in limits ? limits[name as keyof typeof limits].toLocaleString('en') : whole,
  )

export const readGuides = (extensionPrefix: string): Guide[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => {
      const text = withExtensionPrefix(withLimits(readFileSync(join(folder, file), 'utf8')), extensionPrefix)
      return {
        href: `/api/docs/${file.replace(/^\d+-|\.md$/g, '')}`,
        title: /^# (.*)$/m.exec(text)?.[1] ?? file,
        content: () => marked.parse(text, { async: false }),
      }
    })
