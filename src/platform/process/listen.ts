import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
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

/** This machine has no such address. */
const absentCodes = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']
const hostCodes = [...absentCodes, 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND']

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

/** Every address of `localhost`, as browsers may try any of them; of other names what the system takes. */
export const addressesOf = async (host: string): Promise<string[]> => {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/**
 * Listens at the first address, and lets in by the same door whoever comes to another one: the framework would make a
 * second server there, which answers what the HTTP parser refuses in words of its own.
 * @returns the URL of the first
 */
export const listenAt = async (
  app: FastifyInstance,
  [first, ...others]: string[],
  port: number,
): Promise<string> => {
  const url = await app.listen({ host: first, port })
  for (const host of others) {
    // As the server itself is made.
    const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    app.server.once('close', () => door.close())
    // Without it, a connection that cannot be accepted would end the program.
    door.on('error', (error) => app.log.warn({ err: error }, `somebody was not let in at ${host}`))
    door.listen((app.server.address() as AddressInfo).port, host)
    await once(door, 'listening').catch((error) => {
      // Where IPv6 is off, its name may be there all the same.
      if (!absentCodes.includes(error.code)) throw error
    })
  }
  return url
}
