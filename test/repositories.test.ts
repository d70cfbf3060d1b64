/** Which repositories of a workspace its people know of. */
import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, mondayOf } from '../src/platform/time/days.js'
import { type Caller, reuseService, type Service, startService } from './service.js'

const flush = async (caller: Caller, repo: string, day: string, minutes = 60) => {
  const { status, text } = await caller.post('/api/team/active-minutes', {
    entries: [{ repo, day, minutes }],
  })
  if (status !== 200) throw new Error(text)
}

type Row = Record<string, unknown>

const listOf = async (service: Service, path: string, headers: Record<string, string>) => {
  const { body } = await service.request('GET', path, { headers })
  return body
}
const rowsOf = (projects: Row[]) =>
  projects.map(({ owner, repo, synced, has_override, has_activity }) => [
    `${owner}/${repo}`,
    [synced && 'settings', has_override && 'override', has_activity && 'activity'].filter(Boolean).join(),
  ])
const seenBy = async (service: Service, token: string) => {
  const { projects } = await listOf(service, '/api/projects', { Authorization: `Bearer ${token}` })
  return rowsOf(projects)
}

t.test('repositories with settings, an override or activity are each listed once', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const { id } = await service.workspace(ada, { patterns: ['acme/*'], members: [bob, cyd] })
  const today = await readToday(service.database)
  await ada.push('acme/both', { 'ext.a': 1 })
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/over`, { settings: { 'ext.a': 1 } })
  await flush(bob, 'Acme/Both', today)
  await flush(bob, 'Acme/Minutes', today)
  await ada.post('/api/team/commits', {
    workspace: id,
    day: today,
    members: [{ login: 'cyd', repos: [{ repo: 'acme/commits', count: 2 }] }],
  })
  const settings = [
    ['acme/both', 'settings'],
    ['acme/over', 'override'],
  ]
  const all = [
    ['acme/both', 'settings,activity'],
    ['acme/commits', 'activity'],
    ['Acme/Minutes', 'activity'],
    ['acme/over', 'override'],
  ]
  t.same(await seenBy(service, ada.token), all, 'an admin knows of everyone')
  t.same(await seenBy(service, bob.token), [all[0], all[2], all[3]], 'a member of their own')
  t.same(await seenBy(service, cyd.token), [settings[0], all[1], settings[1]])

  const keyOf = async (caller: Caller, path: string, scopes: string[]) =>
    (await caller.post(path, { name: scopes.join(' '), scopes })).body.secret
  const own = '/api/me/keys'
  const ofWorkspace = `/api/team/workspaces/${id}/keys`
  t.same(await seenBy(service, await keyOf(ada, own, ['settings:read'])), settings)
  t.same(await seenBy(service, await keyOf(bob, own, ['settings:read', 'activity:read'])), [
    all[0],
    all[2],
    all[3],
  ])
  t.same(await seenBy(service, await keyOf(ada, ofWorkspace, ['settings:read'])), settings)
  t.same(await seenBy(service, await keyOf(ada, ofWorkspace, ['settings:read', 'dashboard:read'])), all)

  const paged: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const body = await listOf(service, `/api/projects?limit=1${cursor && `&cursor=${cursor}`}`, {
      Authorization: `Bearer ${ada.token}`,
    })
    paged.push(...body.projects)
    cursor = body.next_cursor
  }
  t.same(rowsOf(paged), all, 'page by page')

  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/both'] })
  t.same(await seenBy(service, ada.token), [all[0]], 'what matches no pattern is not listed')
})

t.test('at level “team”, admins see published repositories and those with their own activity', async (t) => {
  const service = await startService(t, { env: { ACTIVITY_MIN_GROUP: '3' } })
  const people: Caller[] = []
  for (const login of ['ada', 'bob', 'cyd', 'dee']) people.push(await service.signIn(login))
  const [ada, bob, cyd, dee] = people as [Caller, Caller, Caller, Caller]
  const { id } = await service.workspace(ada, { patterns: ['acme/*'], members: [bob, cyd, dee] })
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'team' })
  const today = await readToday(service.database)
  const past = addDays(mondayOf(today), -14)
  for (const one of [bob, cyd, dee]) await flush(one, 'acme/shared', past)
  await flush(bob, 'acme/secret', addDays(past, 7))
  await flush(ada, 'acme/mine', today)
  await flush(bob, 'acme/today', today)
  await service.app.jobs.publishedWeeks.run()
  t.same(await seenBy(service, ada.token), [
    ['acme/mine', 'activity'],
    ['acme/shared', 'activity'],
  ])
  t.same(await seenBy(service, cyd.token), [['acme/shared', 'activity']])
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'named' })
  t.same(
    await seenBy(service, ada.token),
    [
      ['acme/mine', 'activity'],
      ['acme/shared', 'activity'],
    ],
    'a lower level reveals nothing of before',
  )
})
