import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * The parts of an error that may be logged. The error of a failed statement carries the statement's
 * parameters (invite codes, settings) in its message, its stack and its own properties.
 */
const describe = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: 'not an Error' }
  const { name, stack, cause } = error
  return {
    type: name,
    code: (error as { code?: unknown }).code,
    message: withoutValues(error).split('\nparams:')[0],
    stack: stack?.split('\n').filter((line) => /^\s+at /.test(line)),
    ...(cause !== undefined && { cause: describe(cause) }),
  }
}

/** PostgreSQL (class 22, data exceptions) and `JSON.parse` quote the value that they couldn't read. */
const withoutValues = (error: Error): string => {
  const quotesValues = error instanceof SyntaxError || /^22/.test(String((error as { code?: unknown }).code))
  return quotesValues ? error.message.replace(/".*"/s, '"…"') : error.message
}

export const createLogger = (level: string, destination: DestinationStream): Logger =>
  pino({ level, serializers: { err: describe } }, destination)

/** Lines are written in batches, because a system call per line would cost more than the line. */
const BATCH = 8_192
const BATCH_MS = 500
/** Above this much unread output, lines are dropped. */
const MAX_UNREAD_BYTES = 2 ** 24
/** How long shutdown waits for such a reader. */
const END_MS = 500

export interface LogOutput extends DestinationStream {
  /** Resolves when everything is written or no one is reading. */
  end(): Promise<void>
}

/** Turns a JSON log line into readable text. */
type Format = (line: string) => string

interface Pretty {
  prettyFactory(options: {
    colorize: boolean
    translateTime: string
    singleLine: boolean
    ignore: string
    messageFormat(line: Record<string, unknown>): string
  }): Format
}

/** Control characters, escaped by JSON or not. The second branch skips other escapes, such as of backslashes. */
const CONTROLS = /(\\(?:u00[01][0-9a-f]|[bfr])|[\x7f-\x9f])|\\./g

/** Removes characters that move the cursor or change colors, because callers choose parts of what is logged. */
const withoutControls = (line: string): string =>
  line.replace(CONTROLS, (found, control) => (control === undefined ? found : '?'))

/** The format for terminals, if the optional package is installed. Undefined otherwise. */
const openFormat = async (): Promise<Format | undefined> => {
  if (!process.stdout.isTTY) return undefined
  // Cast to string, so that the service can be built without the package.
  const pretty: Pretty | undefined = await import('pino-pretty' as string).catch(() => undefined)
  const format = pretty?.prettyFactory({
    colorize: process.stdout.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    ignore: 'pid,hostname,trace_id,span_id,method,route,path,status,ms',
    messageFormat: ({ msg, method, route, path, status, ms }) =>
      msg === 'request' ? `${method} ${path ?? route} ${status} in ${ms} ms` : String(msg),
  })
  return format && ((line) => format(withoutControls(line)))
}

/**
 * Standard output: JSON, written in batches; on a terminal readable lines, at once. Without a reader lines are dropped
 * silently.
 */
export const openLogOutput = async (): Promise<LogOutput> => {
  const format = await openFormat()
  let batch = ''
  const flush = (done = () => {}) => {
    const text = process.stdout.writableLength > MAX_UNREAD_BYTES ? '' : batch
    batch = ''
    process.stdout.write(text, () => done())
  }
  setInterval(() => batch !== '' && flush(), BATCH_MS).unref()
  return {
    write: (line) => {
      batch += format ? format(line) : line
      if (format || batch.length >= BATCH) flush()
    },
    end: () =>
      new Promise((resolve) => {
        setTimeout(resolve, END_MS).unref()
        flush(resolve)
      }),
  }
}
