/** A file's bytes as they arrive, of which a reader can take as many as it needs. */
export class ByteSource {
  private readonly chunks: AsyncIterator<Buffer>
  /** Bytes that have arrived and weren't taken. */
  private held: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next bytes, which stay. There are fewer only at the end. */
  async peek(length: number): Promise<Buffer> {
    while (this.held.length < length) {
      const { done, value } = await this.chunks.next()
      if (done) break
      this.held = this.held.length === 0 ? value : Buffer.concat([this.held, value])
    }
    return this.held.subarray(0, length)
  }

  /** Takes the next bytes. There are fewer only at the end. */
  async take(length: number): Promise<Buffer> {
    const taken = await this.peek(length)
    this.held = this.held.subarray(taken.length)
    return taken
  }

  /** Takes the bytes that have arrived, at most so many. None: the file has ended. */
  async takeSome(most: number): Promise<Buffer> {
    if (this.held.length === 0) await this.peek(1)
    return this.take(Math.min(most, this.held.length))
  }

  /** The next bytes are these again. */
  giveBack(bytes: Buffer): void {
    this.held = this.held.length === 0 ? bytes : Buffer.concat([bytes, this.held])
  }

  /** Takes all bytes that are left. */
  async *rest(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = await this.takeSome(Number.POSITIVE_INFINITY)
      if (piece.length === 0) return
      yield piece
    }
  }

  /** Ends the file early. */
  async close(): Promise<void> {
    await this.chunks.return?.()
  }
}
