/** Creates the people, workspaces and settings of the demo through the API, as any client would. */
import { randomBytes } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import type { VerifyResult } from '../schemas/auth.js'
import type { CreatedWorkspace } from '../schemas/invites.js'
import type { CreatedAccessKey } from '../schemas/keys.js'
import type { OfferedPerson } from '../schemas/page-start.js'
import type { Profile } from '../schemas/profile.js'
import type { CreatedWebhook } from '../schemas/webhooks.js'
import { deliveryShapes, signedDelivery } from './host-deliveries.js'
import type { StandInOrganization } from './host-organizations.js'
import type { RepohostStandIn } from './repohost.js'

interface DemoPerson {
  /** The user's id at the repository host, and the id here. */
  id: number
  userId: string
  login: string
  repohostToken: string
  /** The session token. */
  token: string
}

export interface Demo {
  /** Admin of Acme, member of Globex. */
  ada: DemoPerson
  /** Member of both. */
  bob: DemoPerson
  /** Admin of Globex. */
  eve: DemoPerson
  /** Member of Acme, whose editor has a WakaTime plugin and an assistant. */
  zoe: DemoPerson
  /** Members of Globex through its organization at the repository host. One of them has left it. */
  followers: DemoPerson[]
  /** Signs in for the first time. */
  nia: Pick<DemoPerson, 'login' | 'repohostToken'>
  /** Workspace ids. */
  acme: string
  globex: string
  /** The code of an invite to Acme. */
  acmeInvite: string
  /** The `ETag` of the settings of acme/api-gateway: now, and one version before. */
  etag: string
  oldEtag: string
}

const HOUR = 3_600
const DAY = 24 * HOUR
const WEDNESDAY = 3
const FRIDAY = 5

interface Heartbeat {
  time: number
  project: string
  category?: string
}

/** A heartbeat every five minutes, starting at a given time. */
const heartbeatsFrom = (time: number, hours: number, rest: Omit<Heartbeat, 'time'>): Heartbeat[] =>
  Array.from({ length: hours * 12 }, (_, beat) => ({ time: time + beat * 300, ...rest }))

/**
 * Heartbeats that a WakaTime plugin sends on working days up to now, a day at a time: the person works from 9
 * to 15 UTC, and an assistant works alone for two hours after that, and on two nights of each week. One
 * heartbeat has the current time, so that the page shows some at any time
 * of day.
 * @param projects in the order of the day
 */
const heartbeatsOfDays = (days: number, projects: string[]): Heartbeat[][] => {
  const now = Date.now() / 1_000
  const today = now - (now % DAY)
  const weekdayOf = (day: number) => new Date(day * 1_000).getUTCDay()
  const assistant = { project: projects[0] ?? '', category: 'ai coding' }
  const ofDays = Array.from({ length: days }, (_, ago) => today - ago * DAY)
    .filter((day) => ![0, 6].includes(weekdayOf(day)))
    .map((day) =>
      [
        ...projects.flatMap((project, block) => heartbeatsFrom(day + (9 + block * 2) * HOUR, 2, { project })),
        ...heartbeatsFrom(day + 15 * HOUR, 2, assistant),
        ...([WEDNESDAY, FRIDAY].includes(weekdayOf(day)) ? heartbeatsFrom(day + HOUR, 4, assistant) : []),
      ].filter(({ time }) => time <= now),
    )
  return [...ofDays.reverse(), [{ time: now, project: 'api-gateway' }]]
}

/**
 * The repository host reports a push, with a commit by a bot that isn't a member, and an issue that zoe has closed.
 * @throws if the service rejects a delivery
 */
const reportActivity = async (
  { kind }: RepohostStandIn,
  { url, secret }: Static<typeof CreatedWebhook>,
): Promise<void> => {
  const at = new Date().toISOString()
  const commits = ['zoe', 'ada', 'dependabot[bot]'].map((login) => ({
    id: randomBytes(20).toString('hex'),
    timestamp: at,
    login,
  }))
  const { push, issue } = deliveryShapes[kind]
  const events = [push('acme/web', commits), issue('acme/web', { number: 7, closed: true, at, login: 'zoe' })]
  for (const event of events) {
    const response = await fetch(url, { method: 'POST', ...signedDelivery(kind, event, secret) })
    if (!response.ok) throw new Error(`The delivery of ${event.event} was rejected: ${await response.text()}`)
  }
}

/** The repository host reports that someone has left. @throws if the service rejects the delivery */
const reportLeave = async (
  { kind }: RepohostStandIn,
  { url, secret }: Static<typeof CreatedWebhook>,
  organization: StandInOrganization,
  person: DemoPerson,
): Promise<void> => {
  const event = deliveryShapes[kind].left?.(organization, person)
  if (!event) return
  const response = await fetch(url, { method: 'POST', ...signedDelivery(kind, event, secret) })
  if (!response.ok) throw new Error(`The report of a leave was rejected: ${await response.text()}`)
}

/** @throws if the service rejects a request, because half a demo would mislead */
export const seedDemo = async (baseUrl: string, repohost: RepohostStandIn): Promise<Demo> => {
  const call = async <T>(
    method: string,
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<T> => {
    const response = await fetch(`${baseUrl}/api${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path} was rejected: ${await response.text()}`)
    return (await response.json()) as T
  }
  const read = async <T>(path: string, headers: Record<string, string>): Promise<T> =>
    (await (await fetch(`${baseUrl}/api${path}`, { headers })).json()) as T
  const as = (person: DemoPerson) => ({ Authorization: `Bearer ${person.token}` })

  const signIn = async (login: string): Promise<DemoPerson> => {
    const { id, token: repohostToken } = repohost.addUser(login, { mayAskOrganizations: true })
    const { token } = await call<VerifyResult>('POST', '/auth/verify', { repohost_token: repohostToken })
    const { id: userId } = await read<Profile>('/me', { Authorization: `Bearer ${token}` })
    return { id, userId, login, repohostToken, token }
  }
  const [ada, bob, eve] = [await signIn('ada'), await signIn('bob'), await signIn('eve')]
  const zoe = await signIn('zoe')
  const nia = { login: 'nia', repohostToken: repohost.addUser('nia').token }

  const workspace = async (admin: DemoPerson, name: string, patterns: string[], joining: DemoPerson[]) => {
    const created = await call<Static<typeof CreatedWorkspace>>(
      'POST',
      '/team/workspaces/create',
      { name, patterns },
      as(admin),
    )
    for (const person of joining) {
      await call('POST', '/team/workspaces/join', { code: created.invite.code }, as(person))
    }
    return { id: created.workspace.id, invite: created.invite.code }
  }
  const { id: acme, invite } = await workspace(ada, 'Acme', ['acme/*', 'ada/*'], [bob, zoe])
  const { id: globex } = await workspace(eve, 'Globex', ['globex/web-*', 'globex/api'], [ada, bob])

  const push = (person: DemoPerson, repo: string, settings: object) =>
    call(
      'PUT',
      `/settings/${repo}`,
      { settings },
      { ...as(person), 'X-Repohost-Token': person.repohostToken },
    )
  const etagOf = async (repo: string) => {
    const { headers } = await fetch(`${baseUrl}/api/settings/${repo}`, { headers: as(ada) })
    return headers.get('etag') ?? ''
  }
  await push(ada, 'acme/api-gateway', {
    'mochaExplorer.files': 'test/**/*.js',
    'mochaExplorer.timeout': 4_000,
  })
  const oldEtag = await etagOf('acme/api-gateway')
  await push(ada, 'acme/api-gateway', {
    'mochaExplorer.files': 'test/**/*.test.js',
    'mochaExplorer.timeout': 10_000,
    'mochaExplorer.fullTrace': true,
  })
  const etag = await etagOf('acme/api-gateway')
  await push(ada, 'acme/web', {
    'mochaExplorer.ui': 'tdd',
    'mochaExplorer.files': ['src/**/*.test.js', 'e2e/**/*.test.js'],
  })
  await call(
    'PATCH',
    `/team/workspaces/${acme}/settings`,
    {
      settings: {
        'mochaExplorer.ui': 'bdd',
        'mochaExplorer.timeout': 5_000,
        'mochaExplorer.ignore': ['**/fixtures/**'],
      },
      idle_window_minutes: 8,
    },
    as(ada),
  )
  await call(
    'PUT',
    `/team/workspaces/${acme}/project-settings/acme/web`,
    { settings: { 'mochaExplorer.ui': 'tdd', 'mochaExplorer.ignore': null } },
    as(ada),
  )
  // A lock, and a change that someone will want to undo, because the schema warns about it.
  await call(
    'PATCH',
    `/team/workspaces/${acme}/settings`,
    { settings: { 'mochaExplorer.parallel': true }, locked: ['mochaExplorer.timeout'] },
    as(ada),
  )
  await call(
    'PATCH',
    `/team/workspaces/${acme}/settings`,
    { settings: { 'mochaExplorer.parallel': 'sometimes', 'mochaExplorer.globImplementation': 'minimatch' } },
    as(ada),
  )
  await push(eve, 'globex/api', {
    'mochaExplorer.timeout': 20_000,
    'mochaExplorer.env': { NODE_ENV: 'test' },
  })

  const key = await call<CreatedAccessKey>(
    'POST',
    '/me/keys',
    { name: 'VS Code', scopes: ['activity:write', 'activity:read'] },
    as(zoe),
  )
  // Two repositories, one of which is identified by its folder's name, and a folder that's waiting for its repository.
  const projects = [`${repohost.url}/acme/web.git`, 'api-gateway', 'scratch']
  const days = heartbeatsOfDays(14, projects)
  const named = { time: days[0]?.[0]?.time ?? 0, project: `${repohost.url}/acme/api-gateway.git` }
  for (const heartbeats of [[named], ...days]) {
    await call('POST', '/wakatime/v1/users/current/heartbeats.bulk', heartbeats, {
      Authorization: `Basic ${btoa(key.secret)}`,
    })
  }

  const webhook = await call<Static<typeof CreatedWebhook>>(
    'POST',
    `/team/workspaces/${acme}/webhook`,
    {},
    as(ada),
  )
  await reportActivity(repohost, webhook)

  // Globex follows its organization. One person has left it twice, and the removal waits for the admin, because no one
  // can tell whether the second report is a copy of the first.
  const organization: StandInOrganization = {
    id: 7_100,
    name: 'globex',
    members: new Map([
      [eve.id, 'admin'],
      [ada.id, 'member'],
      [bob.id, 'member'],
    ]),
  }
  repohost.organizations.push(organization)
  await call(
    'PUT',
    `/team/workspaces/${globex}/organization`,
    { organization: 'globex', join: 'member', leave: 'remove' },
    { ...as(eve), 'X-Repohost-Token': eve.repohostToken },
  )
  const reports = await call<Static<typeof CreatedWebhook>>(
    'POST',
    `/team/workspaces/${globex}/webhook`,
    {},
    as(eve),
  )
  const joinGlobex = (login: string) => {
    organization.members.set(repohost.addUser(login).id, 'member')
    return signIn(login)
  }
  const [finn, gina] = [await joinGlobex('finn'), await joinGlobex('gina')]
  await reportLeave(repohost, reports, organization, gina)
  const followers = [finn, await joinGlobex('gina'), await joinGlobex('hugo')]
  organization.members.delete(gina.id)
  await reportLeave(repohost, reports, organization, gina)

  for (const person of [ada, bob]) {
    await call('POST', '/events', { event: 'panel_opened', source: 'extension' }, as(person))
  }
  return { ada, bob, eve, zoe, followers, nia, acme, globex, acmeInvite: invite, etag, oldEtag }
}

/** The people that the sign-in page offers: an admin and two members of one team, the admin of another, and someone new. */
export const offeredPeople = ({ ada, bob, eve, zoe, nia }: Demo): OfferedPerson[] =>
  (
    [
      [ada, 'Acme admin'],
      [bob, 'Acme member'],
      [eve, 'Globex admin, where the members follow an organization'],
      [zoe, 'Acme member with a WakaTime plugin and an assistant'],
      [nia, 'new here, without a workspace'],
    ] as const
  ).map(([{ login, repohostToken }, about]) => ({ login, about, repohost_token: repohostToken }))
