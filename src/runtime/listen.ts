import { OperatorError } from './operator-error.js'

/** Where to listen, and the variable that holds the port. */
export interface Place {
  host: string
  port: number
  variable: 'PORT' | 'METRICS_PORT'
}

const remedies: Record<string, (place: Place) => string> = {
  EADDRINUSE: ({ variable, port }) =>
    `${variable} ${port} is in use by another program: stop that one, or set ${variable} to a free port.`,
  EACCES: ({ variable, port }) =>
    `${variable} ${port} is not for ordinary users: set ${variable} to a port above 1023.`,
}

const hostCodes = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND']

/** Waits until a server listens. @throws {OperatorError} naming the variable to correct */
export const listening = async (opening: Promise<unknown>, place: Place): Promise<void> => {
  try {
    await opening
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const remedy = remedies[code]
    if (remedy) throw new OperatorError(remedy(place))
    if (!hostCodes.includes(code)) throw error
    throw new OperatorError(
      `HOST ${place.host} is not an address of this machine: set it to one, such as 127.0.0.1, or 0.0.0.0 for all.`,
    )
  }
}
