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

export const createLogger = (level: string, destination?: DestinationStream): Logger =>
  pino({ level, serializers: { err: describe } }, destination as DestinationStream)
