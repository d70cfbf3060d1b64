/** The differences between kinds of repository host for a stand-in, from their documentation. */
import type { RepohostKind } from '../schemas/common.js'

export interface HostUser {
  id: number
  login: string
  avatar_url: string
}

interface HostResponse {
  status: number
  body: unknown
}

export interface HostShape {
  /** Relative to the stand-in's address. */
  apiPath: string
  authorizePath: string
  tokenPath: string
  scope: string
  /** The path of a user's own profile, below the API. */
  userPath: string
  user(user: HostUser): unknown
  /** `owner/repo` of a path below the API that names a repository. */
  repoOf(path: string): string | undefined
  /** Where the old name redirects to, as the host writes it. */
  movedTo(apiUrl: string, renamed: { id: number; to: string }): string
  /** The repository's id in a path below the API that has one. */
  repoIdOf(path: string): number | undefined
  repo(fullName: string): unknown
  unknownToken: HostResponse
  notFound: HostResponse
  /** The response to a token without the right scope. */
  scopeMissing: HostResponse
  /** The status of the redirect from the old name of a repository. */
  movedStatus: number
  /** The response to a wrong code or verifier. GitHub reports these errors with status 200. */
  wrongCode: HostResponse
  /** The response without a token, and the headers of every response. */
  probe: { path: string; answer: HostResponse }
  headers: Record<string, string>
}

const decoded = (path: string) => path.split('/').map(decodeURIComponent)

const repoBelowRepos = (path: string): string | undefined => {
  const [, kind, owner, repo, ...rest] = decoded(path)
  return kind === 'repos' && owner && repo && rest.length === 0 ? `${owner}/${repo}` : undefined
}

const belowRepos = (fullName: string) => `/repos/${fullName.split('/').map(encodeURIComponent).join('/')}`

const idBelow = (folder: string) => (path: string) => {
  const [, kind, id = '', ...rest] = path.split('/')
  return kind === folder && /^[0-9]+$/.test(id) && rest.length === 0 ? Number(id) : undefined
}

/** docs.github.com/en/rest */
const github: HostShape = {
  apiPath: '',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'read:user',
  userPath: '/user',
  user: (user) => user,
  repoOf: repoBelowRepos,
  movedTo: (apiUrl, { id }) => `${apiUrl}/repositories/${id}`,
  repoIdOf: idBelow('repositories'),
  repo: (fullName) => ({ full_name: fullName }),
  unknownToken: { status: 401, body: { message: 'Bad credentials' } },
  notFound: { status: 404, body: { message: 'Not Found' } },
  scopeMissing: { status: 401, body: { message: 'Requires authentication' } },
  movedStatus: 301,
  wrongCode: { status: 200, body: { error: 'bad_verification_code' } },
  probe: { path: '/meta', answer: { status: 200, body: { verifiable_password_authentication: false } } },
  headers: { 'X-RateLimit-Limit': '5000', 'X-RateLimit-Remaining': '4999' },
}

/** docs.gitlab.com/api */
const gitlab: HostShape = {
  apiPath: '/api/v4',
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  scope: 'read_user',
  userPath: '/user',
  user: ({ id, login, avatar_url }) => ({
    id,
    username: login,
    name: login,
    state: 'active',
    avatar_url,
    web_url: `https://gitlab.example.com/${login}`,
  }),
  repoOf: (path) => {
    const [, kind, project, ...rest] = decoded(path)
    return kind === 'projects' && project && rest.length === 0 ? project : undefined
  },
  movedTo: (apiUrl, { id }) => `${apiUrl}/projects/${id}`,
  repoIdOf: idBelow('projects'),
  repo: (fullName) => ({ id: 4, path_with_namespace: fullName, visibility: 'private' }),
  unknownToken: { status: 401, body: { message: '401 Unauthorized' } },
  notFound: { status: 404, body: { message: '404 Project Not Found' } },
  scopeMissing: { status: 403, body: { error: 'insufficient_scope', scope: 'api read_api read_user' } },
  movedStatus: 301,
  wrongCode: { status: 400, body: { error: 'invalid_grant', error_description: 'The grant is invalid.' } },
  probe: { path: '/version', answer: { status: 401, body: { message: '401 Unauthorized' } } },
  headers: { 'X-Gitlab-Meta': '{"version":"1"}', 'RateLimit-Limit': '2000', 'RateLimit-Remaining': '1999' },
}

/** codeberg.org/api/swagger */
const forgejo: HostShape = {
  apiPath: '/api/v1',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'read:user',
  userPath: '/user',
  user: ({ id, login, avatar_url }) => ({
    id,
    login,
    login_name: '',
    full_name: '',
    avatar_url,
    is_admin: false,
    active: true,
    visibility: 'public',
  }),
  repoOf: repoBelowRepos,
  // A relative redirect, without the host's address.
  movedTo: (apiUrl, { to }) => `${new URL(apiUrl).pathname}${belowRepos(to)}`,
  repoIdOf: () => undefined,
  repo: (fullName) => ({ id: 4, full_name: fullName, private: true, default_branch: 'main' }),
  unknownToken: { status: 401, body: { message: 'invalid username, password or token' } },
  notFound: { status: 404, body: { message: "The target couldn't be found.", errors: [] } },
  scopeMissing: {
    status: 403,
    body: { message: 'token does not have at least one of required scope(s): [read:user]' },
  },
  movedStatus: 307,
  wrongCode: { status: 400, body: { error: 'unauthorized_client', error_description: 'unknown code' } },
  probe: { path: '/version', answer: { status: 200, body: { version: '13.0.0+gitea-1.22.0' } } },
  headers: {},
}

export const hostShapes: Record<RepohostKind, HostShape> = { github, gitlab, forgejo }
