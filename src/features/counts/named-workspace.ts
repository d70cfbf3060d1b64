/** Finds the workspace that a body of counts names while the body is still arriving. */

const codeOf = (character: string) => character.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const COLON = codeOf(':')
const COMMA = codeOf(',')
const OPEN_ARRAY = codeOf('[')
const CLOSE_ARRAY = codeOf(']')
const OPEN_OBJECT = codeOf('{')
const CLOSE_OBJECT = codeOf('}')

const NAME = 'workspace'
/** The length of a UUID. Longer texts are neither the name nor a workspace. */
const MAX_KEPT = 36

/**
 * Reads the outermost object's `workspace`, a piece at a time. It checks nothing: texts with escapes, or that aren't JSON,
 * are left to the parser, which comes next.
 */
export class NamedWorkspace {
  private depth = 0
  private isInText = false
  private isEscaped = false
  /** Whether the next value belongs to the name. */
  private isNamed = false
  /** The current or last text of the outermost object. Undefined if it's too long or has escapes. */
  private text: string | undefined = ''

  /** @returns what the body names, once that has arrived */
  push(chunk: Buffer): string | undefined {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (this.isInText) {
        if (this.readText(byte)) return this.text
      } else if (byte === QUOTE) {
        this.isInText = true
        this.text = ''
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.depth++
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.depth--
      else if (this.depth === 1) {
        if (byte === COLON) this.isNamed = this.text === NAME
        else if (byte === COMMA) this.isNamed = false
      }
    }
    return undefined
  }

  /** @returns whether the workspace's id is complete */
  private readText(byte: number): boolean {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) {
      this.isEscaped = true
      this.text = undefined
    } else if (byte === QUOTE) {
      this.isInText = false
      return this.depth === 1 && this.isNamed && this.text !== undefined
    } else if (this.depth === 1 && this.text !== undefined) {
      this.text = this.text.length < MAX_KEPT ? this.text + String.fromCharCode(byte) : undefined
    }
    return false
  }
}
