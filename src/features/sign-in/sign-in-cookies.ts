/**
 * The cookies of browser sign-ins in progress. Each sign-in has its own, so that several tabs can sign in at once, and
 * any of them can finish first.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieOptionsOf } from '../sessions/index.js'

/** How many sign-ins a browser can have in progress. */
const MAX_SIGN_INS = 5
const MAX_AGE_SECONDS = 600

/** A state begins with its time in a fixed number of digits, so that the names of cookies are in order. */
const TIME_DIGITS = 9

export const newVerifier = (): string => randomBytes(32).toString('base64url')

export const newState = (): string =>
  `${Date.now().toString(36).padStart(TIME_DIGITS, '0')}-${randomBytes(24).toString('base64url')}`

/** The name of the cookie is the sign-in's state, and its value the PKCE verifier. */
export class SignInCookies {
  private readonly prefix: string
  private readonly options: ReturnType<typeof cookieOptionsOf>

  constructor(origin: string) {
    // The `__Host-` prefix keeps other hosts and plain HTTP from setting the cookies.
    this.prefix = `${origin.startsWith('https:') ? '__Host-' : ''}oauth2-state-`
    this.options = cookieOptionsOf(origin)
  }

  /** Adds a sign-in, and removes the oldest ones beyond the limit. */
  add(
    request: FastifyRequest,
    reply: FastifyReply,
    { state, verifier }: { state: string; verifier: string },
  ) {
    const known = this.namesIn(request).sort()
    for (const name of known.slice(0, Math.max(0, known.length - MAX_SIGN_INS + 1)))
      reply.clearCookie(name, this.options)
    reply.setCookie(this.prefix + state, verifier, { ...this.options, maxAge: MAX_AGE_SECONDS })
  }

  /** The PKCE verifier of a sign-in that this browser has begun. */
  verifierOf(request: FastifyRequest, state: string): string | undefined {
    return request.cookies[this.prefix + state]
  }

  remove(reply: FastifyReply, state: string): void {
    reply.clearCookie(this.prefix + state, this.options)
  }

  removeAll(request: FastifyRequest, reply: FastifyReply): void {
    for (const name of this.namesIn(request)) reply.clearCookie(name, this.options)
  }

  /** Cookie names in any other format can't be sent back. */
  private namesIn(request: FastifyRequest): string[] {
    return Object.keys(request.cookies).filter(
      (name) => name.startsWith(this.prefix) && /^[\w-]+$/.test(name),
    )
  }
}
