/** Session tokens: signed by this installation, and read without a query. */

import { createHmac, randomUUID } from 'node:crypto'
import jwt from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Session } from '../../platform/access/caller.js'
import { isUuid } from '../../platform/http/formats.js'
import { codeOf } from '../../platform/process/code-of.js'
import { createCache } from '../../platform/process/maps.js'

const ISSUER = 'svc'
const MAX_CACHED_TOKENS = 20_000
/** The last second of the year 9999: the latest time that the database can store. */
const MAX_SECONDS = 253_402_300_799

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

/** A name for a secret that reveals nothing about it. */
export const keyIdOf = (secret: string) =>
  createHmac('sha256', secret).update('kid').digest('hex').slice(0, 16)

export class Tokens {
  /** Tokens that were verified before; their expiry is checked on every use. */
  private readonly remembered = createCache<string, Session>(MAX_CACHED_TOKENS)

  private constructor(
    private readonly signers: Map<string, Signer>,
    private readonly signingKey: string,
  ) {}

  /** The first secret signs, all verify. */
  static async create(app: FastifyInstance, secrets: string[]): Promise<Tokens> {
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
    return new Tokens(signers, keyIdOf(secrets[0] ?? ''))
  }

  issue(user: { id: string; login: string; generation: number }): string {
    const signer = this.signers.get(this.signingKey)
    if (!signer) throw new Error('There is no key to sign with')
    return signer.sign({ sub: user.id, login: user.login, jti: randomUUID(), gen: user.generation })
  }

  /** A token's session, or `token_invalid` or `token_expired`. Accepts any text. */
  read(token: string): Session | ApiError {
    const session = this.remembered.get(token) ?? this.verify(token)
    if (session instanceof ApiError) return session
    return session.expiresAt * 1_000 <= Date.now() ? new ApiError('token_expired') : session
  }

  private verify(token: string): Session | ApiError {
    let claims: Claims
    try {
      const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
      const signer = header?.crit === undefined ? this.signers.get(header?.kid) : undefined
      if (!signer) return new ApiError('token_invalid')
      claims = signer.verify(token)
    } catch (error) {
      const expired = codeOf(error) === 'FAST_JWT_EXPIRED'
      return new ApiError(expired ? 'token_expired' : 'token_invalid', { cause: error })
    }
    const { sub, jti, gen, exp, iat, login } = claims
    const wellFormed =
      [sub, jti].every((claim) => typeof claim === 'string' && isUuid(claim)) &&
      typeof login === 'string' &&
      [gen, exp, iat].every((claim) => Number.isInteger(claim) && claim >= 0 && claim <= MAX_SECONDS)
    if (!wellFormed) return new ApiError('token_invalid')
    const session = { userId: sub, jti, generation: gen, expiresAt: exp }
    this.remembered.set(token, session)
    return session
  }
}

const UUID_V4 = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const SECRET = new RegExp(`^(?:svc|waka)_${UUID_V4}$`)
const BARE = new RegExp(`^${UUID_V4}$`)

/** Whether a token looks like an access key's secret. */
export const isKeySecret = (token: string): boolean => SECRET.test(token)

/** The token of an `Authorization` header; empty where the header has none. */
export const bearerOf = (authorization: string): string =>
  // Node has removed trailing blanks; a pattern that also did so would need cubic time.
  authorization.match(/^Bearer +(\S*)$/i)?.[1] ?? ''

/** The user name of Basic authentication: tools send a key there, with or without a colon and nothing after it. */
const basicOf = (authorization: string): string | undefined => {
  const encoded = authorization.match(/^Basic +(\S+)$/i)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString().replace(/:$/, '')
}

/**
 * WakaTime's tools send `Basic base64(key)`, `Basic base64(key:)`, `Bearer key`, or `?api_key=`, with or without
 * `waka_`. A session token is accepted as well, but never a cookie.
 */
export const editorTokenOf = ({ headers, query }: FastifyRequest): string | undefined => {
  const { authorization } = headers
  const { api_key } = query as { api_key?: unknown }
  const inQuery = typeof api_key === 'string' ? api_key : undefined
  const token = authorization === undefined ? inQuery : (basicOf(authorization) ?? bearerOf(authorization))
  return token !== undefined && BARE.test(token) ? `waka_${token}` : token
}
