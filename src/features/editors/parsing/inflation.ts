import { once } from 'node:events'
import type { Gunzip, InflateRaw } from 'node:zlib'

/** How many bytes to unpack at once. They unpack to at most 4 MiB. */
export const PIECE_BYTES = 4_096

/** Unpacks a stream piece by piece, and knows where it ends. */
export class Inflation {
  private parts: Buffer[] = []
  private readonly failed: Promise<never>
  private readonly ended: Promise<void>

  /** @param toError the error for a broken stream */
  constructor(
    private readonly stream: Gunzip | InflateRaw,
    toError: (reason: string) => Error,
  ) {
    stream.on('data', (part: Buffer) => this.parts.push(part))
    // After an error, the callbacks of `write` and `end` may never be called.
    this.failed = once(stream, 'error').then(([error]): never => {
      throw toError(error.message)
    })
    this.failed.catch(() => {})
    // The end can come during any `write`, whose callback is then never called either.
    this.ended = new Promise((resolve) => stream.once('end', resolve))
  }

  get hasEnded(): boolean {
    return this.stream.readableEnded
  }

  /** @returns how many of the bytes belong to the stream */
  async write(piece: Buffer): Promise<number> {
    if (this.hasEnded) return 0
    const before = this.stream.bytesWritten
    const written = new Promise<void>((resolve) => this.stream.write(piece, () => resolve()))
    await Promise.race([this.failed, this.ended, written])
    return this.stream.bytesWritten - before
  }

  /** Ends a stream that must be complete. */
  async end(): Promise<void> {
    this.stream.end()
    await Promise.race([this.failed, this.ended])
  }

  /** What was unpacked since the last call. */
  takeParts(): Buffer[] {
    const parts = this.parts
    this.parts = []
    return parts
  }

  destroy(): void {
    this.stream.destroy()
  }
}
