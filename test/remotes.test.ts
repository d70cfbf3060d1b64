/** Remotes in the heartbeats of editors: which count, which wait for an assignment, and what an assignment takes along. */
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { type Caller, reuseService, type Service } from './service.js'

const BULK = '/api/wakatime/v1/users/current/heartbeats.bulk'
const DAY = 86_400
/** Yesterday's midnight in UTC, in seconds. */
const yesterday = Math.floor(Date.now() / 1_000 / DAY) * DAY - DAY
const at = (hour: number, minute: number) => yesterday + hour * 3_600 + minute * 60
const beat = (time: number, project: string) => ({ time, project, category: 'coding' })

const send = async (caller: Caller, heartbeats: object[]) => {
  const reply = await caller.post(BULK, heartbeats)
  if (reply.status !== 202) throw new Error(reply.text)
}

const assign = (caller: Caller, name: string, repo: string | null) =>
  caller.put('/api/me/editor-projects', { name, repo })

/** What's listed: `name state repo minutes`. */
const listOf = async (caller: Caller): Promise<string[]> =>
  (await caller.get('/api/me/editor-projects')).body.projects
    .map(
      (one: { name: string; state: string; repo: string | null; minutes: number }) =>
        `${one.name} ${one.state} ${one.repo} ${one.minutes}`,
    )
    .sort()

/** Minutes in workspaces by repository, from the account export. */
const minutesOf = async (caller: Caller): Promise<Record<string, number>> => {
  const minutes: Record<string, number> = {}
  for (const row of (await caller.get('/api/me/export')).body.activity)
    minutes[row.repo] = (minutes[row.repo] ?? 0) + row.minutes
  return minutes
}

/** Minutes of own time by repository or name. */
const ownMinutesOf = async (caller: Caller): Promise<Record<string, number>> => {
  const minutes: Record<string, number> = {}
  for (const row of (await caller.get('/api/me/export')).body.personal_minutes)
    minutes[row.project] = (minutes[row.project] ?? 0) + row.minutes
  return minutes
}

/** A member for three days, of a workspace with `acme/*`. */
const startMember = async (service: Service, login: string) => {
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller)
  await service.database.write.statement(
    `update members set joined_at = now() - interval '3 days' where workspace_id = $1::uuid`,
    [id],
  )
  return { caller, id }
}

t.test('a repository that counts nowhere waits, and counts once it’s assigned', async (t) => {
  const service = await reuseService(t)
  const { caller: ada } = await startMember(service, 'ada')
  await send(ada, [
    beat(at(9, 0), 'me/Web'),
    beat(at(9, 2), 'git@127.0.0.1:me/web.git'),
    beat(at(9, 10), 'oldorg/api'),
    beat(at(9, 20), 'acme/docs'),
  ])
  t.same(await listOf(ada), ['me/web waiting null 3', 'oldorg/api waiting null 1'])
  t.same(await minutesOf(ada), { 'acme/docs': 1 })
  t.equal((await assign(ada, 'git@127.0.0.1:Me/web.git', 'acme/web')).status, 200)
  t.same(await minutesOf(ada), { 'acme/docs': 1, 'acme/web': 3 }, 'stored minutes count')
  await send(ada, [beat(at(10, 0), 'me/web'), beat(at(10, 30), 'oldorg/api')])
  t.same(await minutesOf(ada), { 'acme/docs': 1, 'acme/web': 4 }, 'and so do later ones')
  t.same(await ownMinutesOf(ada), { 'acme/docs': 1, 'acme/web': 4, 'oldorg/api': 2 }, 'each once')
  t.same(await listOf(ada), ['me/web assigned acme/web 4', 'oldorg/api waiting null 2'])
  await assign(ada, 'oldorg/api', null)
  await send(ada, [beat(at(11, 0), 'oldorg/api')])
  t.same(await ownMinutesOf(ada), { 'acme/docs': 1, 'acme/web': 4, 'oldorg/api': 2 }, 'ignored from now on')
  await assign(ada, 'me/web', 'me/web')
  await send(ada, [beat(at(12, 0), 'me/web')])
  t.same(
    await minutesOf(ada),
    { 'acme/docs': 1, 'acme/web': 4 },
    'assigned to itself, it counts nowhere again',
  )
})

t.test('a repository that counts in a workspace can’t be assigned to another one', async (t) => {
  const service = await reuseService(t)
  const { caller: ada, id } = await startMember(service, 'ada')
  for (const name of ['acme/web', 'git@127.0.0.1:acme/web', 'ACME/other']) {
    const reply = await assign(ada, name, 'acme/api')
    t.equal(reply.status, 400, name)
  }
  await send(ada, [beat(at(9, 0), 'me/web')])
  await assign(ada, 'me/web', 'acme/web')
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/*', 'me/*'] })
  await send(ada, [beat(at(10, 0), 'me/web')])
  t.same(await minutesOf(ada), { 'acme/web': 2 }, 'an assignment outlives a change of patterns')
  t.equal((await assign(ada, 'me/web', 'acme/api')).status, 200)
})

t.test('repositories that count nowhere share the limit of waiting names', async (t) => {
  const service = await reuseService(t)
  const { caller: ada } = await startMember(service, 'ada')
  const count = limits.editor_projects_waiting + 7
  for (let from = 0; from < count; from += 30)
    await send(
      ada,
      Array.from({ length: Math.min(30, count - from) }, (_, index) =>
        beat(
          at(1, 0) + (from + index) * 60,
          index % 2 ? `me/repo-${from + index}` : `folder-${from + index}`,
        ),
      ),
    )
  const { projects, dropped } = (await ada.get('/api/me/editor-projects')).body
  t.same([projects.length, dropped], [limits.editor_projects_waiting, 7])
})

t.test('an SSH alias is assigned with one of its addresses', async (t) => {
  const service = await reuseService(t)
  const { caller: ada } = await startMember(service, 'ada')
  await send(ada, [
    beat(at(9, 0), 'git@github.com-work:acme/web.git'),
    beat(at(9, 10), 'git@github.com-work:acme/api.git'),
    beat(at(9, 20), 'ssh://git@github.com-work/acme/docs'),
    beat(at(9, 30), 'git@github.com-home:acme/web.git'),
    beat(at(9, 40), 'https://github.com-work/acme/site'),
  ])
  t.same(await minutesOf(ada), {})
  t.equal((await assign(ada, 'git@github.com-work:acme/web.git', 'Acme/Web')).status, 200)
  t.same(await minutesOf(ada), { 'Acme/Web': 1, 'acme/api': 1, 'acme/docs': 1 }, 'those that wait')
  await send(ada, [
    beat(at(10, 0), 'git@github.com-work:acme/new.git'),
    beat(at(10, 10), 'other@GitHub.com-work:acme/web'),
    beat(at(10, 20), 'git@github.com-work:me/diary.git'),
  ])
  t.same(
    await minutesOf(ada),
    { 'Acme/Web': 2, 'acme/api': 1, 'acme/docs': 1, 'acme/new': 1 },
    'and those that come later',
  )
  t.same(await listOf(ada), [
    'GitHub.com-work:acme/web automatic acme/web 1',
    'github.com-home:acme/web.git waiting null 1',
    'github.com-work:acme/api.git automatic acme/api 1',
    'github.com-work:acme/new.git automatic acme/new 1',
    'github.com-work:acme/web.git assigned Acme/Web 1',
    'github.com-work:me/diary.git automatic me/diary 1',
    'https://github.com-work/acme/site waiting null 1',
    'ssh://github.com-work/acme/docs automatic acme/docs 1',
  ])
  const bob = await startMember(service, 'bob')
  await send(bob.caller, [beat(at(9, 0), 'git@github.com-work:acme/web.git')])
  t.same(await minutesOf(bob.caller), {}, 'for this person alone')
})

t.test('an alias that is assigned to another owner or name is that address alone', async (t) => {
  const service = await reuseService(t)
  const { caller: ada } = await startMember(service, 'ada')
  await send(ada, [beat(at(9, 0), 'git@work:fork/web.git'), beat(at(9, 10), 'git@work:acme/api.git')])
  await assign(ada, 'git@work:fork/web.git', 'acme/web')
  await send(ada, [beat(at(10, 0), 'git@work:acme/other.git'), beat(at(10, 10), 'git@work:fork/web.git')])
  t.same(await minutesOf(ada), { 'acme/web': 2 })
  await assign(ada, 'git@work:acme/api.git', null)
  await assign(ada, 'git@work:acme/other.git', 'acme/other')
  await send(ada, [beat(at(11, 0), 'git@work:acme/api.git'), beat(at(11, 10), 'git@work:acme/fourth.git')])
  t.same(
    await minutesOf(ada),
    { 'acme/web': 2, 'acme/other': 1, 'acme/fourth': 1 },
    'an address that is ignored stays ignored',
  )
})
