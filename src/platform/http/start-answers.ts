import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Config } from '../../config.js'
import { ApiError, toProblem } from '../../errors.js'
import { serviceVersion } from '../process/root.js'
import { PROBLEM_TYPE } from './errors.js'
import { responseHeaders } from './headers.js'
import { requestIdOf } from './trace.js'

/**
 * Answers during a long migration, so that no supervisor ends the process: `/api/health` with 200, everything else with
 * 503. During a quick start nothing answers before the service does, because proxies try another instance only if the
 * connection is refused. If the address can't be used, the service itself will report that.
 */
export const answerWhileMigrating = async (config: Config): Promise<{ close(): Promise<void> }> => {
  const headersOf = responseHeaders(config)
  const failure = new ApiError('unavailable', { detail: 'The service is starting. Try again in a moment.' })
  const server = createServer((request, response) => {
    const id = requestIdOf(request)
    const isHealth = request.url === '/api/health' && /^(GET|HEAD)$/.test(request.method ?? '')
    response.writeHead(isHealth ? 200 : failure.status, {
      ...headersOf(id, request.headers.origin),
      'Cache-Control': 'no-store',
      'Content-Type': isHealth ? 'application/json; charset=utf-8' : PROBLEM_TYPE,
      // Callers then open a connection to the service itself.
      Connection: 'close',
      ...(!isHealth && { 'Retry-After': failure.retryAfter }),
    })
    response.end(JSON.stringify(isHealth ? { ok: true, version: serviceVersion } : toProblem(failure, id)))
  })
  server.listen(config.port, config.host)
  await once(server, 'listening').catch(() => {})
  return { close: () => end(server) }
}

const end = async (server: Server): Promise<void> => {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
