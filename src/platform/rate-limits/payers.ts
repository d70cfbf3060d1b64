/**
 * Decides whose limits work counts toward. No other code does. A person pays for requests from all their sessions and
 * keys. Whatever belongs to a workspace is paid for by the person who made it, and by the workspace too, so neither
 * more workspaces nor more keys give anyone more.
 */
import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'

/** Keys of limits. The last is the person, or the address of a caller without a session. */
export type Payers = readonly string[]

/**
 * The /64 network of an IPv6 address, because one client can use all of it. `ip` is undefined if the client is gone.
 */
export const addressOf = ({ ip = '' }: { ip: string | undefined }): string => {
  const [plain = ''] = ip.replace(/^::ffff:(?=[0-9.]+$)/i, '').split('%')
  if (!isIPv6(plain)) return plain
  const [first = [], last = []] = new URL(`http://[${plain}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  return [...first, ...Array(8 - first.length - last.length).fill('0'), ...last].slice(0, 4).join(':')
}

const workspacePays = (workspaceId: string) => `workspace ${workspaceId}`

/** The payers of a request. A promise only the first time. */
export const payersOf = (request: FastifyRequest): Payers | Promise<Payers> => {
  const { session, key } = request
  if (session instanceof ApiError) return [addressOf(request)]
  return key?.workspaceId != null
    ? payersOfWorkspace(request, key.workspaceId, key.createdBy)
    : withPayer(request, request.memberId, (payer) => [payer])
}

/** The payers for work caused by something in a workspace. @param payerId see `PAYER_OF_WORKSPACE` */
export const payersOfWorkspace = (
  request: FastifyRequest,
  workspaceId: string,
  payerId: string,
): Payers | Promise<Payers> => withPayer(request, payerId, (payer) => [workspacePays(workspaceId), payer])

/** The person or address that pays for a request. */
export const payerOf = async (request: FastifyRequest): Promise<string> =>
  (await payersOf(request)).at(-1) as string

const withPayer = (
  request: FastifyRequest,
  userId: string,
  payersOfPerson: (payer: string) => Payers,
): Payers | Promise<Payers> => {
  const payer = request.server.people.keyOf(userId)
  return typeof payer === 'string' ? payersOfPerson(payer) : payer.then(payersOfPerson)
}
