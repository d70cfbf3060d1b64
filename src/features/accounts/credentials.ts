/** Where the token of a request is: that of a session, or the secret of an access key. */
import type { FastifyRequest } from 'fastify'

const UUID_V4 = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const SECRET = new RegExp(`^(?:svc|waka)_${UUID_V4}$`)
const BARE = new RegExp(`^${UUID_V4}$`)

/** Whether a token looks like the secret of an access key. */
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
