/**
 * A stand-in for the repository host, for tests and the demo: users, repositories and the OAuth web flow in the shapes of
 * its kind, and as strict as the real one. Unknown tokens are 401, private repositories 404, and codes work once and only
 * with the PKCE verifier.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RepohostKind } from '../schemas/common.js'
import { answerOrganization, type StandInOrganization } from './host-organizations.js'
import { type HostUser, hostShapes } from './host-shapes.js'
import { readBody, type StandIn, sendJson, serveStandIn } from './stand-in.js'

type RenameResponse = 'redirect' | 'new name' | { location: string; status?: number }

interface Grant {
  userId: number
  challenge: string
  redirectUri: string
}

export interface RepohostStandIn extends StandIn {
  kind: RepohostKind
  apiUrl: string
  /** Creates a user, or a second token for an existing one. */
  addUser(
    login: string,
    options?: { id?: number; clientId?: string; avatarUrl?: string; mayAskOrganizations?: boolean },
  ): HostUser & { token: string }
  /** Organizations, which can be changed. */
  organizations: StandInOrganization[]
  /** The status of every response about organizations, or none at all. */
  organizationFault: number | 'hang' | undefined
  /** Replaces responses about organizations, by their path below the API. */
  answerOrganization:
    | ((path: string) => { status: number; json?: unknown; headers: Iterable<[string, string]> })
    | undefined
  /** Responses about repositories wait for this promise. */
  repoGate: Promise<unknown> | undefined
  renameUser(id: number, login: string): void
  /** GitLab: each user's email addresses. The first one is in the profile. */
  addresses: Map<number, { email: string; confirmed_at: string | null }[]>
  /** The status of every response to a request for addresses, or none at all. */
  addressesFault: number | 'hang' | undefined
  /** Adds a private repository that only these users see. Repositories that weren't added are public. */
  addPrivateRepo(fullName: string, readers: number[]): void
  removeRepo(fullName: string): void
  /**
   * The host then redirects from the old name as its kind does, or only answers with the new one. `location`
   * redirects somewhere else, and `status` replaces the usual status.
   */
  renameRepo(from: string, to: string, renameResponse: RenameResponse): void
  /** A token that gives access to nothing, not even its user's profile. */
  addTokenWithoutScope(id: number): string
  /** The user who consents in the browser. Null: the user declines. */
  browserUser: number | null
  /** Forgets everything except the ids it has assigned. */
  reset(): void
}

export const OAUTH_APP = { id: 'stand-in-client', secret: 'stand-in-secret' }

/** @param below the path of the host's address, such as `/gitlab` */
export const startRepohost = async (kind: RepohostKind = 'github', below = ''): Promise<RepohostStandIn> => {
  const shape = hostShapes[kind]
  const users = new Map<number, HostUser>()
  const tokens = new Map<
    string,
    { userId: number; clientId: string | undefined; isUseless?: boolean; mayAsk?: boolean }
  >()
  const readersOf = new Map<string, number[]>()
  const grants = new Map<string, Grant>()
  const renamed = new Map<string, { id: number; to: string; renameResponse: RenameResponse }>()
  let nextId = 1_000

  const user = (request: IncomingMessage, response: ServerResponse) => {
    const token = tokens.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
    const found = token && users.get(token.userId)
    if (!found) {
      sendJson(response, shape.unknownToken.status, shape.unknownToken.body)
      return undefined
    }
    if (token.isUseless) {
      sendJson(response, shape.scopeMissing.status, shape.scopeMissing.body)
      return undefined
    }
    if (kind === 'github' && token.clientId) response.setHeader('X-OAuth-Client-Id', token.clientId)
    if (kind === 'github')
      response.setHeader('X-OAuth-Scopes', token.mayAsk ? 'read:org, read:user' : 'read:user')
    return { ...found, mayAsk: token.mayAsk === true }
  }

  const authorize = (url: URL, response: ServerResponse) => {
    const { client_id, redirect_uri, state, scope, code_challenge, code_challenge_method } =
      Object.fromEntries(url.searchParams)
    const isApp = client_id === OAUTH_APP.id && scope === shape.scope
    if (!isApp || !redirect_uri || !code_challenge || code_challenge_method !== 'S256') {
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
    const isGranted = grant && grant.challenge === challenge && grant.redirectUri === form.get('redirect_uri')
    if (!isApp || !isGranted) return sendJson(response, shape.wrongCode.status, shape.wrongCode.body)
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, { userId: grant.userId, clientId: OAUTH_APP.id })
    return sendJson(response, 200, { access_token: token, token_type: 'bearer', scope: shape.scope })
  }

  const server = await serveStandIn(async (request, response, url) => {
    for (const [name, value] of Object.entries(shape.headers)) response.setHeader(name, value)
    if (!url.pathname.startsWith(`${below}/`))
      return sendJson(response, 404, { message: 'Another program is here' })
    url.pathname = url.pathname.slice(below.length)
    if (url.pathname === shape.authorizePath) return authorize(url, response)
    if (url.pathname === shape.tokenPath) return exchange(request, response)
    if (kind === 'gitlab' && url.pathname === '/oauth/token/info') {
      const token = tokens.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
      return token?.clientId === undefined
        ? sendJson(response, 401, { error: 'invalid_token' })
        : sendJson(response, 200, { resource_owner_id: token.userId, application: { uid: token.clientId } })
    }
    const path = url.pathname.startsWith(`${shape.apiPath}/`) ? url.pathname.slice(shape.apiPath.length) : ''
    if (path === shape.probe.path)
      return sendJson(response, shape.probe.answer.status, shape.probe.answer.body)
    const caller = user(request, response)
    if (!caller) return
    const { mayAsk, ...asking } = caller
    const { organizations, organizationFault } = standIn
    const about = answerOrganization[kind]({ path: path + url.search, caller: asking, mayAsk, organizations })
    if (about && standIn.answerOrganization) {
      const { status, json, headers } = standIn.answerOrganization(path + url.search)
      response.removeHeader('X-OAuth-Scopes')
      for (const [name, value] of headers) response.setHeader(name, value)
      return json === undefined ? response.writeHead(status).end() : sendJson(response, status, json)
    }
    if (about) {
      if (organizationFault === 'hang') return
      if (organizationFault !== undefined) return sendJson(response, organizationFault, { message: 'Fault' })
      if (about.body === undefined) return response.writeHead(about.status).end()
      return sendJson(response, about.status, about.body)
    }
    const [first, ...others] = standIn.addresses.get(asking.id) ?? []
    if (path === shape.userPath)
      return sendJson(response, 200, { ...(shape.user(asking) as object), ...(kind === 'gitlab' && first) })
    if (kind === 'gitlab' && path === '/user/emails') {
      if (standIn.addressesFault === 'hang') return
      return sendJson(
        response,
        standIn.addressesFault ?? 200,
        standIn.addressesFault ? { message: 'Fault' } : others.map((address, id) => ({ id, ...address })),
      )
    }
    const id = shape.repoIdOf(path)
    const fullName =
      id === undefined ? shape.repoOf(path) : [...renamed.values()].find((move) => move.id === id)?.to
    if (fullName !== undefined) {
      await standIn.repoGate
      const move = renamed.get(fullName.toLowerCase())
      if (move && move.renameResponse !== 'new name') {
        const location =
          move.renameResponse === 'redirect'
            ? shape.movedTo(standIn.apiUrl, move)
            : move.renameResponse.location
        const { status = shape.movedStatus } = move.renameResponse === 'redirect' ? {} : move.renameResponse
        return response.writeHead(status, { Location: location }).end()
      }
      if (move) return sendJson(response, 200, shape.repo(move.to))
      const readers = readersOf.get(fullName.toLowerCase())
      if (!readers || readers.includes(caller.id)) return sendJson(response, 200, shape.repo(fullName))
    }
    sendJson(response, shape.notFound.status, shape.notFound.body)
  })

  const asStarted = () => ({
    fault: undefined,
    browserUser: null,
    organizations: [],
    organizationFault: undefined,
    answerOrganization: undefined,
    repoGate: undefined,
    addresses: new Map(),
    addressesFault: undefined,
  })
  const standIn: RepohostStandIn = Object.assign(server, {
    kind,
    url: server.url + below,
    apiUrl: server.url + below + shape.apiPath,
    ...asStarted(),
    reset: () => {
      for (const known of [users, tokens, readersOf, grants, renamed]) known.clear()
      for (const list of [standIn.requests, standIn.traces]) list.length = 0
      Object.assign(standIn, asStarted())
    },
    addUser: (
      login: string,
      {
        id,
        clientId,
        avatarUrl = `https://avatars.example.com/${login}`,
        mayAskOrganizations: mayAsk = false,
      }: { id?: number; clientId?: string; avatarUrl?: string; mayAskOrganizations?: boolean } = {},
    ) => {
      const existing = [...users.values()].find((known) => known.login.toLowerCase() === login.toLowerCase())
      const added = existing ?? {
        id: id ?? nextId++,
        login,
        avatar_url: avatarUrl,
      }
      users.set(added.id, added)
      const token = `ghp_${randomBytes(18).toString('hex')}`
      tokens.set(token, { userId: added.id, clientId, mayAsk })
      return { ...added, token }
    },
    renameUser: (id: number, login: string) => {
      const known = users.get(id)
      if (known) users.set(id, { ...known, login })
    },
    addPrivateRepo: (fullName: string, readers: number[]) => {
      readersOf.set(fullName.toLowerCase(), readers)
    },
    renameRepo: (from: string, to: string, renameResponse: RenameResponse) => {
      renamed.set(from.toLowerCase(), { id: nextId++, to, renameResponse })
      renamed.delete(to.toLowerCase())
    },
    addTokenWithoutScope: (userId: number) => {
      const token = `none_${randomBytes(18).toString('hex')}`
      tokens.set(token, { userId, clientId: undefined, isUseless: true })
      return token
    },
    removeRepo: (fullName: string) => {
      readersOf.set(fullName.toLowerCase(), [])
    },
  })
  return standIn
}
