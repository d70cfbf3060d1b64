/**
 * A stand-in for the repository host, for tests and the demo: GitHub's shapes of `/user`, `/repos` and the OAuth web
 * flow, and as strict as the real one: unknown tokens are 401, private repositories 404, codes work once and only with
 * the PKCE verifier.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody, type StandIn, sendJson, serveStandIn } from './stand-in.js'

interface HostUser {
  id: number
  login: string
  avatar_url: string
}

interface Grant {
  userId: number
  challenge: string
  redirectUri: string
}

export interface RepohostStandIn extends StandIn {
  /** Makes a user, or a second token of an existing one. */
  addUser(login: string, options?: { id?: number; clientId?: string }): HostUser & { token: string }
  renameUser(id: number, login: string): void
  /** A private repository that only these users see. Repositories that were never added are public to everybody. */
  addPrivateRepo(fullName: string, readers: number[]): void
  removeRepo(fullName: string): void
  /** Who consents in the browser; null: the user says no. */
  browserUser: number | null
}

export const OAUTH_APP = { id: 'stand-in-client', secret: 'stand-in-secret' }

export const startRepohost = async (): Promise<RepohostStandIn> => {
  const users = new Map<number, HostUser>()
  const tokens = new Map<string, { userId: number; clientId: string | undefined }>()
  const readersOf = new Map<string, number[]>()
  const grants = new Map<string, Grant>()
  let nextId = 1_000

  const user = (request: IncomingMessage, response: ServerResponse) => {
    const token = tokens.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
    const found = token && users.get(token.userId)
    if (!found) {
      sendJson(response, 401, { message: 'Bad credentials' })
      return undefined
    }
    if (token.clientId) response.setHeader('X-OAuth-Client-Id', token.clientId)
    response.setHeader('X-RateLimit-Limit', '5000')
    response.setHeader('X-RateLimit-Remaining', '4999')
    return found
  }

  const authorize = (url: URL, response: ServerResponse) => {
    const { client_id, redirect_uri, state, code_challenge, code_challenge_method } = Object.fromEntries(
      url.searchParams,
    )
    if (client_id !== OAUTH_APP.id || !redirect_uri || !code_challenge || code_challenge_method !== 'S256') {
      return sendJson(response, 404, { message: 'Not Found' })
    }
    const back = new URL(redirect_uri)
    back.searchParams.set('state', state ?? '')
    if (standIn.browserUser === null) {
      back.searchParams.set('error', 'access_denied')
    } else {
      const code = randomBytes(10).toString('hex')
      grants.set(code, { userId: standIn.browserUser, challenge: code_challenge, redirectUri: redirect_uri })
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { Location: back.href }).end()
  }

  const exchange = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await readBody(request))
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isApp = form.get('client_id') === OAUTH_APP.id && form.get('client_secret') === OAUTH_APP.secret
    // The real host reports these errors with status 200.
    if (!isApp) return sendJson(response, 200, { error: 'incorrect_client_credentials' })
    if (!grant || grant.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      return sendJson(response, 200, { error: 'bad_verification_code' })
    }
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, { userId: grant.userId, clientId: OAUTH_APP.id })
    return sendJson(response, 200, { access_token: token, token_type: 'bearer', scope: 'read:user' })
  }

  const server = await serveStandIn(async (request, response, url) => {
    if (url.pathname === '/login/oauth/authorize') return authorize(url, response)
    if (url.pathname === '/login/oauth/access_token') return exchange(request, response)
    const caller = user(request, response)
    if (!caller) return
    const [, kind, owner, repo, ...rest] = url.pathname.split('/').map(decodeURIComponent)
    if (kind === 'user' && owner === undefined) return sendJson(response, 200, caller)
    if (kind === 'repos' && owner && repo && rest.length === 0) {
      const fullName = `${owner}/${repo}`
      const readers = readersOf.get(fullName.toLowerCase())
      if (!readers || readers.includes(caller.id)) return sendJson(response, 200, { full_name: fullName })
    }
    sendJson(response, 404, { message: 'Not Found' })
  })

  const standIn: RepohostStandIn = Object.assign(server, {
    browserUser: null,
    addUser: (login: string, { id, clientId }: { id?: number; clientId?: string } = {}) => {
      const existing = [...users.values()].find((known) => known.login.toLowerCase() === login.toLowerCase())
      const added = existing ?? {
        id: id ?? nextId++,
        login,
        avatar_url: `https://avatars.example.com/${login}`,
      }
      users.set(added.id, added)
      const token = `ghp_${randomBytes(18).toString('hex')}`
      tokens.set(token, { userId: added.id, clientId })
      return { ...added, token }
    },
    renameUser: (id: number, login: string) => {
      const known = users.get(id)
      if (known) users.set(id, { ...known, login })
    },
    addPrivateRepo: (fullName: string, readers: number[]) => {
      readersOf.set(fullName.toLowerCase(), readers)
    },
    removeRepo: (fullName: string) => {
      readersOf.set(fullName.toLowerCase(), [])
    },
  })
  return standIn
}
