/**
 * Reads JSON texts of any size, a piece at a time. Nothing is kept, because strings come in chunks. The text is checked
 * to be JSON, but its depth and values aren't bounded.
 */
import { getManyValues, isMany, none } from 'stream-chain/core'
import { jsonParser, type Token } from 'stream-json/core/parser.js'

/** A text that isn't JSON, or is nested too deeply. */
export class InvalidJsonError extends Error {}

export class JsonTokens {
  private readonly decoder
  private readonly parse = jsonParser({ packValues: false })

  /** @param skipsMark whether a byte order mark may come first. It isn't JSON. */
  constructor({ skipsMark = false } = {}) {
    this.decoder = new TextDecoder('utf-8', { ignoreBOM: !skipsMark })
  }

  /** @throws {InvalidJsonError} */
  read(bytes: Uint8Array): Token[] {
    return this.readText(this.decoder.decode(bytes, { stream: true }))
  }

  /** @throws {InvalidJsonError} */
  readText(text: string): Token[] {
    try {
      const tokens = this.parse(text)
      return isMany(tokens) ? getManyValues(tokens) : []
    } catch {
      throw new InvalidJsonError()
    }
  }

  /** @returns the rest, such as the end of a number @throws {InvalidJsonError} when the text hasn't ended */
  end(): Token[] {
    // The package's types don't know the value that ends a text.
    return [...this.readText(this.decoder.decode()), ...this.readText(none as never)]
  }
}
