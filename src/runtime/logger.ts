import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * An error as it may be logged. A failed statement's error carries the statement's parameters, among them codes and
 * settings, in its message, its stack and its own members: only what is listed here gets out.
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

/** A system call per line costs more than the line. */
const BATCH = 8_192
const BATCH_MS = 500
/** What a reader who has stopped reading leaves unread at most; what comes then is lost. */
const UNREAD = 2 ** 24
/** How long such a reader is waited for in the end. */
const END_MS = 500

export interface LogOutput extends DestinationStream {
  /** Resolves when all that was logged is written, or nobody reads it. */
  end(): Promise<void>
}

/** Standard output, written in batches. Without a reader, all is lost without a word: nobody could hear it. */
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
      batch += line
      if (batch.length >= BATCH) flush()
    },
    end: () =>
      new Promise((resolve) => {
        setTimeout(resolve, END_MS).unref()
        flush(resolve)
      }),
  }
}
