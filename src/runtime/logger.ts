import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * An error as it may be logged: only what is listed here. The error of a failed statement carries the statement's
 * parameters (invite codes, settings) in its message, its stack and its own properties.
 */
const describe = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: 'not an Error' }
  const { name, message, stack, cause } = error
  return {
    type: name,
    code: (error as { code?: unknown }).code,
    message: message.split('\nparams:')[0],
    stack: stack?.split('\n').filter((line) => /^\s+at /.test(line)),
    ...(cause !== undefined && { cause: describe(cause) }),
  }
}

export const createLogger = (level: string, destination: DestinationStream): Logger =>
  pino({ level, serializers: { err: describe } }, destination)

/**
 * Lines are written in batches, because a system call per line would cost more than the line; and in pieces that a pipe
 * takes whole, so that lines of several processes do not mix.
 */
const BATCH = 4_096
const BATCH_MS = 500
/** When this much is unread, because nobody reads any more, further lines are dropped. */
const UNREAD = 2 ** 24
/** How long the end waits for such a reader. */
const END_MS = 500

export interface LogOutput extends DestinationStream {
  /** Resolves when everything is written, or nobody reads it. */
  end(): Promise<void>
}

/** Standard output, written in batches. Without a reader lines are dropped silently. */
export const openLogOutput = (): LogOutput => {
  let batch = ''
  const flush = (done = () => {}) => {
    const text = process.stdout.writableLength > UNREAD ? '' : batch
    batch = ''
    process.stdout.write(text, () => done())
  }
  setInterval(() => batch !== '' && flush(), BATCH_MS).unref()
  return {
    write: (line) => {
      if (batch.length + line.length > BATCH) flush()
      batch += line
    },
    end: () =>
      new Promise((resolve) => {
        setTimeout(resolve, END_MS).unref()
        flush(resolve)
      }),
  }
}
