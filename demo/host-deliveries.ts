/** Webhook deliveries in the shapes of each kind of host, signed as the host signs them, from its documentation. */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { RepohostKind } from '../schemas/common.js'

export interface PushedCommit {
  id: string
  timestamp: string
  login: string
}

export interface IssueChange {
  /** The host's id. By default, another one for each number and repository. */
  id?: number
  number: number
  closed: boolean
  at: string
  login: string
}

export interface HostEvent {
  event: string
  payload: object
}

interface DeliveryShape {
  /** All commits of a push have the same author, because GitLab names only the login of the person who pushes. */
  push(repo: string, commits: PushedCommit[], branch?: string): HostEvent
  issue(repo: string, change: IssueChange): HostEvent
  /** A repository was renamed. Undefined if the host doesn't report renames. */
  renamed?(repo: string, before: string): HostEvent
  /** Someone left an organization. Undefined if the host doesn't report it. */
  left?(organization: { id: number; name: string }, user: { id: number; login: string }): HostEvent
  headers(event: string, body: string, secret: string, deliveryId: string): Record<string, string>
}

const issueIdOf = (repo: string, { id, number }: IssueChange): number =>
  id ?? createHash('sha256').update(`${repo.toLowerCase()} ${number}`).digest().readUIntBE(0, 6) + 1

const hmacOf = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')
const emailOf = (login: string) => `${login}@example.com`

/** docs.github.com/en/webhooks/webhook-events-and-payloads; Forgejo sends the same properties. */
const push: DeliveryShape['push'] = (repo, commits, branch = 'main') => ({
  event: 'push',
  payload: {
    ref: `refs/heads/${branch}`,
    repository: { full_name: repo, default_branch: 'main' },
    pusher: { name: commits[0]?.login },
    commits: commits.map(({ id, timestamp, login }) => ({
      id,
      distinct: false,
      message: 'Change something',
      timestamp,
      author: { name: login, email: emailOf(login), username: login },
    })),
  },
})

const issue: DeliveryShape['issue'] = (repo, change) => ({
  event: 'issues',
  payload: {
    action: change.closed ? 'closed' : 'reopened',
    issue: {
      id: issueIdOf(repo, change),
      number: change.number,
      state: change.closed ? 'closed' : 'open',
      closed_at: change.closed ? change.at : null,
      updated_at: change.at,
    },
    repository: { full_name: repo, default_branch: 'main' },
    sender: { login: change.login },
  },
})

const github: DeliveryShape = {
  push,
  issue,
  renamed: (repo, before) => ({
    event: 'repository',
    payload: {
      action: 'renamed',
      changes: { repository: { name: { from: before } } },
      repository: { id: 186_853_002, full_name: repo, default_branch: 'main' },
      sender: { login: 'ada' },
    },
  }),
  left: ({ id, name }, user) => ({
    event: 'organization',
    payload: {
      action: 'member_removed',
      membership: { state: 'active', role: 'unaffiliated', user },
      organization: { id, login: name },
      sender: user,
    },
  }),
  headers: (event, body, secret, deliveryId) => ({
    'User-Agent': 'GitHub-Hookshot/044aadd',
    'X-GitHub-Event': event,
    'X-GitHub-Delivery': deliveryId,
    'X-Hub-Signature-256': `sha256=${hmacOf(secret, body)}`,
  }),
}

/** forgejo.org/docs/latest/user/webhooks */
const forgejo: DeliveryShape = {
  push,
  issue,
  headers: (event, body, secret, deliveryId) => ({
    'X-Forgejo-Event': event,
    'X-Forgejo-Delivery': deliveryId,
    'X-Forgejo-Signature': hmacOf(secret, body),
    'X-Gitea-Event': event,
    'X-Gitea-Delivery': deliveryId,
    'X-Gitea-Signature': hmacOf(secret, body),
    'X-GitHub-Event': event,
    'X-GitHub-Delivery': deliveryId,
    'X-Hub-Signature-256': `sha256=${hmacOf(secret, body)}`,
  }),
}

/** docs.gitlab.com/user/project/integrations/webhook_events */
const gitlab: DeliveryShape = {
  left: ({ id, name }, user) => ({
    event: 'Member Hook',
    payload: {
      created_at: '2020-12-11T04:57:22Z',
      updated_at: '2020-12-12T08:52:34Z',
      group_name: name,
      group_path: name,
      group_id: id,
      user_username: user.login,
      user_id: user.id,
      group_access: 'Guest',
      event_name: 'user_remove_from_group',
    },
  }),
  push: (repo, commits, branch = 'main') => {
    const login = commits[0]?.login ?? 'ada'
    return {
      event: 'Push Hook',
      payload: {
        object_kind: 'push',
        event_name: 'push',
        ref: `refs/heads/${branch}`,
        user_username: login,
        user_email: emailOf(login),
        project: { path_with_namespace: repo, default_branch: 'main' },
        commits: commits.map((commit) => ({
          id: commit.id,
          message: 'Change something',
          timestamp: commit.timestamp,
          author: { name: commit.login, email: emailOf(commit.login) },
        })),
        total_commits_count: commits.length,
      },
    }
  },
  issue: (repo, change) => ({
    event: 'Issue Hook',
    payload: {
      object_kind: 'issue',
      event_type: 'issue',
      user: { username: change.login, email: '[REDACTED]' },
      project: { path_with_namespace: repo, default_branch: 'main' },
      object_attributes: {
        id: issueIdOf(repo, change),
        iid: change.number,
        action: change.closed ? 'close' : 'reopen',
        state: change.closed ? 'closed' : 'opened',
        closed_at: change.closed ? change.at : null,
        updated_at: change.at,
        moved_to_id: null,
        duplicated_to_id: null,
      },
    },
  }),
  headers: (event, _body, secret, deliveryId) => ({
    'X-Gitlab-Event': event,
    'X-Gitlab-Token': secret,
    'X-Gitlab-Event-UUID': deliveryId,
    'Idempotency-Key': deliveryId,
  }),
}

export const deliveryShapes: Record<RepohostKind, DeliveryShape> = { github, gitlab, forgejo }

/** A signed request, which can be sent more than once. */
export const signedDelivery = (
  kind: RepohostKind,
  { event, payload }: HostEvent,
  secret: string,
  deliveryId: string = randomUUID(),
): { body: string; headers: Record<string, string> } => {
  const body = JSON.stringify(payload)
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      ...deliveryShapes[kind].headers(event, body, secret, deliveryId),
    },
  }
}
