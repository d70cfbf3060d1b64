import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../../errors.js'

/** Aborts `work` when the client disconnects. `request.signal` would also abort at the end of the body. */
export const untilHangUp = async <T>(
  { socket }: FastifyRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const gone = new AbortController()
  const hangUp = () => gone.abort(new ApiError('bad_request', { detail: 'The connection was closed.' }))
  socket.once('close', hangUp)
  if (socket.destroyed) hangUp()
  try {
    return await work(gone.signal)
  } finally {
    socket.removeListener('close', hangUp)
  }
}
