import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { own } from '../../../schemas/own.js'
import { codeOf } from './code-of.js'
import { OperatorError } from './operator-error.js'

/** An address to listen on, and the variable for the port. */
export interface ListenAddress {
  host: string
  port: number
  variable: 'PORT' | 'METRICS_PORT'
}

const remedies: Record<string, (address: ListenAddress) => string> = {
  EADDRINUSE: ({ variable, port }) =>
    `${variable} ${port} is in use by another program: stop that one, or set ${variable} to a free port.`,
  EACCES: ({ variable, port }) => `${variable} ${port} needs root: set ${variable} to a port above 1023.`,
}

/** This machine has no such address. */
const absentCodes = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']
const hostCodes = [...absentCodes, 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND']

/** Waits until a server is listening. @throws {OperatorError} naming the variable to correct */
export const waitForListening = async (start: Promise<unknown>, address: ListenAddress): Promise<void> => {
  try {
    await start
  } catch (error) {
    const code = codeOf(error) ?? ''
    const remedy = own(remedies, code)
    if (remedy) throw new OperatorError(remedy(address))
    if (!hostCodes.includes(code)) throw error
    throw new OperatorError(
      `HOST ${address.host} isn’t an address of this machine: set it to one, such as 127.0.0.1, or 0.0.0.0 for all.`,
    )
  }
}

/** Every address of `localhost`, because browsers may try any of them. Other names get the address that the system picks. */
export const addressesOf = async (host: string): Promise<string[]> => {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/**
 * Listens on the first address, and passes connections to the other addresses on to the same server. The framework would
 * create a second server for them, which answers parser errors in its own format.
 * @returns the URL of the first
 */
export const listenAt = async (
  app: FastifyInstance,
  [first, ...others]: string[],
  port: number,
): Promise<string> => {
  const url = await app.listen({ host: first, port })
  for (const host of others) {
    // The options with which the framework creates its server.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    app.server.once('close', () => listener.close())
    // Without a listener, a connection that can't be accepted would crash the program.
    listener.on('error', (error) =>
      app.log.warn({ err: error }, `a connection to ${host} couldn’t be accepted`),
    )
    listener.listen((app.server.address() as AddressInfo).port, host)
    await once(listener, 'listening').catch((error) => {
      // `localhost` may resolve to an IPv6 address even if IPv6 is off.
      if (!absentCodes.includes(error.code)) throw error
    })
  }
  return url
}
