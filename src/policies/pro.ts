import type { FastifyRequest } from 'fastify'

/** The Pro gate of a scope. While billing is dormant it lets every authenticated caller pass. */
export const requirePro = async (request: FastifyRequest): Promise<void> => {
  const { billing } = request.server.config
  if (billing.dormant) return
}
