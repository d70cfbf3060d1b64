import type { FastifyReply, FastifyRequest } from 'fastify'

/** Calls back once, when a response has been sent or never will be. */
export const onResponseEnd = (
  { raw: { socket } }: Pick<FastifyRequest, 'raw'>,
  { raw: response }: Pick<FastifyReply, 'raw'>,
  work: () => void,
): void => {
  if (response.closed || socket.destroyed) work()
  else response.once('close', work)
}
