/**
 * Deliveries in the shapes that GitLab, Gitea, Forgejo and Gogs (with Gitea's headers) send, with what hosts add around
 * the parts that count. Each says what it must count for bob, whose id at the host they name.
 */
import t from 'tap'
import type { RepohostKind } from '../schemas/common.js'
import { startWebhook } from './webhooks.js'

const REPO = 'acme/web'

interface Shape {
  name: string
  event: string
  payload: object
  commits?: number
  issues?: number
  /** Whether it's listed. By default, it is. */
  isQuiet?: boolean
}

let hashes = 0
const hash = () => (++hashes).toString(16).padStart(40, 'a')

const gitlabProject = {
  id: 15,
  name: 'Web',
  web_url: 'https://gitlab.example.com/acme/web',
  namespace: 'acme',
  visibility_level: 0,
  path_with_namespace: REPO,
  default_branch: 'main',
}

const gitlabShapes = (day: string, id: number): Shape[] => {
  const push = (ref: string, more: object = {}) => ({
    object_kind: 'push',
    event_name: 'push',
    before: hash(),
    after: hash(),
    ref,
    ref_protected: true,
    checkout_sha: hash(),
    user_id: id,
    user_name: 'Bob',
    user_username: 'bob',
    user_email: 'bob@example.com',
    project_id: 15,
    project: gitlabProject,
    repository: { name: 'Web', url: 'git@gitlab.example.com:acme/web.git' },
    commits: [
      {
        id: hash(),
        message: 'Change',
        title: 'Change',
        timestamp: `${day}T08:00:00+00:00`,
        author: { name: 'Bob', email: 'bob@example.com' },
        added: [],
        modified: ['a.txt'],
        removed: [],
      },
    ],
    total_commits_count: 1,
    ...more,
  })
  let number = 0
  const issue = (action: string, more: object = {}) => ({
    object_kind: 'issue',
    event_type: 'issue',
    user: { id, name: 'Bob', username: 'bob', email: '[REDACTED]' },
    project: gitlabProject,
    object_attributes: {
      id: 301 + ++number,
      iid: number,
      action,
      state: 'closed',
      state_id: 2,
      closed_at: `${day} 08:00:00 UTC`,
      created_at: `${day} 07:00:00 UTC`,
      updated_at: `${day} 08:00:00 UTC`,
      moved_to_id: null,
      duplicated_to_id: null,
      assignee_ids: [4],
      labels: [],
      ...more,
    },
    changes: { state_id: { previous: 1, current: 2 } },
  })
  return [
    { name: 'push', event: 'Push Hook', payload: push('refs/heads/main'), commits: 1 },
    { name: 'push by a system hook', event: 'System Hook', payload: push('refs/heads/main'), commits: 1 },
    { name: 'push to a branch', event: 'Push Hook', payload: push('refs/heads/topic') },
    {
      name: 'deleted branch',
      event: 'Push Hook',
      payload: push('refs/heads/main', { after: '0'.repeat(40), checkout_sha: null, commits: [] }),
    },
    { name: 'tag', event: 'Tag Push Hook', payload: push('refs/tags/v1'), isQuiet: true },
    {
      name: 'repository update by a system hook',
      event: 'System Hook',
      payload: { event_name: 'repository_update', project: gitlabProject, changes: [] },
      isQuiet: true,
    },
    { name: 'new issue', event: 'Issue Hook', payload: issue('open', { closed_at: null }) },
    { name: 'closed issue', event: 'Issue Hook', payload: issue('close'), issues: 1 },
    {
      name: 'closed issue with a newer time format',
      event: 'Issue Hook',
      payload: issue('close', { closed_at: `${day}T08:00:00.123Z` }),
      issues: 1,
    },
    { name: 'confidential issue', event: 'Confidential Issue Hook', payload: issue('close'), issues: 1 },
    { name: 'moved issue', event: 'Issue Hook', payload: issue('close', { moved_to_id: 990 }) },
    { name: 'duplicate issue', event: 'Issue Hook', payload: issue('close', { duplicated_to_id: 301 }) },
    { name: 'updated issue', event: 'Issue Hook', payload: issue('update') },
    {
      name: 'closed task',
      event: 'Issue Hook',
      payload: { ...issue('close', { type: 'Task' }), object_kind: 'work_item', event_type: 'work_item' },
      issues: 1,
    },
    // A group's hook sends epics, which belong to no project.
    ...[null, {}, undefined].map((project) => ({
      name: `closed epic with the project ${JSON.stringify(project)}`,
      event: 'Issue Hook',
      payload: {
        ...issue('close', { type: 'Epic', project_id: null }),
        object_kind: 'work_item',
        event_type: 'work_item',
        project,
      },
      isQuiet: true,
    })),
    {
      name: 'pipeline',
      event: 'Pipeline Hook',
      payload: { object_kind: 'pipeline', project: gitlabProject },
      isQuiet: true,
    },
    {
      name: 'comment',
      event: 'Note Hook',
      payload: { object_kind: 'note', project: gitlabProject },
      isQuiet: true,
    },
  ]
}

const forgejoShapes = (day: string, id: number): Shape[] => {
  const bob = { id, login: 'bob', username: 'bob', full_name: 'Bob', email: 'bob@noreply.localhost' }
  const repository = {
    id: 15,
    owner: bob,
    name: 'web',
    full_name: REPO,
    private: true,
    default_branch: 'main',
  }
  const push = (ref: string, username: string, more: object = {}) => ({
    ref,
    before: hash(),
    after: hash(),
    compare_url: 'http://localhost/acme/web/compare/a...b',
    commits: [
      {
        id: hash(),
        message: 'Change\n',
        url: 'http://localhost/acme/web/commit/a',
        author: { name: 'Bob', email: 'bob@example.com', username },
        committer: { name: 'Bob', email: 'bob@example.com', username },
        verification: null,
        timestamp: `${day}T08:00:00+00:00`,
        added: [],
        removed: [],
        modified: ['a.txt'],
      },
    ],
    total_commits: 1,
    repository,
    pusher: bob,
    sender: bob,
    ...more,
  })
  let number = 0
  const issue = (action: string, more: object = {}) => ({
    action,
    number: ++number,
    issue: {
      id: 301 + number,
      number,
      user: bob,
      title: 'Bug',
      state: 'closed',
      created_at: `${day}T07:00:00Z`,
      updated_at: `${day}T08:00:00Z`,
      closed_at: `${day}T08:00:00Z`,
      pull_request: null,
      ...more,
    },
    repository,
    sender: bob,
    commit_id: '',
  })
  return [
    { name: 'push', event: 'push', payload: push('refs/heads/main', 'bob'), commits: 1 },
    { name: 'author without a login', event: 'push', payload: push('refs/heads/main', '') },
    { name: 'push to a branch', event: 'push', payload: push('refs/heads/topic', 'bob') },
    { name: 'tag', event: 'push', payload: push('refs/tags/v1', 'bob') },
    { name: 'empty push', event: 'push', payload: push('refs/heads/main', 'bob', { commits: null }) },
    { name: 'new issue', event: 'issues', payload: issue('opened', { state: 'open', closed_at: null }) },
    { name: 'closed issue', event: 'issues', payload: issue('closed'), issues: 1 },
    // Gogs has neither `closed_at` nor `total_commits`.
    {
      name: 'closed issue at Gogs',
      event: 'issues',
      payload: issue('closed', { closed_at: undefined }),
      issues: 1,
    },
    {
      name: 'push at Gogs',
      event: 'push',
      payload: push('refs/heads/main', 'bob', { total_commits: undefined }),
      commits: 1,
    },
    { name: 'edited issue', event: 'issues', payload: issue('edited') },
    { name: 'comment', event: 'issue_comment', payload: issue('created'), isQuiet: true },
    { name: 'labels', event: 'issue_label', payload: issue('label_updated'), isQuiet: true },
    { name: 'pull request', event: 'pull_request', payload: { action: 'closed', repository }, isQuiet: true },
    {
      name: 'new branch',
      event: 'create',
      payload: { ref: 'topic', ref_type: 'branch', repository },
      isQuiet: true,
    },
  ]
}

const shapes: Partial<Record<RepohostKind, (day: string, id: number) => Shape[]>> = {
  gitlab: gitlabShapes,
  forgejo: forgejoShapes,
}

for (const [kind, shapesOn] of Object.entries(shapes))
  t.test(`${kind}: each shape counts what it says`, async (t) => {
    const { webhook, bob, today } = await startWebhook(t, kind as RepohostKind)
    const expected = { commits: 0, closed_issues: 0 }
    let listed = 0
    for (const { name, event, payload, commits = 0, issues = 0, isQuiet = false } of shapesOn(
      today,
      bob.repohostId,
    )) {
      t.equal((await webhook.send({ event, payload })).status, 200, name)
      expected.commits += commits
      expected.closed_issues += issues
      t.same(await webhook.counts(), { [`bob ${today} ${REPO}`]: expected }, name)
      if (!isQuiet) listed++
      t.equal((await webhook.deliveries()).length, listed, name)
    }
  })
