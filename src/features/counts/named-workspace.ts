/** Finds the workspace that a body of counts names while the body is still arriving. */
import { JsonTokens, NoJsonError } from '../../platform/http/json-tokens.js'

const NAME = 'workspace'
/** The length of a UUID. Longer texts are neither the name nor a workspace. */
const MAX_TEXT = 36
/** Clients name the workspace first. One that's named later is checked once the body is complete. */
const MAX_READ = 16_384
/** Most names are in the first piece. */
const PIECE_BYTES = 256

/** Reads the outermost object's `workspace`, a piece at a time. A text that isn't JSON is left to the parser. */
export class NamedWorkspace {
  private readonly tokens = new JsonTokens()
  private left = MAX_READ
  private depth = 0
  /** Whether the current value belongs to the name. */
  private isNamed = false
  /** The current or last text of the outermost object. Longer ones are cut. */
  private text = ''

  /** @returns what the body names, once that has arrived */
  push(chunk: Buffer): string | undefined {
    const piece = chunk.subarray(0, this.left)
    this.left -= piece.length
    try {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        const workspace = this.find(piece.subarray(at, at + PIECE_BYTES))
        if (workspace !== undefined) return workspace
      }
    } catch (error) {
      if (!(error instanceof NoJsonError)) throw error
      this.left = 0
    }
    return undefined
  }

  private find(piece: Buffer): string | undefined {
    for (const token of this.tokens.read(piece)) {
      if (token.name === 'startObject' || token.name === 'startArray') this.depth++
      else if (token.name === 'endObject' || token.name === 'endArray') this.depth--
      else if (this.depth !== 1) continue
      else if (token.name === 'startKey' || token.name === 'startString') this.text = ''
      else if (token.name === 'stringChunk') this.text = (this.text + token.value).slice(0, MAX_TEXT + 1)
      else if (token.name === 'endKey') this.isNamed = this.text === NAME
      else if (token.name === 'endString' && this.isNamed) return this.text
    }
    return undefined
  }
}
