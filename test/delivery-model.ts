/** Random deliveries, repeated, lost and in any order, and the expected counts. */
import type { HostEvent, IssueChange, PushedCommit } from '../demo/host-deliveries.js'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { addDays } from '../src/platform/time/days.js'
import type { Caller, Reply } from './service.js'
import { commitOf, type DayCounts, type Webhook } from './webhooks.js'

/** mulberry32: a seed that is printed makes a failure repeatable. */
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Upload {
  kind: 'commits' | 'closed_issues'
  login: string
  day: string
  repo: string
  count: number
}

interface Push {
  repo: string
  commits: PushedCommit[]
}

interface Step {
  event?: HostEvent
  push?: Push
  issue?: { repo: string; change: IssueChange }
  upload?: Upload
}

const REPOS = ['acme/api-gateway', 'acme/web', 'other/repo']
const LOGINS = ['ada', 'bob', 'stranger']
const MEMBERS = new Set(['ada', 'bob'])
const AT_ONCE = 8

/** The properties of a webhook that the model needs. */
export interface Target extends Pick<Webhook, 'kind' | 'workspace' | 'counts'> {
  admin: { post: (...args: Parameters<Caller['post']>) => Promise<SentResponse> }
  send: (event: HostEvent) => Promise<SentResponse>
}
type SentResponse = Pick<Reply, 'status' | 'text'>

/** Sends this many deliveries. @returns the actual and the expected counts */
export const deliverAtRandom = async (
  webhook: Target,
  today: string,
  { deliveries, seed }: { deliveries: number; seed: number },
): Promise<{ counted: Record<string, DayCounts>; expected: Record<string, DayCounts> }> => {
  const random = randomFrom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const days = Array.from({ length: 12 }, (_, n) => addDays(today, -n))
  const shape = deliveryShapes[webhook.kind]

  // Few different times, so that some issues are closed and reopened at the same time. Two people never close it at
  // once.
  const parseTimestamp = () => {
    const hour = Math.floor(random() * 6)
    return { at: `${pick(days)}T0${hour}:00:00Z`, login: LOGINS[hour % LOGINS.length] as string }
  }
  const changeOf = (): IssueChange => ({
    number: 1 + Math.floor(random() * (deliveries / 20)),
    closed: random() < 0.6,
    ...parseTimestamp(),
  })
  const pool = new Map<string, PushedCommit[]>(REPOS.map((repo) => [repo, []]))
  const pushOf = (): Push => {
    const repo = pick(REPOS)
    const known = pool.get(repo) ?? []
    const fresh = Array.from({ length: Math.floor(random() * 4) }, () => commitOf(pick(LOGINS), pick(days)))
    const again = Array.from({ length: Math.floor(random() * 4) }, () => pick(known)).filter(Boolean)
    known.push(...fresh)
    return { repo, commits: [...again, ...fresh] }
  }
  const made: Step[] = Array.from({ length: deliveries }, () => {
    if (random() < 0.6) {
      const push = pushOf()
      return { push, event: shape.push(push.repo, push.commits) }
    }
    const issue = { repo: pick(REPOS), change: changeOf() }
    return { issue, event: shape.issue(issue.repo, issue.change) }
  })
  // Uploads each count once, because a second upload would replace the first.
  const uploads = new Map<string, Upload>()
  for (let n = 0; n < 20; n++) {
    const kind = pick(['commits', 'closed_issues'] as const)
    const upload = { kind, login: pick([...MEMBERS]), day: pick(days), repo: pick(REPOS.slice(0, 2)) }
    uploads.set(JSON.stringify(upload), { ...upload, count: Math.floor(random() * 4) })
  }
  const arriving: Step[] = made.flatMap((step) => {
    const fate = random()
    return fate < 0.05 ? [] : fate < 0.25 ? [step, step] : [step]
  })
  arriving.push(...[...uploads.values()].map((upload) => ({ upload })))
  for (let last = arriving.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[arriving[last], arriving[other]] = [arriving[other] as Step, arriving[last] as Step]
  }

  const send = async ({ event, upload }: Step) => {
    const reply = upload
      ? await webhook.admin.post(`/api/team/${upload.kind === 'commits' ? 'commits' : 'closed-issues'}`, {
          workspace: webhook.workspace,
          day: upload.day,
          members: [{ login: upload.login, repos: [{ repo: upload.repo, count: upload.count }] }],
        })
      : event && (await webhook.send(event))
    if (reply?.status !== 200) throw new Error(`Answered with ${reply?.text}`)
  }
  const queue = arriving.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const step of queue) await send(step)
    }),
  )
  return { counted: await webhook.counts(), expected: expectedOf(arriving, [...uploads.values()]) }
}

/** The expected counts, whatever the order: computed from the definition, and not as the service does. */
const expectedOf = (arrived: Step[], uploads: Upload[]): Record<string, DayCounts> => {
  const counts = new Map<string, DayCounts>()
  const at = (login: string, day: string, repo: string): DayCounts => {
    const key = `${login} ${day} ${repo}`
    const known = counts.get(key) ?? { commits: 0, closed_issues: 0 }
    counts.set(key, known)
    return known
  }
  const commits = new Map<string, { repo: string; commit: PushedCommit }>()
  const issues = new Map<string, { repo: string; events: IssueChange[] }>()
  for (const { push, issue } of arrived) {
    for (const commit of push?.commits ?? [])
      commits.set(`${push?.repo} ${commit.id}`, { repo: push?.repo ?? '', commit })
    if (!issue) continue
    const key = `${issue.repo} ${issue.change.number} ${issue.change.at.slice(0, 10)}`
    const day = issues.get(key) ?? { repo: issue.repo, events: [] }
    day.events.push(issue.change)
    issues.set(key, day)
  }
  const isCounted = (repo: string, login: string) => repo.startsWith('acme/') && MEMBERS.has(login)
  for (const { repo, commit } of commits.values())
    if (isCounted(repo, commit.login)) at(commit.login, commit.timestamp.slice(0, 10), repo).commits++
  for (const { repo, events } of issues.values()) {
    const last = events
      .map((event) => event.at)
      .sort()
      .at(-1)
    const closers = new Set(
      events.filter((event) => event.at === last && event.closed).map(({ login }) => login),
    )
    const [closer, ...others] = closers
    // If several people closed it at the same time, the service could choose any of them, so the model excludes that.
    if (others.length > 0) throw new Error('Two people closed an issue at one moment')
    if (closer !== undefined && last !== undefined && isCounted(repo, closer))
      at(closer, last.slice(0, 10), repo).closed_issues++
  }
  for (const { kind, login, day, repo, count } of uploads) at(login, day, repo)[kind] = count
  const entries = [...counts].filter(([, { commits, closed_issues }]) => commits + closed_issues > 0)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
