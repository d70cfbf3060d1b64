/** The texts of a settings schema that people read, without anything that a page could run. */

/** A text that the editor would replace by a translation, from a file that the service doesn't have. */
export const isPlaceholder = (text: string): boolean => /^%[^%\s]+%$/.test(text.trim())

const TAG = /<[A-Za-z/!?][^<>]*>/g

/** Until none is left: removing a tag can join the text around it to another one. */
const withoutTags = (text: string): string => {
  let [before, after] = [text, text.replace(TAG, '')]
  while (after !== before) [before, after] = [after, after.replace(TAG, '')]
  return after
}

/**
 * Markdown or plain text without raw HTML, and with no links but those to web pages and to other settings (`#key#`). A
 * link to a command of the editor becomes its text.
 */
export const cleanText = (text: string): string =>
  withoutTags(text.replace(/<(https?:\/\/[^\s<>]*)>/g, '$1'))
    // The rest of a tag without an end.
    .replace(/<(?=[A-Za-z/!?])/g, '< ')
    .replace(/!?\[([^[\]]*)\]\(\s*(?!https?:\/\/|#)[^()]*(?:\([^()]*\)[^()]*)*\)/g, '$1')
    // The rest of a link in another notation.
    .replace(/\](?=\((?!https?:\/\/|#))/g, '] ')
    .replace(/^(\s*\[[^[\]]*\]):/gm, '$1 :')
