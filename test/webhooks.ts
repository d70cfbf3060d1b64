/** A workspace with a webhook, and a repository host that delivers to it. */
import type { Test } from 'tap'
import {
  deliveryShapes,
  type HostEvent,
  type IssueChange,
  type PushedCommit,
  signedDelivery,
} from '../demo/host-deliveries.js'
import type { RepohostKind } from '../schemas/common.js'
import { readToday } from '../src/platform/time/clock.js'
import type { AdHocDatabase } from './ad-hoc.js'
import { type Caller, reuseService, type Service } from './service.js'

export const webhookOf = (id: string) => `/api/team/workspaces/${id}/webhook`

/** The counts of a member on a day in a repository. Days without counts are absent. */
export interface DayCounts {
  commits: number
  closed_issues: number
}

export class Webhook {
  constructor(
    readonly service: Service,
    readonly kind: RepohostKind,
    readonly admin: Caller,
    readonly workspace: string,
    readonly path: string,
    public secret: string,
  ) {}

  send(
    event: HostEvent,
    { secret = this.secret, deliveryId }: { secret?: string; deliveryId?: string } = {},
  ) {
    return this.service.request('POST', this.path, signedDelivery(this.kind, event, secret, deliveryId))
  }

  push(repo: string, commits: PushedCommit[], branch?: string) {
    return this.send(deliveryShapes[this.kind].push(repo, commits, branch))
  }

  issue(repo: string, change: IssueChange) {
    return this.send(deliveryShapes[this.kind].issue(repo, change))
  }

  async rotate() {
    const { body } = await this.admin.post(webhookOf(this.workspace))
    this.secret = body.secret
  }

  async deliveries() {
    return (await this.admin.get(webhookOf(this.workspace))).body.deliveries
  }

  /** The counts of every member, day and repository, as the dashboard adds them up from them. */
  counts(): Promise<Record<string, DayCounts>> {
    return readCounts(this.service.database, this.workspace)
  }
}

/** The counts of every member, day and repository of a workspace. */
export const readCounts = async (
  database: AdHocDatabase,
  workspace: string,
): Promise<Record<string, DayCounts>> => {
  const rows = await database.hot.statement<DayCounts & { login: string; day: string; repo_key: string }>(
    `select u.login, a.day::text as day, a.repo_key, a.commits, a.closed_issues
     from daily_activity a join users u on u.id = a.user_id
     where a.workspace_id = $1::uuid and a.commits + a.closed_issues > 0
     order by 1, 2, 3`,
    [workspace],
  )
  return Object.fromEntries(
    rows.map(({ login, day, repo_key, ...counts }) => [`${login} ${day} ${repo_key}`, { ...counts }]),
  )
}

export const createWebhook = async (service: Service, admin: Caller, workspace: string): Promise<Webhook> => {
  const { body } = await admin.post(webhookOf(workspace))
  const path = new URL(body.url).pathname
  return new Webhook(service, service.config.repohost.kind, admin, workspace, path, body.secret)
}

/** ada, an admin, and bob, a member, of a workspace with a webhook. */
export const addWebhook = async (service: Service) => {
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const webhook = await createWebhook(service, ada, id)
  const today = await readToday(service.database)
  return { service, ada, bob, id, webhook, today }
}

export const startWebhook = async (test: Test, kind?: RepohostKind) =>
  addWebhook(await reuseService(test, kind))

let commits = 0

/** A commit that there wasn't before. */
export const commitOf = (login: string, day: string, time = '09:30:00Z'): PushedCommit => ({
  id: (++commits).toString(16).padStart(40, '0'),
  timestamp: `${day}T${time}`,
  login,
})
