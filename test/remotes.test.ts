/** Remotes in the heartbeats of editors: which count, which wait for an assignment, and what an assignment takes along. */
import t from 'tap'
import type { RepohostKind } from '../schemas/common.js'
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

/** Counts for this repository. Otherwise, it waits under a name, or isn't read at all. */
type Outcome = { repo: string } | { name: string } | 'refused'

const WEB = { repo: 'acme/web' }
const waits = (name: string): Outcome => ({ name })

/** The spellings that all hosts have in common. @param url of the host's pages, where repositories are */
const spellingsAt = (url: string): [string, Outcome][] => {
  const { hostname: host, pathname } = new URL(`${url}/`)
  return [
    [`${url}/acme/web.git`, WEB],
    [`${url}/acme/web`, WEB],
    [`${url}/Acme/Web/`, WEB],
    [`https://user:token@${host}${pathname}acme/web.git`, WEB],
    [`https://${host}:443${pathname}acme/web.git`, WEB],
    [`https://www.${host}${pathname}acme/web.git`, WEB],
    [`HTTPS://${host.toUpperCase()}${pathname}acme/web.git`, WEB],
    // As WakaTime's command line writes addresses: without the scheme.
    [`//user:token@${host}${pathname}acme/web`, WEB],
    [`git@${host}:acme/web.git`, WEB],
    [`${host}:acme/web`, WEB],
    [`git@${host}:/acme/web.git`, WEB],
    [`org-12@${host}:acme/web.git`, WEB],
    [`ssh://git@${host}/acme/web.git`, WEB],
    [`ssh://git@${host}:22/acme/web.git`, WEB],
    [`git+ssh://git@${host}/acme/web.git`, WEB],
    [`ssh+git://git@${host}/acme/web.git`, WEB],
    [`git://${host}/acme/web.git`, WEB],
    ['acme/web', WEB],
    ['acme/web.git', WEB],
    [`http://${host}${pathname}acme/web.git`, waits(`http://${host}${pathname}acme/web.git`)],
    [`https://${host}:8443${pathname}acme/web.git`, waits(`https://${host}${pathname}acme/web.git`)],
    [`git@${host}-work:acme/web.git`, waits(`${host}-work:acme/web.git`)],
    [`https://user:token@evil.example${pathname}acme/web`, waits(`https://evil.example${pathname}acme/web`)],
    [`https://${host}@evil.example/acme/api`, waits('https://evil.example/acme/api')],
    [`https://${host}.evil.example/acme/web`, waits(`https://${host}.evil.example/acme/web`)],
    ['git@evil.example:acme/web.git', waits('evil.example:acme/web.git')],
    [`file://${host}/acme/web.git`, waits(`file://${host}/acme/web.git`)],
    ['C:\\src\\acme\\web', waits('C:\\src\\acme\\web')],
    ['me/web', waits('me/web')],
    ['web', waits('web')],
    [' ', 'refused'],
    [`git@${host}:acme/${'w'.repeat(2_000)}`, 'refused'],
    [`https://${host}${pathname}acme/web\0.git`, 'refused'],
  ]
}

const IN_GROUP = { repo: 'acme/platform/web' }

const hosts: { kind: RepohostKind; url: string; more: [string, Outcome][] }[] = [
  {
    kind: 'github',
    url: 'https://github.com',
    more: [
      ['ssh://git@ssh.github.com:443/acme/web.git', WEB],
      ['git@ssh.github.com:acme/web.git', WEB],
      ['ssh://git@github.com:443/acme/web.git', WEB],
      ['ssh://git@github.com:2222/acme/site.git', waits('ssh://github.com/acme/site.git')],
      ['https://gist.github.com/acme/1f.git', waits('https://gist.github.com/acme/1f.git')],
      ['git@github.com:acme/platform/web.git', waits('github.com:acme/platform/web.git')],
    ],
  },
  {
    kind: 'gitlab',
    url: 'https://gitlab.com',
    more: [
      ['ssh://git@altssh.gitlab.com:443/acme/web.git', WEB],
      ['https://oauth2:glpat-1@gitlab.com/acme/platform/web.git', IN_GROUP],
      ['git@gitlab.com:acme/platform/web.git', IN_GROUP],
      ['//gitlab.com/acme/platform/web', IN_GROUP],
      ['acme/platform/web', IN_GROUP],
    ],
  },
  {
    kind: 'gitlab',
    url: 'https://git.example.com/gitlab',
    more: [
      ['ssh://git@git.example.com:2222/acme/web.git', WEB],
      ['//git@git.example.com:2222/acme/web', WEB],
      ['https://git.example.com/gitlab/acme/platform/web.git', IN_GROUP],
      ['git@git.example.com:acme/platform/web.git', IN_GROUP],
      ['https://git.example.com/acme/site.git', waits('https://git.example.com/acme/site.git')],
      ['https://git.example.com/gitlab-2/acme/web', waits('https://git.example.com/gitlab-2/acme/web')],
      ['//git.example.com/acme/site', waits('//git.example.com/acme/site')],
    ],
  },
  {
    kind: 'forgejo',
    url: 'https://git.example.com',
    more: [
      ['ssh://forgejo@git.example.com:2222/acme/web.git', WEB],
      ['//gitea@git.example.com:2222/acme/web', WEB],
      ['gitea@git.example.com:acme/web.git', WEB],
      ['https://git.example.com/acme/platform/web', waits('https://git.example.com/acme/platform/web')],
    ],
  },
  {
    kind: 'forgejo',
    url: 'https://git.example.com/git',
    more: [
      ['ssh://forgejo@git.example.com:2222/acme/web.git', WEB],
      ['//forgejo@git.example.com:2222/acme/web', WEB],
      ['https://git.example.com/acme/site.git', waits('https://git.example.com/acme/site.git')],
      ['https://git.example.com/gitlab/acme/web', waits('https://git.example.com/gitlab/acme/web')],
    ],
  },
]

for (const { kind, url, more } of hosts)
  t.test(`${kind} at ${url}: each spelling of a remote counts, waits or is refused`, async (t) => {
    const service = await reuseService(t, kind, { REPOHOST_URL: url })
    const { caller: ada, id } = await startMember(service, 'ada')
    if (kind === 'gitlab') await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/**'] })
    const counted: Record<string, number> = {}
    const waiting = new Set<string>()
    const table = [...spellingsAt(url), ...more]
    for (const [index, [spelling, outcome]] of table.entries()) {
      await send(ada, [beat(at(0, index * 30), spelling)])
      if (outcome !== 'refused' && 'repo' in outcome) counted[outcome.repo] = (counted[outcome.repo] ?? 0) + 1
      else if (outcome !== 'refused') waiting.add(outcome.name)
      t.same(await minutesOf(ada), counted, spelling.slice(0, 80))
      const { projects } = (await ada.get('/api/me/editor-projects')).body
      t.same(projects.map(({ name }: { name: string }) => name).sort(), [...waiting].sort(), spelling)
    }
    for (const [spelling, outcome] of table)
      if (outcome !== 'refused' && 'name' in outcome) {
        const reply = await assign(ada, spelling, 'acme/web')
        t.equal(reply.status, 200, `${spelling}: ${reply.text}`)
      }
    t.same(await minutesOf(ada), { ...counted, 'acme/web': (counted['acme/web'] ?? 0) + waiting.size })
  })
