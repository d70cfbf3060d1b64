/** The settings schema: how the operator's extension describes its settings. */
import type { ComponentChildren } from 'preact'
import type { AnswerOf } from '../client/src/operations.js'
import { useRead } from './api.js'
import { SettingKey } from './setting-key.js'
import { type Properties, plainText } from './setting-text.js'
import { start } from './start.js'

export type Schema = AnswerOf<'GET /api/settings-schema'>

/** The schema, or `undefined` in `data` and `isNone` if the service has none. */
export const useSchema = () => ({
  isNone: !start.settings_schema,
  ...useRead('GET /api/settings-schema', start.settings_schema ? {} : undefined),
})

export const propertiesOf = (schema: Schema | undefined): Properties =>
  (schema?.properties ?? {}) as Properties

const MARKS = /(`[^`]+`|\[[^\]]*\]\(https?:\/\/[^)\s]+\)|\*\*[^*]+\*\*)/

/** Descriptions with code, links to web pages and the names of other settings. Everything else is text. */
export const Markdown = ({ text }: { text: string }) => (
  <>
    {text.split(MARKS).map((part, index): ComponentChildren => {
      const link = part.match(/^\[([^\]]*)\]\((https?:[^)\s]+)\)$/)
      if (link)
        return (
          <a key={index} href={link[2]} rel="noreferrer" target="_blank">
            {link[1]}
          </a>
        )
      if (part.startsWith('**')) return <strong key={index}>{part.slice(2, -2)}</strong>
      const setting = part.match(/^`#(.+)#`$/)
      if (setting?.[1]) return <SettingKey key={index} name={setting[1]} />
      if (part.startsWith('`') && part.length > 2)
        return (
          <code key={index} class="mono">
            {part.slice(1, -1)}
          </code>
        )
      return plainText(part)
    })}
  </>
)
