/** Each kind of host's responses about organizations and their members, from its documentation. */
import type { RepohostKind } from '../schemas/common.js'
import type { HostUser } from './host-shapes.js'

export interface StandInOrganization {
  id: number
  name: string
  /** By user id. */
  members: Map<number, 'member' | 'admin'>
}

interface HostResponse {
  status: number
  body?: unknown
}

interface Question {
  /** The path below the API, with its query. */
  path: string
  caller: HostUser
  /** Whether the token has the scope for organizations. */
  mayAsk: boolean
  organizations: StandInOrganization[]
}

const notFound: HostResponse = { status: 404, body: { message: 'Not Found' } }

/** Undefined: the question is about something else. */
type AnswerOrganization = (question: Question) => HostResponse | undefined

const named = (organizations: StandInOrganization[], name: string | undefined) =>
  organizations.find((one) => one.name.toLowerCase() === decodeURIComponent(name ?? '').toLowerCase())

/** docs.github.com/en/rest/orgs/members */
const github: AnswerOrganization = ({ path, caller, mayAsk, organizations }) => {
  const membership = ({ id, name, members }: StandInOrganization) => ({
    state: 'active',
    role: members.get(caller.id),
    organization: { id, login: name },
    user: { id: caller.id, login: caller.login },
  })
  const own = organizations.filter(({ members }) => members.has(caller.id))
  const [, single] = /^\/user\/memberships\/orgs\/([^/?]+)$/.exec(path) ?? []
  if (single !== undefined) {
    const found = mayAsk ? named(own, single) : undefined
    return found ? { status: 200, body: membership(found) } : notFound
  }
  if (path.startsWith('/user/memberships/orgs?'))
    return mayAsk
      ? { status: 200, body: own.map(membership) }
      : { status: 403, body: { message: 'You need at least read:org scope to list your organizations.' } }
  const [, id] = /^\/organizations\/([0-9]+)$/.exec(path) ?? []
  if (id === undefined) return undefined
  const known = organizations.find((one) => one.id === Number(id))
  return known ? { status: 200, body: { id: known.id, login: known.name } } : notFound
}

/** docs.gitlab.com/api/{groups,members,personal_access_tokens} */
const gitlab: AnswerOrganization = ({ path, caller, mayAsk, organizations }) => {
  if (path === '/personal_access_tokens/self')
    return { status: 200, body: { id: 1, scopes: mayAsk ? ['read_user', 'read_api'] : ['read_user'] } }
  const [, rest] = /^\/groups(.*)$/.exec(path) ?? []
  if (rest === undefined) return undefined
  if (!mayAsk) return { status: 403, body: { error: 'insufficient_scope', scope: 'api read_api' } }
  const own = organizations.filter(({ members }) => members.has(caller.id))
  const group = ({ id, name }: StandInOrganization) => ({ id, full_path: name, path: name.split('/').at(-1) })
  if (rest.startsWith('?')) return { status: 200, body: own.map(group) }
  const [, key = '', user] = /^\/([^/?]+)(?:\/members\/all\/([0-9]+))?/.exec(rest) ?? []
  const found = own.find(({ id }) => String(id) === key) ?? named(own, key)
  if (!found) return { status: 404, body: { message: '404 Group Not Found' } }
  if (user === undefined) return { status: 200, body: group(found) }
  const role = found.members.get(Number(user))
  return role === undefined
    ? { status: 404, body: { message: '404 Not found' } }
    : { status: 200, body: { id: Number(user), state: 'active', access_level: role === 'admin' ? 50 : 30 } }
}

/** codeberg.org/api/swagger#/organization */
const forgejo: AnswerOrganization = ({ path, caller, mayAsk, organizations }) => {
  const [, , user, name, question, member] =
    /^(\/users\/([^/]+))?\/(?:user\/)?orgs(?:\/([^/?]+))?(?:\/(members|permissions)(?:\/([^/?]+))?)?/.exec(
      path,
    ) ?? []
  if (!/\/orgs(\/|\?|$)/.test(path)) return undefined
  if (!mayAsk)
    return {
      status: 403,
      body: { message: 'token does not have at least one of required scope(s): [read:organization]' },
    }
  const own = organizations.filter(({ members }) => members.has(caller.id))
  const shown = ({ id, name }: StandInOrganization) => ({ id, name, username: name, visibility: 'private' })
  if (name === undefined) return { status: 200, body: own.map(shown) }
  const found = named(own, name)
  if (!found) return notFound
  if (question === 'permissions') {
    const isOwner = user === caller.login && found.members.get(caller.id) === 'admin'
    return { status: 200, body: { is_owner: isOwner, is_admin: isOwner, can_read: true } }
  }
  if (question === 'members') return member === caller.login ? { status: 204 } : notFound
  return { status: 200, body: shown(found) }
}

export const answerOrganization: Record<RepohostKind, AnswerOrganization> = { github, gitlab, forgejo }
