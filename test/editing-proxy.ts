/** A proxy between the service and its database that changes the database's messages. */
import { startRelay } from './relay.js'

export interface EditingProxy {
  /** The database's URL, through the proxy. */
  url: string
  /** Connections that have been made through it. */
  connections(): number
  /** Called with each message of the database, such as `C` for a completed command. Returns what arrives instead. */
  edit: ((type: string, message: Buffer) => Buffer) | undefined
}

const LENGTH_BYTES = 4

export const startEditingProxy = async (
  test: { teardown(work: () => unknown): void },
  target: string,
): Promise<EditingProxy> => {
  let connections = 0
  const url = await startRelay(test, target, (client, reach) => {
    connections++
    const database = reach()
    let bytes = Buffer.alloc(0)
    database.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length > LENGTH_BYTES) {
        const length = 1 + bytes.readUInt32BE(1)
        if (bytes.length < length) break
        const message = bytes.subarray(0, length)
        bytes = bytes.subarray(length)
        client.write(proxy.edit?.(message.toString('latin1', 0, 1), message) ?? message)
      }
    })
    client.on('data', (chunk) => database.write(chunk))
    client.on('close', () => database.destroy())
    database.on('close', () => client.destroy())
  })
  const proxy: EditingProxy = { url, connections: () => connections, edit: undefined }
  return proxy
}
