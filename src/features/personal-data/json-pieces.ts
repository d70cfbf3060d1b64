/** A JSON object with lists that may not fit in memory. */
import { PIECE_LENGTH } from '../../platform/http/streaming.js'

type Pages = Iterable<string[]> | AsyncIterable<string[]>

/**
 * @param head the beginning of the object, with at least one property
 * @param lists by their names: pages of items in JSON
 */
export async function* jsonPieces(
  head: string,
  lists: Iterable<readonly [name: string, pages: Pages]>,
): AsyncGenerator<string> {
  let text = head
  for (const [name, pages] of lists) {
    text += `,"${name}":[`
    let separator = ''
    for await (const items of pages) {
      for (const item of items) {
        text += separator + item
        separator = ','
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
    text += ']'
  }
  yield `${text}}`
}
