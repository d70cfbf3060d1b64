/**
 * Decides whose limits work counts toward. No other code does. A person pays for requests from all their sessions and
 * keys. Whatever belongs to a workspace is paid for by the person who made it, and by the workspace too, so neither
 * more workspaces nor more keys give anyone more.
 */
import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import { withTimeout } from '../process/async.js'
import { createCache } from '../process/maps.js'

/** Keys of limits. The last is the person, or the address of a caller without a session. */
export type Payers = readonly string[]

const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/** An IPv6 address in the one spelling that URLs use, or undefined for anything else. */
const canonicalIPv6 = (text: string): string | undefined =>
  isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : undefined

/**
 * An address in one spelling. Some proxies add the port of each connection, and IPv4 can be written as IPv6.
 * @param ip what a proxy says, which can be anything
 */
export const normalizeAddress = (ip: string): string => {
  const [, bracketed, ipv4] = /^(?:\[([^\]]*)\](?::\d*)?|([0-9.]+):\d*)$/.exec(ip) ?? []
  const [plain = ''] = (bracketed ?? ipv4 ?? ip).split('%')
  const ipv6 = canonicalIPv6(plain)
  if (ipv6 === undefined) return plain
  const [, high, low] = MAPPED_IPV4.exec(ipv6) ?? []
  if (high === undefined || low === undefined) return ipv6
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [first >> 8, first & 255, second >> 8, second & 255].join('.')
}

/**
 * An IPv4 address, or the /64 network of an IPv6 address, because one client can use all of it. `ip` is undefined if the
 * client is gone.
 */
export const addressOf = ({ ip = '' }: { ip: string | undefined }): string => {
  const address = normalizeAddress(ip)
  if (!isIPv6(address)) return address
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  return [...before, ...Array(8 - before.length - after.length).fill('0'), ...after].slice(0, 4).join(':')
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

/** The payers for work caused by something in a workspace. @param payerId see `payerOfWorkspace` */
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
  const payer = request.server.rateLimits.people.keyOf(userId)
  return typeof payer === 'string' ? payersOfPerson(payer) : payer.then(payersOfPerson)
}

const MAX_CACHED_PEOPLE = 50_000
/** How long a request waits for the database. */
const ANSWER_MS = 2_000
/** How long requests skip the wait once the database has failed to answer. */
const PAUSE_MS = 1_000

/**
 * Finds the person behind an account, because rate limits continue when people delete their account and sign in again.
 * An account never changes hands, so results are cached without expiry.
 */
export class People {
  private readonly known = createCache<string, string | Promise<string>>(MAX_CACHED_PEOPLE)
  private retryAt = 0

  /** @param find the person's id at the repository host; null for an account that was deleted */
  constructor(private readonly find: (userId: string) => Promise<string | null>) {}

  /**
   * The person's key for rate limits. A promise only the first time. The account's id if the database doesn't
   * answer.
   */
  keyOf(userId: string): string | Promise<string> {
    const known = this.known.get(userId)
    if (known !== undefined) return known
    if (performance.now() < this.retryAt) return userId
    const lookup = this.ask(userId)
    this.known.set(userId, lookup)
    return lookup
  }

  private ask(userId: string): Promise<string> {
    const pause = () => {
      this.retryAt = performance.now() + PAUSE_MS
      return userId
    }
    const found = this.find(userId).then(
      (repohostId) => {
        // Remaining sessions of deleted accounts share one limit.
        const key = repohostId === null ? 'deleted accounts' : `person ${repohostId}`
        this.known.set(userId, key)
        return key
      },
      () => {
        this.known.delete(userId)
        return pause()
      },
    )
    return withTimeout(found, ANSWER_MS, pause)
  }
}
