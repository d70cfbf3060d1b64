/**
 * Session tokens: who is calling, decided without a query.
 *
 * A token that was verified once is remembered (its `exp` is checked on every use); revocations are held in memory and
 * fetched from the database every two seconds, so that a logout on one instance holds on all.
 */
import { createHmac, randomUUID } from 'node:crypto'
import jwt from '@fastify/jwt'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import { ApiError } from '../errors.js'
import { readRevocations } from '../queries/sessions.js'
import { repeat } from './repeat.js'

export interface Session {
  userId: string
  jti: string
  generation: number
  /** Seconds since the epoch. */
  expiresAt: number
}

declare module 'fastify' {
  interface FastifyInstance {
    sessions: Sessions
  }
  interface FastifyRequest {
    /** The caller, or why there is none. Routes that need one read it with `callerOf`. */
    session: Session | ApiError
    /** Whether the token came in the cookie, which a browser sends without being asked. */
    sessionFromCookie: boolean
  }
}

export const SESSION_COOKIE = 'svc_token'
const ISSUER = 'svc'
const REMEMBERED_TOKENS = 20_000
const REFRESH_MS = 2_000
const FORGET_MS = 3_600_000
const LIFETIME_MS = limits.session_days * 86_400_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The last second of the year 9999: what the database can keep of a moment. */
const LATEST = 253_402_300_799

interface Claims {
  sub: string
  login: string
  iat: number
  exp: number
  iss: string
  jti: string
  gen: number
}

interface Signer {
  sign(claims: object): string
  verify(token: string): Claims
}

/** The caller of a route whose access asks for one. */
export const callerOf = (request: FastifyRequest): Session => {
  if (request.session instanceof ApiError) throw request.session
  return request.session
}

/** The caller, and the workspace that the path names. */
export const callOf = (request: FastifyRequest): { workspaceId: string; userId: string } => ({
  workspaceId: (request.params as { id: string }).id,
  userId: callerOf(request).userId,
})

/** A name for a secret that says nothing about it. */
const keyIdOf = (secret: string) => createHmac('sha256', secret).update('kid').digest('hex').slice(0, 16)

export class Sessions {
  private readonly remembered = new Map<string, Session>()
  /** Tokens and, below, users, with the moment when the last token that this concerns has expired. */
  private readonly revokedTokens = new Map<string, number>()
  /** Per user, the oldest generation that is still good. */
  private readonly generations = new Map<string, { generation: number; until: number }>()

  constructor(
    private readonly signers: Map<string, Signer>,
    private readonly signingKey: string,
  ) {}

  issue(user: { id: string; login: string; generation: number }): string {
    const signer = this.signers.get(this.signingKey)
    if (!signer) throw new Error('There is no key to sign with')
    return signer.sign({ sub: user.id, login: user.login, jti: randomUUID(), gen: user.generation })
  }

  /** Every failure is one of the 401 codes, whatever the token looks like. */
  check(token: string): Session | ApiError {
    const session = this.remembered.get(token) ?? this.verify(token)
    if (session instanceof ApiError) return session
    if (session.expiresAt * 1_000 <= Date.now()) return new ApiError('token_expired')
    const revoked =
      this.revokedTokens.has(session.jti) ||
      session.generation < (this.generations.get(session.userId)?.generation ?? 0)
    return revoked ? new ApiError('token_revoked') : session
  }

  revokeToken(jti: string) {
    this.revokedTokens.set(jti, Date.now() + LIFETIME_MS)
  }

  revokeOlderThan(userId: string, generation: number) {
    const known = this.generations.get(userId)?.generation ?? 0
    this.generations.set(userId, { generation: Math.max(generation, known), until: Date.now() + LIFETIME_MS })
  }

  /** Drops what concerns only tokens that have expired by now. */
  forgetExpired() {
    const now = Date.now()
    for (const [jti, until] of this.revokedTokens) if (until < now) this.revokedTokens.delete(jti)
    for (const [userId, { until }] of this.generations) if (until < now) this.generations.delete(userId)
  }

  private verify(token: string): Session | ApiError {
    let claims: Claims
    try {
      const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
      const signer = header?.crit === undefined ? this.signers.get(header?.kid) : undefined
      if (!signer) return new ApiError('token_invalid')
      claims = signer.verify(token)
    } catch (error) {
      const expired = (error as { code?: string }).code === 'FAST_JWT_EXPIRED'
      return new ApiError(expired ? 'token_expired' : 'token_invalid', { cause: error })
    }
    const { sub, jti, gen, exp, iat, login } = claims
    const wellFormed =
      [sub, jti].every((claim) => typeof claim === 'string' && UUID.test(claim)) &&
      typeof login === 'string' &&
      [gen, exp, iat].every((claim) => Number.isInteger(claim) && claim >= 0 && claim <= LATEST)
    if (!wellFormed) return new ApiError('token_invalid')
    const session = { userId: sub, jti, generation: gen, expiresAt: exp }
    if (this.remembered.size >= REMEMBERED_TOKENS) {
      for (const oldest of this.remembered.keys()) {
        this.remembered.delete(oldest)
        break
      }
    }
    this.remembered.set(token, session)
    return session
  }
}

export default fp(
  async (app) => {
    const secrets = app.config.jwtSecrets
    const signers = new Map<string, Signer>()
    for (const secret of secrets) {
      const kid = keyIdOf(secret)
      if (signers.has(kid)) continue
      await app.register(jwt, {
        namespace: kid,
        secret,
        sign: { algorithm: 'HS256', kid, iss: ISSUER, expiresIn: `${limits.session_days}d` },
        verify: {
          algorithms: ['HS256'],
          allowedIss: ISSUER,
          requiredClaims: ['sub', 'login', 'iat', 'exp', 'iss', 'jti', 'gen'],
        },
      })
      signers.set(kid, (app.jwt as unknown as Record<string, Signer>)[kid] as Signer)
    }
    const sessions = new Sessions(signers, keyIdOf(secrets[0] ?? ''))
    app.decorate('sessions', sessions)
    app.decorateRequest('session', null as never)
    app.decorateRequest('sessionFromCookie', false)

    app.addHook('onRequest', (request, _reply, done) => {
      const { authorization } = request.headers
      // Node has taken the blanks at the end away; a pattern that takes them too would need cubic time.
      const bearer = authorization?.match(/^Bearer +(\S*)$/i)?.[1]
      const cookie = request.cookies[SESSION_COOKIE]
      request.sessionFromCookie = authorization === undefined && cookie !== undefined
      const token = authorization === undefined ? cookie : (bearer ?? '')
      request.session = token === undefined ? new ApiError('unauthenticated') : sessions.check(token)
      done()
    })

    let since: string | undefined
    const refresh = async () => {
      const { revocations, asOf } = await readRevocations(app.database.reserved, since)
      for (const { jti, userId, generation } of revocations) {
        if (jti !== null) sessions.revokeToken(jti)
        if (userId !== null && generation !== null) sessions.revokeOlderThan(userId, generation)
      }
      since = asOf
    }
    await refresh()
    repeat(app, REFRESH_MS, refresh, 'the refresh of revocations')
    repeat(app, FORGET_MS, async () => sessions.forgetExpired(), 'the forgetting of revocations')
  },
  { name: 'session', dependencies: ['@fastify/cookie'] },
)
